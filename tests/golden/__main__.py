"""`python -m tests.golden PATH...`: compare decisions with recorded ones, one line a case."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tests.golden.case import CaseError, read_cases
from tests.golden.compare import compare


def main(
    paths: Annotated[list[Path], typer.Argument(help="Case folders, .pack.jsonl.gz files, or folders of these.")],
    vllm_version: Annotated[str | None, typer.Option(help="0.25 or 0.33 instead of what the case says.")] = None,
) -> None:
    """Exit code 0 if every comparable case is identical, 1 if any differs, 2 if a path holds no case.

    A case with "ghost" in its name hits blocks that were never computed; it is expected to differ and counts apart.
    """
    outcomes: list[str] = []
    try:
        for path in paths:
            for case in read_cases(path):
                comparison = compare(case, vllm_version)
                is_expected = comparison.outcome == "differs" and "ghost" in case.name
                outcomes.append("expected to differ" if is_expected else comparison.outcome)
                print(comparison.line + (" (expected: blocks that were never computed)" if is_expected else ""))
    except CaseError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    words = ("identical", "differs", "expected to differ", "not compared")
    counts = {word: outcomes.count(word) for word in words}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    raise typer.Exit(1 if counts["differs"] else 0)


if __name__ == "__main__":
    typer.run(main)
