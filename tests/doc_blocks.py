"""Runs the blocks of a document as a reader would, and puts what they print beside what the document shows.

    python -m tests.doc_blocks docs/tutorial.md

writes the outputs of this release into the document; its test says which of them have changed. What is understood:

* "Save as `NAME`:" before a block makes the block a file;
* a block `sh` holds commands `python -m sim ...` and `python -m analysis ...`, each perhaps with backslashes at ends of
  lines, and with `| head -N`, `| tail -N` or `| grep TEXT` behind it;
* a block `python` runs in one namespace with those before;
* a block `text` right behind one of the two is what that prints to stdout.
"""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.sim.command import ROOT, command

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"Save as `([^`]+)`:\n\n\Z")
_OF_WALL_CLOCK = ("Wall time", "Times faster")


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        language: what stands behind its fence.
        text: what is in it.
        start: where the text begins in the document.
        file: under which name it is saved; None if it is not.
        is_output: whether it shows what the block before it prints.
    """

    language: str
    text: str
    start: int
    file: str | None
    is_output: bool


class Shown(NamedTuple):
    """What a block shows, and what was printed."""

    block: Block
    printed: str


def blocks_of(text: str) -> list[Block]:
    """All blocks of a document, in order."""
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        between = text[end : match.start()]
        saved = _SAVED.search(between)
        runs = found[-1:] and found[-1].language in {"sh", "python"} and not found[-1].file
        is_output = match[1] == "text" and bool(runs) and not between.strip()
        found.append(Block(match[1], match[2], match.start(2), saved[1] if saved else None, is_output))
        end = match.end()
    return found


def run_blocks(text: str, folder: Path) -> Iterator[Shown]:
    """Runs a document in a folder; yields each block that shows an output.

    Raises:
        AssertionError: a command fails.
    """
    namespace: dict[str, Any] = {"__name__": "__document__"}
    printed = ""
    with chdir(folder):
        for block in blocks_of(text):
            if block.file is not None:
                Path(block.file).write_text(block.text, "utf-8")
            elif block.language == "sh":
                printed = "".join(map(run_line, lines_of(block.text)))
            elif block.language == "python":
                printed = run_python(block.text, namespace)
            elif block.is_output:
                yield Shown(block, printed)


def lines_of(text: str) -> list[str]:
    """Commands of a block, joined where a line ends in a backslash."""
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def run_line(line: str) -> str:
    """Runs one command in this process and returns its stdout."""
    first, *filters = [part.strip() for part in line.split(" | ")]
    words = shlex.split(first, comments=True)
    assert words[:2] == ["python", "-m"], line
    assert words[2] in {"sim", "analysis"}, line
    done = command(*words[3:])
    assert done.code == 0, (line, done.err)
    lines = done.out.splitlines(keepends=True)
    for each in filters:
        lines = _filtered(lines, *shlex.split(each))
    return "".join(lines)


def _filtered(lines: list[str], name: str, argument: str) -> list[str]:
    if name == "grep":
        return [line for line in lines if argument in line]
    count = int(argument.removeprefix("-"))
    return {"head": lines[:count], "tail": lines[-count:]}[name]


def run_python(text: str, namespace: dict[str, Any]) -> str:
    """Runs code in this process and returns its stdout."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(text, "<document>", "exec"), namespace)
    return out.getvalue()


def without_wall_clock(text: str) -> list[str]:
    """Lines that do not depend on how quick the machine is, without spaces at their ends."""
    return [line.rstrip() for line in text.splitlines() if not line.startswith(_OF_WALL_CLOCK)]


def rewritten(text: str, shown: list[Shown]) -> str:
    """The document with outputs as they were printed; those that are right but for the wall clock stay."""
    for block, printed in reversed(shown):
        if without_wall_clock(block.text) != without_wall_clock(printed):
            new = "".join(line.rstrip() + "\n" for line in printed.splitlines())
            text = text[: block.start] + new + text[block.start + len(block.text) :]
    return text


def link_examples(folder: Path) -> None:
    """Puts what a reader has in a clone into a folder."""
    for name in ("examples", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)


def main(path: Path) -> None:
    """Writes the outputs of this release into a document."""
    text = path.read_text("utf-8")
    with TemporaryDirectory() as folder:
        link_examples(Path(folder))
        path.write_text(rewritten(text, list(run_blocks(text, Path(folder)))), "utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    main(Path(sys.argv[1]))
