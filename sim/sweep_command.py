"""`python -m sim sweep`."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.completion import complete_policies
from sim.message import Messages, Quiet, Verbose
from sim.replay_options import with_replay_options

if TYPE_CHECKING:
    from analysis.load_curve import LoadCurve
    from sim.sweeping.plan import SweepPlan
    from sim.sweeping.sweep_folder import SweepFolder


def _option(text: str, *names: str) -> Any:  # noqa: ANN401  # typer's own options are untyped
    return typer.Option(*names, help=text, show_default=False)


def _sweep(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace file of a known format; gzip and zstd too.")],
    rates: Annotated[
        str,
        _option(
            "Factors on the trace's own request rate: 1,2,4 or START:STOP:STEP. The table says what requests a second "
            "they are."
        ),
    ],
    output: Annotated[Path, _option("Folder for the runs; a sweep in it goes on.", "--output", "-o")],
    policies: Annotated[
        str | None,
        typer.Option(
            help="vllm, nano-vllm or FILE.py:Name, with commas. [vllm]",
            show_default=False,
            autocompletion=complete_policies,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None, _option("Setting that varies, NAME=VALUE,VALUE; may come several times.", "--set")
    ] = None,
    attainment: Annotated[
        float | None, _option("Share of requests that must meet every limit of --slo. [0.9]", "--attainment")
    ] = None,
    refine: Annotated[
        int | None, _option("Halve so often the distance to the highest rate within the SLO. [0]", "--refine")
    ] = None,
    jobs: Annotated[int | None, _option("Most runs at a time. [one a core]")] = None,
    as_json: Annotated[bool, _option("Print only the rows, as JSON.", "--json")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    **options: Any,  # noqa: ANN401  # those of replay, of several types
) -> None:
    """Replay at several rates and settings, and say how much load fits.

    Every policy and value of a setting that is given is tried at every rate.
    """
    with clean_exit():
        from sim.sweeping.axes import parse_axes
        from sim.sweeping.grid import parse_policies
        from sim.sweeping.plan import make_plan
        from sim.sweeping.rates import parse_rates

        messages = Messages(quiet=quiet, verbose=verbose)
        parsed = parse_rates(rates)
        names = None if policies is None else parse_policies(policies)
        num_refinements, share = _refinements(refine), _attainment(attainment)
        num_jobs = _jobs(jobs)
        config, like = options.pop("config"), options.pop("like")
        plan = make_plan(trace, _flags(options), config, like, names, parse_axes(sets or []), parsed)
        folder = _folder(output, plan, num_refinements, attainment, share)
        for notice in plan.notices:
            messages.note(notice)
        messages.detail(f"Up to {num_jobs} runs at a time, each in a process of its own.")
        curves = _run(plan, folder, parsed, num_refinements, num_jobs, messages)
        messages.note(
            f"The runs are kept in {output}; analysis.sweep.load gives sweep.parquet there as a pandas frame."
        )
        _print(curves, as_json)


sweep = with_replay_options(
    _sweep,
    left_out=(
        *("backend", "device", "load_format", "dtype", "attention", "cuda_graphs", "free_run", "pace"),
        *("policy", "rate_scale"),
    ),
)


def _flags(options: dict[str, Any]) -> dict[str, Any]:
    """Settings that were given, by name."""
    from sim.setting_sources import is_duration, seconds, setting_name

    given = {name: value for name, value in options.items() if value is not None}
    return {setting_name(name): seconds(value, name) if is_duration(name) else value for name, value in given.items()}


def _refinements(refine: int | None) -> int:
    from sim.errors import SimError

    if refine is not None and not 0 <= refine <= 50:
        raise SimError(f"--refine is {refine}; it must be from 0 to 50.")
    return refine or 0


def _attainment(attainment: float | None) -> float:
    from sim.errors import SimError

    if attainment is not None and not 0 < attainment <= 1:
        raise SimError(f"--attainment is {attainment}; it must be a share above 0 and at most 1, such as 0.95.")
    return 0.9 if attainment is None else attainment


def _jobs(jobs: int | None) -> int:
    from sim.errors import SimError

    if jobs is not None and jobs < 1:
        raise SimError(f"--jobs is {jobs}; it must be at least 1.")
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return num_cores if jobs is None else jobs


def _folder(
    output: Path, plan: "SweepPlan", num_refinements: int, attainment: float | None, share: float
) -> "SweepFolder":
    from analysis.slo import Slo
    from sim.errors import SimError
    from sim.sweeping.sweep_folder import SweepFolder

    if plan.slo is None and (num_refinements or attainment is not None):
        flag = "--refine" if num_refinements else "--attainment"
        raise SimError(f"{flag} needs limits to meet; give them with --slo, such as --slo ttft=500ms,tpot=50ms.")
    slo = None if plan.slo is None else dict(Slo.parse(plan.slo).limits_s)
    folder = SweepFolder(output, plan, slo, share)
    folder.claim()
    return folder


def _run(
    plan: "SweepPlan",
    folder: "SweepFolder",
    rates: tuple[float, ...],
    num_refinements: int,
    num_jobs: int,
    messages: Messages,
) -> "list[LoadCurve]":
    from sim.interrupt import Interrupt
    from sim.sweeping.folder_lock import folder_lock
    from sim.sweeping.sweep import Sweep
    from sim.sweeping.sweep_progress import sweep_progress
    from sim.sweeping.workers import Workers

    interrupt = Interrupt()
    interrupt.is_idle = True  # this process only waits: a signal may stop it at once
    with folder_lock(folder.path), interrupt.listening(), sweep_progress(messages) as progress:
        try:
            with Workers(plan.trace, num_jobs) as workers:
                return Sweep(plan, folder, workers, progress).run(rates, num_refinements)
        except KeyboardInterrupt:
            done = f"{progress.num_complete} of {progress.num_runs} runs are complete"
            messages.note(f"{done}; the same command goes on with the rest.")
            raise


def _print(curves: "list[LoadCurve]", as_json: bool) -> None:
    from analysis.sweep import rows_of
    from analysis.sweep_table import print_sweep

    if as_json:
        print(json.dumps(rows_of(curves), indent=2, allow_nan=False))
    else:
        print_sweep(curves, sys.stdout)
