"""A figure in the page: caption, legend, chart, notes, and the table behind it."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.figure import Figure, Swatch
from analysis.reporting.markup import element


def figure_block(figure: Figure, definitions: MetricDefinitions) -> Element:
    """The elements of one figure; what is drawn comes from `figure_data`."""
    links: list[Element | str] = []
    for key in figure.metrics:
        links += [", " if links else "", element("a", definitions[key].name, href=f"#def-{key}")]
    return element(
        "figure",
        element("figcaption", element("h3", figure.title), element("p", figure.shows)),
        element("ul", *map(_swatch, figure.legend), class_="legend") if figure.legend and figure.rows else None,
        _chart(figure) if figure.rows else element("p", "There is nothing to draw.", class_="empty"),
        element("ul", *(element("li", note) for note in figure.notes), class_="notes") if figure.notes else None,
        element("p", "Definitions: ", *links, class_="links"),
        _table(figure) if figure.rows else None,
        id=f"figure-{figure.key}",
        class_="wide" if figure.key.startswith("gantt") else "half",
    )


def figure_data(figures: Sequence[Figure]) -> Element:
    """What is drawn, as JSON in an element that a script reads."""
    values = [
        {
            "key": figure.key,
            "spec": figure.spec,
            "fields": [[field.name, field.title] for field in figure.fields],
            "columns": _columns(figure),
        }
        for figure in figures
        if figure.rows
    ]
    # In a script element only the sign that could end it means anything; in JSON it may be written as its number.
    text = json.dumps(values, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return element("script", text, type="application/json", id="figures")


def _columns(figure: Figure) -> dict[str, Any]:
    """Values by field: numbers as they are, texts as positions in a list of those that occur."""
    names = dict.fromkeys(name for row in figure.rows for name in row)
    return {name: _column([row.get(name) for row in figure.rows]) for name in names}


def _column(values: list[Any]) -> Any:  # noqa: ANN401  # a list, or a list with its codes
    if not any(isinstance(value, str) for value in values):
        return values
    texts = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(texts), "codes": [texts[value] for value in values]}


def _swatch(swatch: Swatch) -> Element:
    mark = element("span", class_=f"swatch {swatch.style}", style=f"--colour: {swatch.colour or 'currentColor'}")
    mark.set("aria-hidden", "true")
    return element("li", mark, swatch.label)


def _chart(figure: Figure) -> Element:
    text = f"{figure.title}. {figure.shows} The table behind the figure has its {len(figure.rows)} values."
    return element("div", class_="chart", role="img", aria_label=text, data_figure=figure.key)


def _table(figure: Figure) -> Element:
    summary = element("summary", f"Table of the {len(figure.rows):,} values")
    place = element("div", class_="scroll", tabindex="0", role="region", aria_label=f"{figure.title}: values")
    return element("details", summary, place, data_table=figure.key)
