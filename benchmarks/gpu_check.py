"""Checks on a GPU what the test suite can only check on a CPU; prints a line for each case.

python -m benchmarks.gpu_check --output gpu_check.json
python -m benchmarks.gpu_check --only tensor_parallel                # needs two GPUs
python -m benchmarks.gpu_check --device cpu                          # to try the checks without a GPU
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.gpu_checks.groups import GROUPS, Group
from benchmarks.machine_facts import machine_facts

Outcomes = list[dict[str, Any]]


def main(
    only: Annotated[list[str] | None, typer.Option(help="Run these groups; may be repeated.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Leave these groups out; may be repeated.")] = None,
    device: Annotated[str, typer.Option(help="cuda, or cpu to try the checks on tiny sizes.")] = "cuda",
    jobs: Annotated[int, typer.Option(min=1, help="Groups at once, where that disturbs nothing.")] = 4,
    max_seconds: Annotated[float, typer.Option(min=1, help="Time for all groups together.")] = 540.0,
    output: Annotated[Path, typer.Option(help="Write all outcomes here, as JSON, after each group.")] = Path(
        "gpu_check.json"
    ),
) -> None:
    """Run the checks; exit code 1 if any failed."""
    groups, deadline = chosen(only or [], skip or []), time.monotonic() + max_seconds
    outcomes: Outcomes = []
    facts = machine_facts()
    print(json.dumps(facts), flush=True)
    with tempfile.TemporaryDirectory(prefix="gpu-check-", ignore_cleanup_errors=True) as scratch:

        def run(group: Group) -> Outcomes:
            return run_group(group, device, Path(scratch), min(group.limit_s, deadline - time.monotonic()))

        with ThreadPoolExecutor(jobs) as pool:
            beside = pool.map(run, [group for group in groups if not group.is_alone])
            alone = map(run, [group for group in groups if group.is_alone])
            for found in chain(beside, alone):
                outcomes += found
                output.write_text(json.dumps(facts | {"outcomes": outcomes}, indent=1))
    counts = Counter(outcome["status"] for outcome in outcomes)
    print("  ".join(f"{status} {count}" for status, count in sorted(counts.items())), flush=True)
    for outcome in outcomes:
        if outcome["status"] in ("FAIL", "ERROR"):
            print(f"{outcome['status']} {outcome['group']}/{outcome['name']}", flush=True)
    raise typer.Exit(1 if counts["FAIL"] or counts["ERROR"] else 0)


def chosen(only: list[str], skip: list[str]) -> list[Group]:
    """Groups to run, in their own order.

    Raises:
        BadParameter: there is no such group.
    """
    unknown = sorted({*only, *skip} - {group.name for group in GROUPS})
    if unknown:
        raise typer.BadParameter(f"No group {', '.join(unknown)}; known: {', '.join(group.name for group in GROUPS)}.")
    picked = [group for group in GROUPS if (group.name in only if only else group.is_default)]
    return [group for group in picked if group.name not in skip]


def run_group(group: Group, device: str, scratch: Path, limit_s: float) -> Outcomes:
    """Run a group in a process of its own; what it had found when it died or was killed counts, and so does that."""
    if limit_s < 1:
        return [_gone(group, 0.0, "Not run: the time for all groups is used up.")]
    results, start = scratch / f"{group.name}.jsonl", time.monotonic()
    command = [sys.executable, "-m", "benchmarks.gpu_checks", group.name, "--device", device]
    command += ["--results", str(results), "--scratch", str(scratch)]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        code = process.wait(limit_s)
        problem = f"Its process ended with exit code {code}." if code else ""
    except subprocess.TimeoutExpired:
        problem = f"It took longer than {limit_s:.0f} s and was killed."
    finally:
        _kill_all(process)
    outcomes: Outcomes = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    return outcomes + ([_gone(group, time.monotonic() - start, problem)] if problem else [])


def _kill_all(process: "subprocess.Popen[bytes]") -> None:
    """The process, if it still runs, and whatever it has left behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _gone(group: Group, seconds: float, message: str) -> dict[str, Any]:
    print(f"ERROR {group.name}/process ({seconds:.1f} s)  {message}", flush=True)
    return {
        "group": group.name,
        "name": "process",
        "status": "ERROR",
        "seconds": seconds,
        "numbers": {},
        "message": message,
    }


if __name__ == "__main__":
    typer.run(main)
