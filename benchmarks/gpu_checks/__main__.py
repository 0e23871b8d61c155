"""Runs one group of cases; `benchmarks.gpu_check` starts a process of its own for each, so that none harms another."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.gpu_checks.case import run_cases
from benchmarks.gpu_checks.groups import cases_of
from benchmarks.gpu_checks.setup import Setup


def main(
    group: Annotated[str, typer.Argument(help="Which.")],
    results: Annotated[Path, typer.Option(help="Append an outcome a line here, as JSON.")],
    scratch: Annotated[Path, typer.Option(help="Folder for checkpoints.")],
    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda",
) -> None:
    """Run the cases of a group, print a line for each."""
    setup = Setup(device, scratch)
    # The module is imported inside, since that may fail, too.
    for outcome in run_cases(group, lambda: cases_of(group)(setup)):
        print(outcome.line(), flush=True)
        with results.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


if __name__ == "__main__":
    typer.run(main)
