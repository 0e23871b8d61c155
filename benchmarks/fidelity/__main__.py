"""Runs on a GPU with which the simulator is compared: a profile, then workloads at shares of what can be served.

    python -m benchmarks.fidelity --model Qwen3-0.6B --traces TRACES --folder /tmp/fidelity --archive OUT
    python -m benchmarks.fidelity --tiny --folder /tmp/fidelity            # to try it without a GPU

Call it again to go on: what is in the folder is not run again. The model is loaded once a call. The stage "plan"
simulates with a cost model fitted to the profile, to find rates and windows; by itself it needs no GPU.
"""

import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.fidelity.archive import archive_new
from benchmarks.fidelity.bench import Bench
from benchmarks.fidelity.measurement import Measurement, chosen, measurements, named, parsed_shares
from benchmarks.fidelity.run_plan import make_plan, read_plan
from benchmarks.fidelity.workloads import TINY_WORKLOADS, WORKLOADS
from benchmarks.machine_facts import process_age_s
from benchmarks.qwen3_engine import TINY
from sim.clean_exit import clean_exit
from sim.errors import SimError
from sim.parts import Parts, make_parts
from sim.profile_command import take_profile
from sim.profiling.profile_file import write_profile
from sim.profiling.profile_table import profile_table
from sim.replay_settings import ReplaySettings
from sim.step_clock import MeasuredClock

_STAGES = "profile,plan,runs"
_TAIL_S = 5.0
"""Time that a run may take beyond what is expected: the writing of tables, and where the simulation is wrong."""


def main(
    folder: Annotated[Path, typer.Option(help="Results of one model and block size; kept between calls.")],
    model: Annotated[str, typer.Option(help="Named size.")] = "Qwen3-0.6B",
    traces: Annotated[Path, typer.Option(help="Folder of trace files.")] = Path("traces"),
    archive: Annotated[Path | None, typer.Option(help="Pack what is new into this folder.")] = None,
    stage: Annotated[str, typer.Option(help="Stages to run, by comma.")] = _STAGES,
    only: Annotated[str, typer.Option(help="Workloads, by comma; all if empty.")] = "",
    shares: Annotated[str, typer.Option(help="Percent of the sustained rate, by comma.")] = "70,110,30",
    repeat: Annotated[int, typer.Option(help="Share that is run twice, and once at wall pace; 0 = none.")] = 70,
    also: Annotated[str, typer.Option(help="More runs by name, by comma: WORKLOAD-110-repeat2, -070-POLICY.")] = "",
    window: Annotated[float, typer.Option(help="Most seconds of arrivals in a run.")] = 30.0,
    max_run: Annotated[float, typer.Option(help="Seconds that a run may take; windows are cut for it.")] = 50.0,
    profile_seconds: Annotated[float, typer.Option(help="Time for the profile.")] = 180.0,
    max_seconds: Annotated[
        float, typer.Option(help="Nothing is begun that would end later, from process start.")
    ] = 570.0,
    block_size: Annotated[int, typer.Option(help="Tokens in a KV block.")] = 256,
    max_num_batched_tokens: Annotated[int, typer.Option(help="Token budget of a step.")] = 8192,
    attention: Annotated[str | None, typer.Option(help="Kernels, by name.")] = None,
    tiny: Annotated[bool, typer.Option(help="A tiny model on the CPU and small loads, to try the program.")] = False,
) -> None:
    """Make the runs that are missing."""
    deadline = time.perf_counter() + max_seconds - (process_age_s() or 0.0)
    settings = ReplaySettings(
        backend="gpu", model=model, load_format="dummy", block_size=block_size, attention=attention,
        max_num_batched_tokens=max_num_batched_tokens, pace="virtual",
    )  # fmt: skip
    if tiny:
        settings = replace(
            settings, model=TINY, device="cpu", dtype="float32", block_size=16, max_num_seqs=8, max_model_len=512,
            max_num_batched_tokens=128,
        )  # fmt: skip
    known = TINY_WORKLOADS if tiny else WORKLOADS
    planned: list[Measurement] = []
    folder.mkdir(parents=True, exist_ok=True)

    def plan() -> None:
        if "plan" in stages:
            make_plan(folder, traces, planned, window, max_run, lambda line: print(line, flush=True))

    try:
        with clean_exit():
            stages = chosen("--stage", stage, _STAGES.split(","))
            names = chosen("--only", only, [workload.name for workload in known])
            workloads = [workload for workload in known if not names or workload.name in names]
            planned += measurements(workloads, parsed_shares(shares), repeat or None)
            planned += [named(name, known) for name in also.split(",") if name]
            if stages == ["plan"]:
                plan()
                return
            parts = make_parts(settings)
            with closing(parts.engine.backend):
                print(*parts.engine.notices, f"{parts.engine.backend.num_blocks} KV blocks.", flush=True)
                if "profile" in stages:
                    _profile(parts, folder, profile_seconds)
                plan()
                if "runs" in stages:
                    _runs(Bench(parts, MeasuredClock, folder, traces), planned, deadline)
    finally:
        if archive is not None:
            prefix = f"{model.rpartition('/')[2]}-{block_size}-{int(time.time())}"
            print(*archive_new(folder, archive, prefix), sep="\n", flush=True)


def _profile(parts: Parts, folder: Path, seconds: float) -> None:
    path = folder / "profile.parquet"
    if not path.exists():
        taken = take_profile(parts, seconds)
        write_profile(taken, path)
        profile_table(taken)
        sys.stdout.flush()


def _runs(bench: Bench, measured: list[Measurement], deadline: float) -> None:
    plan = read_plan(bench.folder)
    for each in measured:
        path = bench.folder / "runs" / each.name
        if path.exists():
            continue
        if each.case not in plan:
            print(f"{each.name}: not run, it is not planned; run stage plan", flush=True)
            continue
        run = plan[each.case]
        if not _is_time_for(max(run.expected_s, run.window_s) + _TAIL_S, deadline, each.name):
            continue
        try:
            _report(each, bench.run(each, run.rate, run.window_s))
        except SimError as error:  # the others can be run all the same
            print(f"{each.name}: not run. {error}", flush=True)


def _is_time_for(seconds: float, deadline: float, what: str) -> bool:
    left_s = deadline - time.perf_counter()
    if left_s < seconds:
        print(f"{what}: left for another call, {left_s:.0f} s are not enough", flush=True)
    return left_s >= seconds


def _report(measurement: Measurement, summary: dict[str, Any]) -> None:
    print(
        f"{measurement.name}: {summary['completed']} completed, {summary['failed']} failed, {summary['num_steps']} "
        f"steps in {summary['wall_s']:.0f} s, {summary['num_preemptions']} preemptions, "
        f"{summary['prefix_hit_tokens']} hit tokens, "
        f"TTFT {summary['mean_ttft_ms']:.1f} ms, TPOT {summary['mean_tpot_ms']:.2f} ms, "
        f"{summary['output_throughput']:.0f} tok/s, {summary['verdict']['status']}",
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
