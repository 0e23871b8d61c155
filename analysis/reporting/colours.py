"""Colours that people with any kind of colour vision tell apart, after Okabe and Ito (2008), without their yellow.

They are names of CSS variables, so that a page can have other shades on a dark ground and on paper: see `page.css`.
"""

from collections.abc import Sequence

NUM_COLOURS = 7
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

PHASE_COLOURS = {
    "queue": "var(--queue)",
    "prefill": "var(--prefill)",
    "decode": "var(--decode)",
    "preempted": "var(--preempted)",
    "until first token": "var(--merged)",
}


def series_colours(num: int) -> list[str]:
    """Colours of so many series; from the eighth on they come again."""
    return [f"var(--series-{k % NUM_COLOURS})" for k in range(num)]


def series_shapes(num: int) -> list[str]:
    """Shapes of the points of so many series: equal colours have different ones."""
    return [SHAPES[k // NUM_COLOURS % len(SHAPES)] for k in range(num)]


def series_scale(names: Sequence[str]) -> dict[str, object]:
    """The Vega-Lite scale that gives each series its colour."""
    return {"domain": list(names), "range": series_colours(len(names))}
