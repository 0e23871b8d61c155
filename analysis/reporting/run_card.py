"""What a run is a run of, and what became of it, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from analysis.flag_names import with_flags
from analysis.outside_text import outside_text
from analysis.reporting.markup import element
from analysis.reporting.subject import Subject


def run_card(subject: Subject, colour: str | None) -> Element:
    """The card of one run.

    Args:
        subject: the run.
        colour: of its lines in all figures; None if it is the only one.
    """
    mark = None
    if colour is not None:
        mark = element("span", class_="swatch bar", style=f"--colour: {colour}", aria_hidden="true")
    sentences = [
        element("p", element("strong", f"{title}: ") if title else None, text, class_=f"{kind}")
        for kind, title, text in run_sentences(subject)
    ]
    return element("article", element("h3", mark, subject.label), *sentences, class_="run")


def run_sentences(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Yields kind (plain, warning), title and text of what is worth saying of a run."""
    summary, trace = subject.summary, subject.run.meta["trace"]
    yield "plain", "", summary["description"]
    digest = f", digest {trace['digest']}" if trace.get("digest") else ""
    if trace.get("name"):
        yield "plain", "Trace", f"{trace['name']}{digest}"
    if isinstance(subject.run.meta.get("started_at"), str):
        yield "plain", "Started", subject.run.meta["started_at"].replace("T", " ").replace("+00:00", " UTC")
    if not summary["complete"]:
        yield "warning", "Partial run", "it was stopped before its end; requests that had not ended may be missing."
    if summary["not_known"]:
        yield "warning", "Not known", summary["not_known"]
    if summary["verdict"]:
        yield "plain", "Verdict", summary["verdict"]["text"]
    yield from _step_times(summary.get("cost_model"))
    for reason, count in sorted(summary["failed_by_reason"].items(), key=lambda item: -item[1]):
        yield "warning", f"Failed or refused, {count:,} x", with_flags(reason)


def _step_times(block: Mapping[str, Any] | None) -> Iterator[tuple[str, str, str]]:
    if (block or {}).get("kind", "roofline") == "roofline":
        return  # the description says all of a roofline
    assert block is not None, "it has a kind"
    yield "plain", "Step times", " ".join(filter(None, [f"{block.get('kind')}.", block.get("text")]))
    outside = outside_text(block)
    if outside is not None:
        yield "warning", "Outside the calibration", outside
