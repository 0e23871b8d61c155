"""A trace file that a command makes, with its side file."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from sim.errors import SimError
from sim.versions import TRACE_PACKAGES, versions
from traces.side_file import side_file_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How a trace was made, as its side file tells.

    Attributes:
        block_size: prompt tokens of one hash id.
        digest: of the trace, see `traces.Trace.digest`.
        counts: of requests and other things.
        sources: files that it was made of, as they were named.
        dropped: rows of the sources that are not in it, by reason.
        notices: what was decided on the way, one sentence each.
    """

    block_size: int
    digest: str
    counts: Mapping[str, int]
    sources: Sequence[Path] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    notices: Sequence[str] = ()


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
        self._side_path = side_file_path(path)
        for place in (path, self._side_path):
            if place.is_dir():
                raise SimError(f"{place} is a directory; name a new file.")
            if place.exists() and not is_forced:
                raise SimError(f"{place} exists; name another file, or replace it with --force.")

    def describe(self, making: Making) -> None:
        """Write the side file."""
        content = {
            "file": self.path.name,
            "block_size": making.block_size,
            "digest": making.digest,
            "command": command_line(self._ctx),
            "settings": {name: _plain(value) for name, value in self._ctx.params.items() if value is not None},
            "counts": dict(making.counts),
            "dropped": dict(making.dropped),
            "sources": [_source(path) for path in making.sources],
            "notices": list(making.notices),
            "versions": versions(TRACE_PACKAGES),
        }
        # ASCII alone, so that a file name of any bytes can stand in it.
        self._side_path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="ascii")

    @property
    def told(self) -> str:
        """Where the files are, in a sentence."""
        return f"{self.path} is written, and how it was made to {self._side_path}."


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
