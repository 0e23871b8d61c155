"""What traces are like, as a picture."""

import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sim.errors import SimError
from sim.trace.trace_portrait import Portrait
from traces.statistics.length_counts import LengthCounts
from traces.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".html")
MAX_BINS = 300
MAX_POINTS = 2_000
Column = npt.NDArray[np.int64] | npt.NDArray[np.float64]
# Okabe and Ito's colours, which the colour-blind tell apart; black for dark and light alike is left out.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def check_plot(path: Path, is_forced: bool) -> None:
    """Check that a plot can be made there, before any time is spent.

    Raises:
        SimError: its name or place will not do, or matplotlib is missing.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise SimError(f"--plot is {path}; its name must end in one of {', '.join(SUFFIXES)}.")
    if path.exists() and not is_forced:
        raise SimError(f"{path} exists; name another file, or replace it with --force.")
    try:
        import matplotlib  # noqa: F401  # only asked for
    except ImportError:
        raise SimError("A plot needs matplotlib, which is not installed; install twinserve[plot].") from None


def draw_plot(portraits: Sequence[Portrait], path: Path) -> None:
    """Draw arrivals over time, lengths, and reuse by size of the cache; a line for each trace.

    Args:
        portraits: of the traces.
        path: file to write, of a kind in `SUFFIXES`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 4.2))
    figure.subplots_adjust(left=0.045, right=0.99, bottom=0.13, top=0.92, wspace=0.19)
    arrivals, lengths, reuse = figure.subplots(1, 3)
    for position, portrait in enumerate(portraits):
        colour = COLOURS[position % len(COLOURS)]
        _draw_arrivals(arrivals, portrait, colour)
        _draw_lengths(lengths, portrait.profiler.inputs, f"{portrait.path.name}: prompts", colour, "-")
        _draw_lengths(lengths, portrait.profiler.outputs, f"{portrait.path.name}: outputs", colour, "--")
        _draw_reuse(reuse, portrait, colour)
    arrivals.set(title="Arrivals", xlabel="time, s", ylabel="requests a second", ylim=(0, None))
    lengths.set(title="Lengths", xlabel="tokens", ylabel="share of requests that are no longer", xscale="log")
    reuse.set(
        title="Prefix reuse of an LRU cache", xlabel="cache, tokens", ylabel="share of prompt tokens, %", ylim=(0, None)
    )
    for axes in (arrivals, lengths, reuse):
        axes.grid(visible=True, alpha=0.3)
        if axes.lines:
            axes.legend(fontsize="small")
    if not reuse.lines:
        reuse.text(0.5, 0.5, "no trace says what prompts hold", ha="center", va="center", transform=reuse.transAxes)
    _save(figure, path, ", ".join(portrait.path.name for portrait in portraits))


def _draw_arrivals(axes: "Axes", portrait: Portrait, colour: str) -> None:
    per_second = portrait.profiler.arrivals.per_second()
    width = -(-len(per_second) // MAX_BINS)
    padded = np.pad(per_second, (0, -len(per_second) % width))
    # The last bin holds only what is left of the trace.
    seconds = np.minimum(width, len(per_second) - np.arange(0, len(per_second), width))
    rates = padded.reshape(-1, width).sum(axis=1) / seconds
    axes.step(
        np.arange(len(rates)) * width,
        rates,
        color=colour,
        where="post",
        label=f"{portrait.path.name}, bins of {width} s",
    )


def _draw_lengths(axes: "Axes", counts: LengthCounts, label: str, colour: str, style: str) -> None:
    lengths, number = counts.columns()
    shares = np.cumsum(number) / number.sum()
    axes.plot(*_thinned(lengths, shares), style, color=colour, drawstyle="steps-post", label=label)


def _draw_reuse(axes: "Axes", portrait: Portrait, colour: str) -> None:
    blocks, _, tokens = portrait.profiler.reuse.curve()
    if len(blocks):
        sizes = blocks * portrait.facts.block_size
        shares = 100 * tokens / portrait.profile.inputs.total
        axes.plot(*_thinned(sizes, shares), color=colour, drawstyle="steps-post", label=portrait.path.name)
        axes.set_xscale("log")


def _thinned(x: Column, y: Column) -> tuple[Column, Column]:
    """Leave points out of a long curve, which nobody would see but a file would hold."""
    kept = np.unique(np.linspace(0, len(x) - 1, MAX_POINTS).astype(np.int64))
    return x[kept], y[kept]


def _save(figure: "Figure", path: Path, title: str) -> None:
    import matplotlib as mpl

    # Equal traces give equal files: no date, and names in the drawing that are not drawn by lot.
    with mpl.rc_context({"svg.hashsalt": "twinserve"}):
        if path.suffix.lower() == ".png":
            with whole_file(path) as draft:
                figure.savefig(draft, format="png", dpi=110, metadata={"Software": None})
            return
        drawing = io.StringIO()
        metadata: dict[str, Any] = {"Date": None, "Creator": None}
        figure.savefig(drawing, format="svg", metadata=metadata)
    text = drawing.getvalue()
    with whole_file(path) as draft:
        draft.write_text(text if path.suffix.lower() == ".svg" else _page(text, title), encoding="utf-8")


def _page(svg: str, title: str) -> str:
    """Return one page with the drawing in it, which opens offline."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        "<style>body{margin:1em;background:#fff}svg{max-width:100%;height:auto}</style>\n"
        f"{svg[svg.index('<svg') :]}</html>\n"
    )
