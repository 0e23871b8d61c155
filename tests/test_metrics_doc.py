"""docs/metrics.md defines every figure that is printed or written, and none that is not."""

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from analysis.report import render_report
from analysis.summary import LATENCY_KEYS, summarise
from analysis.sweep_columns import schema_of
from tests.column_tables import TITLES, column_table, with_tables
from tests.run_builder import small_run
from tests.sim.command import ROOT, replay, row, write_rows

DOC = (ROOT / "docs" / "metrics.md").read_text("utf-8")


def section(title: str) -> str:
    """Text below a heading, up to the next of its level or above."""
    (found,) = re.finditer(rf"^(#+) {re.escape(title)}$", DOC, re.MULTILINE)
    rest = DOC[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def rows_of(title: str) -> list[tuple[str, ...]]:
    """Cells of the table in a section, without its heading."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines[2:]]


def defined_keys() -> list[str]:
    """Keys of a summary, or patterns of them, as the sections of metrics name them."""
    lines = re.findall(r"^(?:Unit: .*?\. )?Keys: (.*(?:\n.+)*)", section("Each metric"), re.MULTILINE)
    return [key for line in lines for key in re.findall(r"`([a-z0-9_*]+)`", line)]


def keys_of_table(title: str) -> list[str]:
    return [cells[0].strip("`") for cells in rows_of(title)]


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("runs")
    trace = write_rows(folder / "trace.jsonl", row(), row(1000), row(4000), row(0, 100_000))
    done = replay(trace, "--slo", "ttft=1s,tpot=1s,itl=1s,e2e=1s", "--warmup", "1s", "--cost", "roofline", "--json")
    return done.summary


def test_every_key_of_a_summary_is_defined_once_and_none_besides(summary: dict[str, Any]) -> None:
    patterns = [*defined_keys(), *keys_of_table("Keys that say what ran")]
    assert len(patterns) == len(set(patterns))
    for key in summary:
        assert sum(fnmatchcase(key, pattern) for pattern in patterns) == 1, key
    known = {*summary, *schema_of({}).names}
    for pattern in patterns:
        assert any(fnmatchcase(key, pattern) for key in known), pattern


def test_patterns_of_latencies_are_not_too_wide() -> None:
    patterns = {pattern for pattern in defined_keys() if "*" in pattern}
    assert patterns == {f"*_{key}_ms" for key in LATENCY_KEYS.values()}


def test_keys_inside_of_keys_are_named(summary: dict[str, Any]) -> None:
    assert keys_of_table("Keys of the verdict") == list(summary["verdict"])
    steady = {key for key in summary["steady_state"] if not key.endswith("_ms")}
    assert steady <= set(re.findall(r"`(\w+)`", section("Steady state")))
    assert set(summary["cost_model"]) <= set(re.findall(r"`(\w+)`", section("Keys that say what ran")))


@pytest.mark.parametrize("title", TITLES)
def test_columns_are_those_of_the_schema(title: str) -> None:
    assert column_table(TITLES[title]) in section(title), "python -m tests.column_tables docs/metrics.md mends it"
    assert with_tables(DOC) == DOC


def test_every_line_of_a_report_is_in_the_list(summary: dict[str, Any], tmp_path: Path) -> None:
    whole = summarise(small_run(tmp_path).build()) | {"wall_s": 1.0, "unfinished": 1, "aborted": 1}
    reports = [render_report(summary), render_report(whole)]
    figures = [report[report.index("Successful") : report.index("Verdict")] for report in reports]
    labels = {line.split(":")[0] for line in "".join(figures).splitlines() if re.match(r"[A-Z].*: +\S", line)}
    listed = [part.strip() for cells in rows_of("What a report prints") for part in re.split(r"[,:] ", cells[0])]
    for label in labels:
        assert any(part.lower() in label.lower() for part in listed), label
    for part in listed:
        assert part.lower() in "".join(reports).lower(), part


def test_links_lead_to_headings() -> None:
    headings = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", DOC, re.MULTILINE)
    }
    links = re.findall(r"\(#([^)]+)\)", DOC)
    assert links
    assert set(links) <= headings


def test_definitions_in_code_say_the_same() -> None:
    definitions = pytest.importorskip("analysis.metric_definitions").MetricDefinitions()
    titles = re.findall(r"^### (.*)$", section("Each metric"), re.MULTILINE)
    assert titles == [definition.name for definition in definitions.values()]
    for definition in definitions.values():
        text = " ".join(section(definition.name).split())
        assert text.startswith(definition.meaning), definition.key
        assert definition.unit == "1" or f"Unit: {definition.unit}." in text
        assert all(f"`{key}`" in text for key in definition.summary_keys)
