"""`python -m tests.golden PATH...`: compare decisions with recorded ones, one line a case."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tests.golden.case import CaseError, read_cases
from tests.golden.compare import Comparison, compare


def main(
    paths: Annotated[list[Path], typer.Argument(help="Case folders, .pack.jsonl.gz files, or folders of these.")],
    vllm_version: Annotated[str | None, typer.Option(help="0.25 or 0.33 instead of what the case says.")] = None,
) -> None:
    """Exit code 0 if every comparable case is identical, 1 if any differs, 2 if a path holds no case."""
    comparisons: list[Comparison] = []
    try:
        for path in paths:
            for case in read_cases(path):
                comparisons.append(compare(case, vllm_version))
                print(comparisons[-1].line)
    except CaseError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    counts = {
        word: sum(each.outcome == word for each in comparisons) for word in ("identical", "differs", "not compared")
    }
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    raise typer.Exit(1 if counts["differs"] else 0)


if __name__ == "__main__":
    typer.run(main)
