"""Parts of Vega-Lite specifications. What they look like is in `page.js`; here is what is drawn of which field."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.reporting.colours import series_scale, series_shapes

Spec = dict[str, Any]

HEIGHT = 230
MIN_LOG_RATIO = 20
"""From this ratio of largest to smallest value on an axis is logarithmic."""
_MAX_POINTS_SHOWN = 45
_MAX_NEAREST = 600  # each point needs a cell around it, which takes three times as long to draw
_DASHES = [[1, 0], [5, 3]]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        field: which field of the rows.
        title: with unit.
        is_log: whether it is logarithmic.
        has_zero: whether a linear axis begins at 0.
        top: where it ends; None for where the values do.
    """

    field: str
    title: str
    is_log: bool = False
    has_zero: bool = True
    top: float | None = None

    def encoding(self) -> Spec:
        """The channel of a specification."""
        scale: Spec = {"type": "log", "nice": False} if self.is_log else {"zero": self.has_zero, "nice": self.has_zero}
        if self.top is not None:
            scale |= {"domainMax": self.top, "nice": False}
        return {"field": self.field, "type": "quantitative", "title": self.title, "scale": scale}


def is_log(values: Iterable[float | None]) -> bool:
    """Whether an axis of these values is better logarithmic: all above 0, and over a wide range."""
    known = [value for value in values if value is not None]
    return bool(known) and min(known) > 0 and max(known) >= MIN_LOG_RATIO * min(known)


def top_of(values: Iterable[float | None]) -> float | None:
    """Where an axis from 0 must end by itself: at 1 if all values are 0, for it would have no length; else None."""
    return None if any(values) else 1


def tooltip(fields: Sequence[tuple[str, str]]) -> list[Spec]:
    """Shows fields, given by name and title; numbers with up to four digits."""
    return [
        {"field": name, "title": title} | ({} if name in _TEXTS else {"type": "quantitative", "format": ",.4~g"})
        for name, title in fields
    ]


_TEXTS = ("efficient", "series", "statistic", "request", "phase", "run", "verdict")


def line_chart(
    x: Axis,
    y: Axis,
    series: Sequence[str],
    shown: Sequence[tuple[str, str]],
    *,
    num_rows: int,
    has_points: bool = True,
    statistics: Sequence[str] = (),
    has_band: bool = False,
    is_step: bool = False,
    order: str | None = None,
    ring: str | None = None,
) -> Spec:
    """One line for each value of the field `series`, and of the field `statistic` if there are statistics.

    Args:
        x: horizontal axis.
        y: vertical axis.
        series: all of them, in the order of their colours.
        shown: fields, with titles, that pointing at a line shows.
        num_rows: rows of the figure; with few of them a line, points are drawn, and the pointer finds the nearest one.
        has_points: whether points may be drawn, however few there are.
        statistics: values of `statistic`: the first one's lines are solid, the second one's dashed.
        has_band: whether fields `lowest` and `highest` are drawn as an area.
        is_step: whether values hold for a bin, and change at once.
        order: field that gives the order of points along a line; that of `x` if None.
        ring: field whose value "yes" puts a ring around a point; None for none.
    """
    colour = {"field": "series", "type": "nominal", "scale": series_scale(series), "legend": None}
    base: Spec = {"x": x.encoding(), "y": y.encoding(), "color": colour}
    if statistics:
        scale = {"domain": list(statistics), "range": _DASHES[: len(statistics)]}
        base["strokeDash"] = {"field": "statistic", "type": "nominal", "scale": scale, "legend": None}
    num_lines = max(len(series), 1) * max(len(statistics), 1)
    interpolate = {"interpolate": "step"} if is_step else {}
    line: Spec = {"mark": {"type": "line", "aria": False, **interpolate}, "encoding": _ordered(base, order)}
    line["encoding"] = {**line["encoding"], "strokeWidth": _widths(series)}
    is_visible = has_points and num_rows <= _MAX_POINTS_SHOWN * num_lines
    layers = [line, _points(base, series, shown, is_visible=is_visible, is_nearest=num_rows <= _MAX_NEAREST)]
    if ring is not None:
        layers.append(
            {
                "mark": {"type": "point", "style": "ring", "aria": False},
                "transform": [{"filter": f"datum.{ring} === 'yes'"}],
                "encoding": {"x": base["x"], "y": base["y"]},
            }
        )
    if has_band:
        layers.insert(0, _band(base, y, interpolate))
    return {"height": HEIGHT, "layer": layers}


def _widths(series: Sequence[str]) -> Spec:
    """Ever thinner lines: the first series lies below the others, and still shows where they are equal."""
    if len(series) < 2:
        return {"value": 1.8}
    scale = {"domain": list(series), "range": [3.2, 1.6]}
    return {"field": "series", "type": "ordinal", "scale": scale, "legend": None}


def _ordered(base: Spec, order: str | None) -> Spec:
    return base if order is None else {**base, "order": {"field": order, "type": "quantitative"}}


def _band(base: Spec, y: Axis, interpolate: Spec) -> Spec:
    bounds = {"y": {**y.encoding(), "field": "lowest"}, "y2": {"field": "highest"}}
    return {"mark": {"type": "area", "opacity": 0.16, "aria": False, **interpolate}, "encoding": {**base, **bounds}}


def _points(
    base: Spec, series: Sequence[str], shown: Sequence[tuple[str, str]], *, is_visible: bool, is_nearest: bool
) -> Spec:
    """Points with tooltips; the one under or nearest to the pointer is shown."""
    shape = {"domain": list(series), "range": series_shapes(len(series))}
    select = {"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": is_nearest}
    return {
        "mark": {"type": "point", "filled": True, "size": 40 if is_visible or is_nearest else 130, "aria": False},
        "params": [{"name": "hover", "select": select}],
        "encoding": {
            **{name: channel for name, channel in base.items() if name != "strokeDash"},
            "shape": {"field": "series", "type": "nominal", "scale": shape, "legend": None},
            "opacity": {"condition": {"param": "hover", "empty": False, "value": 1}, "value": 0.75 * is_visible},
            "tooltip": tooltip(shown),
        },
    }


def with_limit(spec: Spec, channel: str, value: float, text: str) -> Spec:
    """Adds a line at a limit, `channel` x or y, with its name."""
    data: Spec = {"values": [{}]}  # else the line would be drawn once for each row
    line = {"data": data, "mark": {"type": "rule", "style": "limit"}, "encoding": {channel: {"datum": value}}}
    place: Spec = {"align": "center", "y": -8} if channel == "x" else {"align": "left", "dy": -6, "x": 4}
    name = {
        "data": data,
        "mark": {"type": "text", "text": text, "style": "limit-name", **place},
        "encoding": {channel: {"datum": value}},
    }
    return {**spec, "layer": [*spec["layer"], line, name]}
