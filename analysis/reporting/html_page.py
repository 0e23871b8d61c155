"""A report as one HTML page that needs nothing else: no network, no other file."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.colours import series_colours
from analysis.reporting.definition_list import definition_list
from analysis.reporting.figure import FigureGroup
from analysis.reporting.figure_block import figure_block, figure_data
from analysis.reporting.markup import document, element
from analysis.reporting.report_content import ReportContent
from analysis.reporting.run_card import run_card
from analysis.reporting.setting_rows import setting_rows
from analysis.reporting.sweep_subject import SweepSubject
from analysis.reporting.tables import setting_table, summary_tables, sweep_setting_table, sweep_table
from analysis.sweep_table import curve_sentence, remarks

# Nothing may be fetched. Vega compiles its expressions to functions.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"


class HtmlPage:
    """Writes a report as a page.

    Args:
        library: the JavaScript of Vega, Vega-Lite and Vega-Embed.
        definitions: what metrics mean.
        metrics_document: where `docs/metrics.md` lies as seen from the page; None if it is not at hand.
    """

    def __init__(self, library: str, definitions: MetricDefinitions, metrics_document: str | None) -> None:
        self._library = library
        self._definitions = definitions
        self._metrics_document = metrics_document

    def render(self, content: ReportContent) -> str:
        """The text of the page."""
        return document(self._head(content.title), element("body", *self._body(content)))

    def _head(self, title: str) -> Element:
        return element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("title", title),
            element("style", _own("page.css")),
        )

    def _body(self, content: ReportContent) -> Iterator[Element]:
        groups = [*content.groups, *content.sweep_groups]
        yield element("header", element("h1", content.title), _navigation(content, groups))
        yield element("main", *self._main(content))
        yield _footer()
        yield figure_data([figure for group in groups for figure in group.figures])
        yield element("script", self._library)
        yield element("script", _own("page.js"))

    def _main(self, content: ReportContent) -> Iterator[Element]:
        labels = [subject.label for subject in content.subjects]
        if content.subjects:
            yield _runs(content)
            tables = summary_tables(content.summary_rows, labels, self._definitions)
            yield _section(
                "Summary",
                _comparison_note(content),
                element("div", *tables, class_="summary" if len(labels) < 4 else "summary long"),
            )
        for group in content.groups:
            yield self._figures(group)
        for sweep, group in zip(content.sweeps, content.sweep_groups, strict=True):
            yield _section(f"Runs of {sweep.label}", *_sweep_sentences(sweep), sweep_table(sweep))
            yield self._figures(group)
        if content.subjects:
            yield _section("Settings", _setting_note(content), setting_table(content.setting_rows, labels))
        for sweep in content.sweeps:
            rows = setting_rows([run.meta for run in sweep.runs.values()])
            yield _section(f"Settings of {sweep.label}", sweep_setting_table(rows))
        yield _section("Definitions", definition_list(self._definitions, self._metrics_document))

    def _figures(self, group: FigureGroup) -> Element:
        blocks = [figure_block(figure, self._definitions) for figure in group.figures]
        return _section(group.title, element("div", *blocks, class_="figures"))


def _own(name: str) -> str:
    return files("analysis.reporting").joinpath(name).read_text("utf-8")


def _section(title: str, *content: Element | None) -> Element:
    return element("section", element("h2", title), *content, id=_id(title))


def _id(title: str) -> str:
    return "section-" + "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def _navigation(content: ReportContent, groups: Sequence[FigureGroup]) -> Element:
    own = ["Runs", "Summary"] if content.subjects else []
    tables = [f"Runs of {sweep.label}" for sweep in content.sweeps]
    settings = ["Settings"] if content.subjects else [f"Settings of {sweep.label}" for sweep in content.sweeps]
    titles = [*own, *tables, *(group.title for group in groups), *settings, "Definitions"]
    links = [element("li", element("a", title, href=f"#{_id(title)}")) for title in titles]
    return element("nav", element("ul", *links), aria_label="Sections")


def _runs(content: ReportContent) -> Element:
    num = len(content.subjects)
    colours = series_colours(num) if num > 1 else [None]
    cards = [run_card(subject, colour) for subject, colour in zip(content.subjects, colours, strict=True)]
    return _section("Runs", element("div", *cards, class_="runs"))


def _sweep_sentences(sweep: SweepSubject) -> Iterator[Element]:
    if sweep.missing:
        text = f"{sweep.missing_sentence} They are {', '.join(sweep.missing)}."
        yield element("p", element("strong", "Partial sweep: "), text, class_="warning")
    for curve in sweep.curves:
        yield element("p", curve_sentence(curve))
    for remark in remarks(sweep.curves):
        yield element("p", remark, class_="remark")


def _comparison_note(content: ReportContent) -> Element | None:
    if len(content.subjects) < 2:
        return None
    return element("p", f"In small type: how far a run is from {content.subjects[0].label}.", class_="remark")


def _setting_note(content: ReportContent) -> Element | None:
    if len(content.subjects) < 2:
        return None
    differing = [row.name for row in content.setting_rows if row.differs]
    text = (
        f"The runs differ in {len(differing)} settings, marked ≠: {', '.join(differing)}."
        if differing
        else "The runs differ in no setting."
    )
    return element("p", text)


def _footer() -> Element:
    return element(
        "footer",
        element(
            "p",
            "Figures are drawn from values with six significant digits; those of the summary are exact. This page is "
            "complete in itself and loads nothing; its figures are made by Vega-Lite.",
        ),
        element("noscript", "The figures need JavaScript; the tables do not."),
    )
