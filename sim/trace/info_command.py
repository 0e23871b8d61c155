"""`python -m sim trace info`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.message import Messages, Quiet
from sim.trace.read_options import read_settings, with_read_options

if TYPE_CHECKING:
    from traces.statistics import CacheSize


def _option(text: str, *names: str) -> Any:  # noqa: ANN401  # typer's own options are untyped
    return typer.Option(*names, help=text, show_default=False)


def _info(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE", help="Trace files of known formats.")],
    cache_tokens: Annotated[
        str | None, _option("Sizes of LRU prefix caches in tokens, such as 1M,10M. [1k, 10k and 100k blocks]")
    ] = None,
    cache_blocks: Annotated[str | None, _option("Sizes in blocks of the trace, such as 1k,50k.")] = None,
    max_model_len: Annotated[
        int | None, _option("Count requests of which prompt and output together are longer. [none]")
    ] = None,
    plot: Annotated[
        Path | None, _option("Draw arrivals, lengths and prefix reuse into this file: .png, .svg or .html.")
    ] = None,
    force: Annotated[bool, _option("Replace a plot that is there.", "--force")] = False,
    seed: Annotated[int, typer.Option(help="Of what is drawn for a file that leaves something open.", min=0)] = 0,
    quiet: Quiet = False,
    as_json: Annotated[bool, _option("Print JSON: an object a trace, in a list.", "--json")] = False,
    **options: Any,  # noqa: ANN401  # those of reading, of several types
) -> None:
    """Say what traces are like: format, load, burstiness, lengths, prefix reuse, sessions, and what is odd."""
    with clean_exit():
        from sim.trace.info_plot import check_plot, draw_plot
        from sim.trace.info_table import print_portrait
        from sim.trace.trace_portrait import portray

        settings, format = read_settings(options, seed)
        sizes = _cache_sizes(cache_tokens, cache_blocks)
        if plot is not None:
            check_plot(plot, force)
        portraits = []
        for path in traces:
            portraits.append(portray(path, settings, format, sizes, max_model_len))
            if not as_json:
                print_portrait(portraits[-1], sys.stdout)
        if as_json:
            print(json.dumps([portrait.as_dict() for portrait in portraits], indent=2, allow_nan=False))
        if plot is not None:
            draw_plot(portraits, plot)
            Messages(quiet=quiet).note(f"The plot is written to {plot}.")


info = with_read_options(_info)
info.__name__ = "info"


def _cache_sizes(tokens: str | None, blocks: str | None) -> "list[CacheSize]":
    from sim.trace.size_list import parse_sizes
    from traces.statistics import CacheSize

    if tokens is None and blocks is None:
        blocks = "1k,10k,100k"
    in_tokens = () if tokens is None else parse_sizes("--cache-tokens", tokens)
    in_blocks = () if blocks is None else parse_sizes("--cache-blocks", blocks)
    return [CacheSize(num, True) for num in in_tokens] + [CacheSize(num, False) for num in in_blocks]
