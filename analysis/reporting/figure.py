"""A figure: what it shows, the numbers in it, and how they are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Row = Mapping[str, Any]
Style = Literal["line", "dashed", "bar", "point"]


@dataclass(frozen=True, slots=True)
class Swatch:
    """An entry of a legend.

    Attributes:
        label: what it stands for.
        colour: as CSS names it; None for that of text.
        style: how it is drawn.
    """

    label: str
    colour: str | None
    style: Style = "line"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of every row of a figure.

    Attributes:
        name: its key in the rows.
        title: heading of its column in the table behind the figure, with unit.
    """

    name: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure.

    Attributes:
        key: its name in the page; unique.
        title: what it is, with unit.
        shows: sentences that say how to read it and how its values were put together.
        metrics: keys of the definitions that it rests on.
        fields: the columns of the table behind it.
        rows: its values; none if there is nothing to draw.
        spec: the Vega-Lite specification without data; fields are those of the rows.
        legend: what its colours and lines stand for.
        notes: what is not in it, and why.
    """

    key: str
    title: str
    shows: str
    metrics: Sequence[str]
    fields: Sequence[Field]
    rows: Sequence[Row]
    spec: Mapping[str, Any]
    legend: Sequence[Swatch] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures under one heading.

    Attributes:
        title: the heading.
        figures: in order.
    """

    title: str
    figures: Sequence[Figure]
