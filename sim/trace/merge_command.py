"""`python -m sim trace merge`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.message import Messages, Quiet
from sim.trace.making_options import Force, Seed
from sim.trace.read_options import read_settings, with_read_options


def _merge(
    ctx: typer.Context,
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE", help="Two or more trace files of known formats.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to make; a name in .gz or .zst is compressed.", metavar="OUT")
    ],
    shared_prefixes: Annotated[
        bool,
        typer.Option("--shared-prefixes", help="Equal hash ids mean the same content. [share nothing between traces]"),
    ] = False,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    **options: Any,  # noqa: ANN401  # those of reading, of several types
) -> None:
    """Write several traces as one, each request at its time, as native JSON lines.

    Ids of requests and sessions get the name of their file in front.
    """
    with clean_exit():
        from sim.errors import SimError
        from sim.trace.held_trace import write_held
        from sim.trace.made_file import MadeFile
        from sim.trace.trace_sources import source_files
        from traces.feed import recognise
        from traces.merger import merge_traces
        from traces.reader import read_trace

        if len(traces) < 2:
            raise SimError(f"{traces[0]} is the only trace; give two or more to merge.")
        settings, format = read_settings(options, seed)
        made = MadeFile(output, ctx, force)
        sources = [
            source for path in traces for source in source_files(path, settings, recognise(path, settings, format).name)
        ]
        read = [read_trace(path, settings, format=format) for path in traces]
        merged = merge_traces(dict(zip(_names(traces), read, strict=True)), shared_prefixes=shared_prefixes)
        dropped: Counter[str] = Counter()
        for trace in read:
            dropped.update(trace.dropped)
        write_held(merged, made, sources, dropped, Messages(quiet=quiet))


merge = with_read_options(_merge)
merge.__name__ = "merge"


def _names(paths: Sequence[Path]) -> list[str]:
    """A name for each file: what stands before the first dot, numbered where that is not its own alone."""
    stems = [path.name.partition(".")[0] or path.name for path in paths]
    names: list[str] = []
    for position, stem in enumerate(stems, 1):
        name = stem if stems.count(stem) == 1 else f"{stem}-{position}"
        names.append(name if name not in names else f"{name}-{position}")
    return names
