"""The definitions at the end of the page."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from analysis.metric_definitions import MetricDefinition, MetricDefinitions
from analysis.reporting.markup import element


def definition_list(definitions: MetricDefinitions, document: str | None) -> Element:
    """A list of all definitions.

    Args:
        definitions: all of them.
        document: where `docs/metrics.md` lies as seen from the page; None if it is not at hand.
    """
    items = [item for known in definitions.values() for item in _entry(known, document)]
    return element("dl", *items, class_="definitions")


def _entry(known: MetricDefinition, document: str | None) -> Iterator[Element]:
    unit = "" if known.unit == "1" else f" ({known.unit})"
    place = f"docs/metrics.md#{known.anchor}"
    more = place if document is None else element("a", place, href=f"{document}#{known.anchor}")
    yield element("dt", f"{known.name}{unit}", id=f"def-{known.key}")
    yield element(
        "dd",
        f"{known.meaning} ",
        element("small", "Computed by ", element("code", known.source), "; more in ", more, "."),
    )
