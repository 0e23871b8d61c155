"""Summary and settings as rows; Markdown, CSV, and the page without its figures."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from analysis.errors import ReportError, RunError
from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.csv_report import csv_report
from analysis.reporting.html_page import HtmlPage
from analysis.reporting.markdown_report import markdown_report
from analysis.reporting.markup import element
from analysis.reporting.report_content import ReportContent
from analysis.reporting.setting_rows import SettingRow, setting_rows
from analysis.reporting.subject import Subject, labels_of
from analysis.reporting.summary_rows import SummaryRow, number_text
from analysis.reporting.tables import sweep_setting_table
from analysis.reporting.vega_library import vega_library
from analysis.sweep_columns import FIGURES
from tests.analysis.reporting.reports import figures_of, small_content, subject_of
from tests.analysis.small_sweep import small_sweep
from tests.run_builder import RunBuilder, small_run


def rows_by_label(content: ReportContent) -> dict[str, SummaryRow]:
    return {row.label: row for row in content.summary_rows}


def page_of(content: ReportContent) -> str:
    return HtmlPage("", MetricDefinitions(), None).render(content)


def test_rows_are_those_of_the_summary(tmp_path: Path) -> None:
    rows = rows_by_label(small_content(tmp_path, "run", slo="ttft=1s,e2e=9s"))
    assert rows["TTFT mean"].texts() == ["1,250.00"]
    assert rows["Prefix cache hits, of prompt tokens"].texts() == ["20.0"]
    assert rows["SLO attainment, all limits"].texts() == ["33.3"]
    assert rows["TTFT within 1000 ms"].texts() == ["33.3"]
    assert rows["E2E within 9000 ms"].texts() == ["66.7"]
    assert rows["KV cache use, peak"].texts() == ["20.0"]
    assert "unfinished" not in rows, "there are none"
    definitions = MetricDefinitions()
    assert all(definitions.of_summary(row.key) for row in rows.values())


def test_further_runs_show_their_distance_from_the_first() -> None:
    row = SummaryRow("", "duration", "Duration", "s", (2.0, 2.5, 2.0, 8.0, None, 400.0))
    assert row.changes() == ["", "+25.0 %", "", "x 4", "", "x 200"]
    assert SummaryRow("", "failed", "", "", (0, 3)).changes() == ["", ""]


def test_numbers() -> None:
    assert [number_text(value) for value in (None, 12345, 1234.567)] == ["-", "12,345", "1,234.57"]
    assert number_text(12.345, "%") == "12.3"


def test_settings_have_everything_and_mark_what_differs(tmp_path: Path) -> None:
    metas = [small_run(tmp_path / "a").build().meta, small_run(tmp_path / "b", seed=1, slo={"ttft": 1.0}).build().meta]
    rows = {(row.group, row.name): row for row in setting_rows(metas)}
    assert rows["Run", "seed"].texts == ("0", "1")
    assert rows["Service level objectives (s)", "ttft"].texts == (None, "1.0")
    assert rows["Settings", "max_num_seqs"].texts == ("4", "4")
    assert rows["Trace", "digest"].texts == ("abc", "abc")
    assert {name for (_, name), row in rows.items() if row.differs} == {"seed", "ttft"}


def test_labels_tell_paths_apart() -> None:
    assert labels_of([Path("runs/a"), Path("runs/b")]) == ["a", "b"]
    assert labels_of([Path("x/one/run"), Path("x/two/run")]) == ["one/run", "two/run"]
    assert labels_of([Path("runs/a"), Path("runs/a")]) == ["a (1)", "a (2)"]


def test_markdown(tmp_path: Path) -> None:
    text = markdown_report(small_content(tmp_path, "a_b", "c|d", slo="ttft=1s"))
    lines = text.splitlines()
    assert lines[0] == "# TwinServe report: a\\_b, c\\|d"
    assert "| TTFT mean (ms) | 1,250.00 | 1,250.00 |" in lines
    assert "|  | a\\_b | c\\|d |" in lines
    assert "- **Failed or refused, 1 x**: prompt of 500 tokens is too long" in lines
    assert len({line.count(" | ") for line in lines if line.startswith("| TTFT")}) == 1


def test_markdown_of_a_sweep(tmp_path: Path) -> None:
    text = markdown_report(ReportContent.of([small_sweep(tmp_path / "sweep", is_complete=False)]))
    assert "- **Partial sweep**: 1 of 2 runs are not complete and left out." in text
    assert "| vllm | too short | 1 | 3.00 | 1 | 1,250.0 | 1,495.0 |" in text


def test_page_of_a_sweep_has_each_verdict_in_short_and_as_a_whole(tmp_path: Path) -> None:
    page = page_of(ReportContent.of([small_sweep(tmp_path / "sweep")]))
    whole = "Too short to judge: 3 requests came within 1 s, in fewer than 20 steps"
    assert page.count(f'<th scope="row">vllm</th><td class="short" title="{whole}') == 2
    assert page.count('">too short</td><td class="number">') == 2


def test_settings_of_a_sweep_lead_with_what_varies_and_say_once_what_is_not_set() -> None:
    values = {"digest": ("d", "e"), "cost": ("not set",) * 2, "tp": ("1", "1"), "limit": ("not set",) * 2}
    rows = [SettingRow("Trace", name, texts) for name, texts in (values | {"seed": ("0", "7")}).items()]
    cells = [[cell.text for cell in row] for row in sweep_setting_table(rows).findall(".//tbody/tr")]
    assert cells == [
        *(["Trace"], ["seed", "varies: 0, 7"], ["tp", "1"], ["digest", "varies: d, e"], ["not set", "cost, limit"])
    ]


def test_a_change_of_nothing_takes_room_too(tmp_path: Path) -> None:
    page = page_of(small_content(tmp_path, "a", "b"))
    assert '<td class="number">1,250.00</td><td class="number">1,250.00<small></small></td>' in page
    assert "<h1>TwinServe report: a, b</h1>" in page


def test_csv_has_a_row_a_run_and_plain_values(tmp_path: Path) -> None:
    content = small_content(tmp_path, "a", "b", slo="ttft=1s")
    rows = list(csv.DictReader(io.StringIO(csv_report(content))))
    assert [row["run"] for row in rows] == ["a", "b"]
    assert float(rows[0]["mean_ttft_ms"]) == 1250
    assert float(rows[0]["slo_attainment_by_metric_ttft"]) == pytest.approx(1 / 3)
    assert rows[0]["verdict_status"] == "too short"
    assert rows[0]["failed_by_reason"] == "1 x prompt of 500 tokens is too long"
    assert not any(value.startswith(("{", "[")) for row in rows for value in row.values())


def test_csv_of_a_sweep_is_its_frame(tmp_path: Path) -> None:
    content = ReportContent.of([small_sweep(tmp_path / "sweep")])
    rows = list(csv.DictReader(io.StringIO(csv_report(content))))
    assert [row["rate_scale"] for row in rows] == ["1.0", "2.0"]
    assert {column.name for column in FIGURES} <= set(rows[0])


def test_page_of_a_run(tmp_path: Path) -> None:
    content = small_content(tmp_path, "run")
    page = page_of(content)
    for figure in figures_of(content).values():
        assert f'id="figure-{figure.key}"' in page
    for definition in MetricDefinitions().values():
        assert f'id="def-{definition.key}"' in page
        assert f"docs/metrics.md#{definition.anchor}" in page
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page


def test_partial_run_is_marked(tmp_path: Path) -> None:
    content = ReportContent.of([small_run(tmp_path / "run").build(complete=False).path])
    assert "Partial run" in page_of(content)
    assert "**Partial run**" in markdown_report(content)


def test_names_from_outside_stay_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    builder = RunBuilder(tmp_path / "run", settings={"policy": evil})
    builder.step(decode=1)
    builder.request(evil, emissions=[(0, 1)])
    page = page_of(ReportContent.of([builder.build().path]))
    assert "alert(1)" in page
    assert "<script>alert" not in page


def test_text_goes_between_elements_in_order() -> None:
    made = element("p", "a", element("b", "c"), "d", None, "e", class_="x", data_key="y")
    assert (made.text, made[0].text, made[0].tail) == ("a", "c", "de")
    assert made.attrib == {"class": "x", "data-key": "y"}


def test_too_many_runs_for_the_colours(tmp_path: Path) -> None:
    path = RunBuilder(tmp_path / "run").build().path
    with pytest.raises(RunError, match=r"^8 runs are too many for one report: .* at most 7 .*\.$"):
        ReportContent.of([path] * 8)


def test_what_the_program_that_made_the_run_knew_is_kept(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    block = {"kind": "fitted", "text": "to steps of an H200", "outside_share": 0.25}
    path = builder.build(summary={"cost_model": block, "wall_s": 2.0}).path
    page = page_of(ReportContent.of([path]))
    assert "fitted. to steps of an H200" in page
    assert "25 % of the steps have shapes that the cost model was not calibrated for." in page
    known = {"mean_lag_s": 0.5, "max_lag_s": 1.5, "host_probe_us": 9.25}
    run = RunBuilder(tmp_path / "real").build(summary=known)
    assert known.items() <= Subject.of(run, "real").summary.items()


def test_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ReportError, match=r"needs vl-convert-python, .*pip install 'twinserve\[report\]'"):
        vega_library.__wrapped__()


def test_data_of_figures_are_json_without_a_sign_that_ends_them(tmp_path: Path) -> None:
    page = page_of(ReportContent.of([small_run(tmp_path / "run").build().path]))
    text = page.split('id="figures">')[1].split("</script>")[0]
    values = json.loads(text)
    assert len(values) == 17
    assert values[0]["columns"]["series"] == {"texts": ["run"], "codes": [0] * len(values[0]["columns"]["percent"])}


def test_subject_has_the_time_of_its_run(tmp_path: Path) -> None:
    span = subject_of(small_run(tmp_path / "run")).span
    assert span == (0.0, 6.0)
    assert subject_of(RunBuilder(tmp_path / "empty")).span is None
