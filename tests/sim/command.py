"""Runs the command line in this process, as a user would from a shell."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from sim.__main__ import app

ROOT = Path(__file__).parents[2]


class Done(NamedTuple):
    """What came of it."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The sentence of a refusal: exit code 2, nothing on stdout, notes at most before it."""
        *notes, last = self.err.splitlines()
        assert self.code == 2, self
        assert self.out == ""
        assert all(note.startswith("note: ") for note in notes), self.err
        assert last.startswith("error: "), self.err
        assert "\x1b" not in last
        assert last.endswith(".")
        return last.removeprefix("error: ")

    @property
    def notes(self) -> list[str]:
        """Notes, of a run that went well."""
        assert self.code == 0, self
        lines = self.err.splitlines()
        assert all(line.startswith("note: ") for line in lines), self.err
        return [line.removeprefix("note: ") for line in lines]

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` printed."""
        assert self.code == 0, self
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def command(*args: object) -> Done:
    """One command. An exception is a fault: a user would see its traceback."""
    out, err = io.StringIO(), io.StringIO()
    code: int | str | None = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            app([str(arg) for arg in args])
        except SystemExit as done:
            code = done.code
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


def replay(trace: Path, *args: object) -> Done:
    """A replay on a small pool, which is quick to make, unless told otherwise."""
    return command("replay", trace, *(() if "--num-blocks" in args else ("--num-blocks", 400)), *args)


def in_process(*args: object, hash_seed: str = "0") -> tuple[list[str], dict[str, Any]]:
    """Command line and keyword arguments for a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    return [sys.executable, "-m", "sim", *map(str, args)], {"cwd": ROOT, "env": environment, "text": True}


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    """A trace file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(timestamp: float = 0.0, input_length: int = 20, output_length: int = 4, **more: Any) -> dict[str, Any]:
    """A row of a trace."""
    return {"timestamp": timestamp, "input_length": input_length, "output_length": output_length, **more}
