"""Runs on a GPU with which the simulator is compared: a profile, then workloads at shares of what can be served.

    python -m benchmarks.fidelity --model Qwen3-0.6B --traces TRACES --folder /tmp/fidelity --archive OUT
    python -m benchmarks.fidelity --tiny --folder /tmp/fidelity            # to try it without a GPU

Call it again to go on: what is in the folder is not run again. The model is loaded once a call.
"""

import json
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.fidelity.archive import archive_new
from benchmarks.fidelity.bench import Bench
from benchmarks.fidelity.measurement import Measurement, measurements
from benchmarks.fidelity.workload import Workload
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

_STAGES = "profile,capacity,runs"
_TAIL_S = 12.0
"""Time that a run may take beyond its window: requests that are left, and the writing of tables."""


def main(
    folder: Annotated[Path, typer.Option(help="Results of one model and block size; kept between calls.")],
    model: Annotated[str, typer.Option(help="Named size.")] = "Qwen3-0.6B",
    traces: Annotated[Path, typer.Option(help="Folder of trace files.")] = Path("traces"),
    archive: Annotated[Path | None, typer.Option(help="Pack what is new into this folder.")] = None,
    stage: Annotated[str, typer.Option(help="Stages to run, by comma.")] = _STAGES,
    only: Annotated[str, typer.Option(help="Workloads, by comma; all if empty.")] = "",
    shares: Annotated[str, typer.Option(help="Percent of the sustained rate, by comma.")] = "70,110,30",
    repeat: Annotated[int, typer.Option(help="Share that is run twice, and once at wall pace; 0 = none.")] = 70,
    window: Annotated[float, typer.Option(help="Seconds of arrivals in each run.")] = 30.0,
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
    workloads = [workload for workload in known if not only or workload.name in only.split(",")]
    planned = measurements(workloads, [int(share) for share in shares.split(",")], repeat or None)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with clean_exit():
            parts = make_parts(settings)
            with closing(parts.engine.backend):
                print(*parts.engine.notices, f"{parts.engine.backend.num_blocks} KV blocks.", flush=True)
                bench = Bench(parts, MeasuredClock, folder, traces)
                _run_stages(bench, stage.split(","), planned, workloads, window, profile_seconds, deadline)
    finally:
        if archive is not None:
            prefix = f"{model.rpartition('/')[2]}-{block_size}-{int(time.time())}"
            print(*archive_new(folder, archive, prefix), sep="\n", flush=True)


def _run_stages(
    bench: Bench,
    stages: list[str],
    planned: list[Measurement],
    workloads: list[Workload],
    window_s: float,
    profile_s: float,
    deadline: float,
) -> None:
    if "profile" in stages:
        _profile(bench.parts, bench.folder, profile_s)
    if "capacity" in stages:
        _capacities(bench, workloads, deadline)
    if "runs" in stages:
        _runs(bench, planned, window_s, deadline)


def _profile(parts: Parts, folder: Path, seconds: float) -> None:
    path = folder / "profile.parquet"
    if not path.exists():
        taken = take_profile(parts, seconds)
        write_profile(taken, path)
        profile_table(taken)
        sys.stdout.flush()


def _capacities(bench: Bench, workloads: list[Workload], deadline: float) -> None:
    rates = _known_rates(bench.folder)
    for workload in workloads:
        if workload.name not in rates and _is_time_for(2 * workload.saturated_s, deadline, workload.name):
            rates[workload.name] = bench.sustained_rate(workload)
            print(f"{workload.name}: {rates[workload.name]:.4g} requests/s can be sustained", flush=True)
            (bench.folder / "sustained.json").write_text(json.dumps(rates, indent=1), "utf-8")


def _known_rates(folder: Path) -> dict[str, float]:
    path = folder / "sustained.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def _runs(bench: Bench, planned: list[Measurement], window_s: float, deadline: float) -> None:
    rates = _known_rates(bench.folder)
    for each in planned:
        path = bench.folder / "runs" / each.name
        expected_s = window_s * max(1.0, each.share / 100) + _TAIL_S
        if path.exists() or not _is_time_for(expected_s, deadline, each.name):
            continue
        if each.workload.name not in rates:
            print(f"{each.name}: not run, its sustained rate is not known; run stage capacity", flush=True)
            continue
        try:
            rate = rates[each.workload.name] * each.share / 100
            _report(each, bench.run(each.workload, each.name, rate, window_s, each.pace))
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
