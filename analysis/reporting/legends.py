"""Legends of figures."""

from collections.abc import Sequence

from analysis.reporting.colours import PHASE_COLOURS, series_colours
from analysis.reporting.figure import Swatch
from analysis.reporting.subject import Subject


def series_legend(subjects: Sequence[Subject], *statistics: str) -> list[Swatch]:
    """The runs, if there are several, and what solid and dashed lines are, if there are both."""
    names = [subject.label for subject in subjects]
    return names_legend(names if len(names) > 1 else [], *statistics)


def names_legend(names: Sequence[str], *statistics: str) -> list[Swatch]:
    """Series by name, and what solid and dashed lines are."""
    swatches = [Swatch(name, colour) for name, colour in zip(names, series_colours(len(names)), strict=True)]
    styles = [Swatch(name, None, "dashed" if k else "line") for k, name in enumerate(statistics)]
    return [*swatches, *styles]


def phase_legend(phases: Sequence[str]) -> list[Swatch]:
    """The phases of requests."""
    return [Swatch(name, PHASE_COLOURS[name], "bar") for name in PHASE_COLOURS if name in phases]
