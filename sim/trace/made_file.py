"""A trace file that a command makes, with its side file."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from sim.errors import SimError
from sim.message import Messages
from sim.trace.trace_rows import TraceRows
from sim.versions import TRACE_PACKAGES, versions
from traces.side_file import side_file_path
from traces.whole_file import whole_file


class MadeFile:
    """The place of a new trace.

    Args:
        path: the trace file.
        ctx: the command that makes it.
        is_forced: whether to replace what is there.

    Raises:
        SimError: something is there, and is not to be replaced; or it can be no file.
    """

    def __init__(self, path: Path, ctx: typer.Context, is_forced: bool) -> None:
        self.path = path
        self._ctx = ctx
        if str(path) == "-":
            raise SimError("A trace comes with a side file and does not go to stdout; name a new file.")
        self._side_path = side_file_path(path)
        for place in (path, self._side_path):
            if place.is_dir():
                raise SimError(f"{place} is a directory; name a new file.")
            if place.exists() and not place.is_file():
                raise SimError(f"{place} is a device or a pipe, which cannot be replaced; name a new file.")
            if place.exists() and not is_forced:
                raise SimError(f"{place} exists; name another file, or replace it with --force.")

    def finish(
        self,
        rows: TraceRows,
        sources: Sequence[Path],
        dropped: Mapping[str, int],
        notices: Sequence[str],
        messages: Messages,
    ) -> None:
        """Put the file into its place, write its side file, and tell what was decided.

        Args:
            rows: all requests are in them.
            sources: files that they are from, as they were named.
            dropped: rows of the sources that are not in it, by reason.
            notices: what was decided on the way, one sentence each.
            messages: tell them.
        """
        found = [_source(path) for path in sources]  # now, as one of them may be replaced
        all_notices = [*notices, *rows.finish()]
        making = {
            "file": self.path.name,
            "block_size": rows.digest.block_size,
            "digest": rows.digest.hexdigest(),
            "command": command_line(self._ctx),
            "settings": {name: _plain(value) for name, value in self._ctx.params.items() if value is not None},
            "counts": rows.counts,
            "dropped": dict(dropped),
            "sources": found,
            "notices": all_notices,
            "versions": versions(TRACE_PACKAGES),
        }
        # ASCII alone, so that a file name of any bytes can stand in it.
        with whole_file(self._side_path) as draft:
            draft.write_text(json.dumps(making, indent=2, allow_nan=False) + "\n", encoding="ascii")
            rows.commit()  # last, as a trace without its side file may be read with another block size
        for notice in (*all_notices, f"{self.path} is written, and how it was made to {self._side_path}."):
            messages.note(notice)


def command_line(ctx: typer.Context) -> str:
    """What was typed, with the options in the order of the command."""
    words = ["python -m sim trace", ctx.info_name or ""]
    for parameter in ctx.command.get_params(ctx):
        value = ctx.params.get(parameter.name or "")
        if value is None or value == parameter.get_default(ctx):
            continue
        values = value if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            words += [shlex.quote(str(each)) for each in values]
        elif value is True:
            words.append(parameter.opts[0])
        else:
            words += [f"{parameter.opts[0]} {shlex.quote(str(each))}" for each in values]
    return " ".join(words)


def _plain(value: Any) -> Any:  # noqa: ANN401  # options are of many types
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _source(path: Path) -> dict[str, object]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"name": str(path), "num_bytes": file.tell(), "sha256": digest}
