"""Each figure of a run: that its values are those of the metrics, and that it says what is missing."""

from pathlib import Path

import pytest

from analysis.metric_definitions import MetricDefinitions
from analysis.reporting.gantt_figures import MAX_REQUESTS
from analysis.reporting.report_content import ReportContent
from analysis.vllm_import import import_vllm
from tests.analysis.reporting.reports import column, figures_of, small_content
from tests.analysis.vllm_files import write_result
from tests.run_builder import RunBuilder, small_run

KEYS = [
    *("cdf-ttft", "cdf-tpot", "cdf-itl", "cdf-e2e", "time-ttft", "time-tpot", "time-e2e", "arrivals", "output-rate"),
    *("running", "waiting", "kv-usage", "prefill-tokens", "decode-tokens", "prefix-hits", "preemptions", "gantt"),
]


def test_every_figure_is_there_and_says_what_it_is(tmp_path: Path) -> None:
    figures = figures_of(small_content(tmp_path, "run"))
    assert list(figures) == KEYS
    for figure in figures.values():
        assert figure.rows
        assert figure.shows.endswith(".")
        assert {field.name for field in figure.fields} <= {name for row in figure.rows for name in row}
        assert set(figure.metrics) <= set(MetricDefinitions())
        assert figure.title.endswith(")") or figure.key.startswith(("cdf", "gantt"))


def test_distributions_go_through_the_percentiles_of_the_summary(tmp_path: Path) -> None:
    content = small_content(tmp_path, "run")
    summary = content.subjects[0].summary
    for key, metric in (("ttft", "ttft"), ("tpot", "tpot"), ("itl", "itl"), ("e2el", "e2e")):
        values = {row["percent"]: row["value"] for row in figures_of(content)[f"cdf-{metric}"].rows}
        for percent in (50, 90, 95, 99):
            assert values[percent] == pytest.approx(summary[f"p{percent}_{key}_ms"], rel=1e-5)
    assert (values[0], values[100]) == (4000, 5500)


def test_levels_and_batches_of_one_step_a_bin(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for k in range(200):
        builder.step(prefill=[k % 5 + 2], decode=k % 3, waiting=k % 4, running=k % 3 + 1, used=k % 2)
    builder.request("a", emissions=[(0, 200)])
    figures = figures_of(ReportContent.of([builder.build().path]))
    assert column(figures["running"], "mean") == [k % 3 + 1 for k in range(200)]
    assert column(figures["waiting"], "highest") == [k % 4 for k in range(200)]
    assert column(figures["kv-usage"], "mean") == [k % 2 for k in range(200)]
    assert column(figures["prefill-tokens"], "mean") == [k % 5 + 2 for k in range(200)]
    assert column(figures["decode-tokens"], "lowest") == [k % 3 for k in range(200)]
    assert column(figures["running"], "time")[:2] == [0.5, 1.5]
    assert column(figures["output-rate"], "value") == [0, *[1] * 198, 2], "a token counts where its step ends"


def test_requests_over_time(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for _ in range(20):
        builder.step(decode=1)
    for k in range(20):
        builder.request(f"r{k}", arrival_s=float(k), emissions=[(k, 1)], input_tokens=10, hit_tokens=k // 10 * 5)
    builder.event(12, "r3", "preempted")
    figures = figures_of(ReportContent.of([builder.build().path]))
    assert column(figures["arrivals"], "value") == [1, 1]
    assert column(figures["prefix-hits"], "value") == [0, 50]
    assert [row["value"] for row in figures["time-ttft"].rows if row["statistic"] == "p99"] == [1000, 1000]
    assert column(figures["time-ttft"], "count") == [10, 10, 10, 10]
    assert sum(row["value"] for row in figures["preemptions"].rows) == 1
    assert figures["time-tpot"].rows == []
    assert figures["time-tpot"].notes == ["run: no finished request has this latency."]


def test_gantt_has_the_phases(tmp_path: Path) -> None:
    gantt = figures_of(small_content(tmp_path, "run"))["gantt"]
    assert [(row["phase"], row["start"], row["end"]) for row in gantt.rows if row["request"] == "b"] == [
        ("queue", 0.5, 1.0),
        ("prefill", 1.0, 2.0),
        ("preempted", 2.0, 4.0),
        ("decode", 4.0, 6.0),
    ]
    assert "All 3 requests that arrived are shown." in gantt.shows
    assert [swatch.label for swatch in gantt.legend] == ["queue", "prefill", "decode", "preempted"]


def test_gantt_of_many_requests_shows_those_that_waited_longest(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for _ in range(400):
        builder.step(decode=1)
    for k in range(300):
        builder.request(f"r{k}", arrival_s=float(k), emissions=[(k + 90 * (k in (150, 209)), 1)])
    gantt = figures_of(ReportContent.of([builder.build().path]))["gantt"]
    names = list(dict.fromkeys(column(gantt, "request")))
    assert names == [f"r{k}" for k in range(150, 150 + MAX_REQUESTS)]
    assert "Shown are 60 of the 300 requests that arrived" in gantt.shows


def test_runs_of_one_trace_show_the_same_requests(tmp_path: Path) -> None:
    content = small_content(tmp_path, "one", "two")
    figures = figures_of(content)
    assert "The requests are those shown of one." in figures["gantt-2"].shows
    assert figures["gantt-2"].title == "Requests of two and their phases over time"
    assert column(figures["cdf-ttft"], "value", "one") == column(figures["cdf-ttft"], "value", "two")
    assert [swatch.label for swatch in figures["running"].legend] == ["one", "two"]


def test_bars_of_one_trace_have_one_time_axis(tmp_path: Path) -> None:
    quick, slow = RunBuilder(tmp_path / "quick"), RunBuilder(tmp_path / "slow")
    for builder, length_s in ((quick, 1.0), (slow, 4.0)):
        builder.step(prefill=[5], duration_s=length_s)
        builder.request("a", arrival_s=0.0, emissions=[(0, 1)])
    figures = figures_of(ReportContent.of([quick.build().path, slow.build().path]))
    for key in ("gantt", "gantt-2"):
        assert figures[key].spec["encoding"]["x"]["scale"]["domain"] == [0, 4]


def test_limits_are_lines_in_the_figures(tmp_path: Path) -> None:
    figures = figures_of(small_content(tmp_path, "run", slo="ttft=500ms"))
    for key in ("cdf-ttft", "time-ttft"):
        assert "limit 500 ms" in str(figures[key].spec)
    assert "limit" not in str(figures["cdf-tpot"].spec["layer"])


def test_zeros_have_no_place_on_a_logarithmic_axis_and_are_named(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for duration_s in (1.0, 0.0, 0.0, 0.5, 20.0):
        builder.step(decode=1, duration_s=duration_s)
    builder.request("a", emissions=[(0, 5)])
    itl = figures_of(ReportContent.of([builder.build().path]))["cdf-itl"]
    assert min(row["value"] for row in itl.rows) > 0
    assert itl.notes == ["run: values up to percentile 33 are 0, which has no place on a logarithmic axis."]


def test_empty_run(tmp_path: Path) -> None:
    figures = figures_of(ReportContent.of([RunBuilder(tmp_path / "run").build().path]))
    assert list(figures) == KEYS
    for figure in figures.values():
        assert not figure.rows
        assert figure.notes, figure.key


def test_client_record_says_what_it_lacks(tmp_path: Path) -> None:
    import_vllm(write_result(tmp_path / "result.json"), tmp_path / "run")
    figures = figures_of(ReportContent.of([tmp_path / "run"]))
    without = {key for key, figure in figures.items() if not figure.rows}
    assert without == {
        "running",
        "waiting",
        "kv-usage",
        "prefill-tokens",
        "decode-tokens",
        "prefix-hits",
        "preemptions",
    }
    for key in without:
        assert figures[key].notes == [
            "run: Recorded by a client: queueing, steps, KV blocks, prefix hits and preemptions are not known."
        ]
    assert {row["phase"] for row in figures["gantt"].rows} == {"until first token", "decode"}


def test_client_record_without_arrivals_has_nothing_over_time(tmp_path: Path) -> None:
    import_vllm(write_result(tmp_path / "result.json", start_times=None), tmp_path / "run")
    figures = figures_of(ReportContent.of([tmp_path / "run"]))
    assert [key for key, figure in figures.items() if figure.rows] == ["cdf-ttft", "cdf-tpot", "cdf-itl", "cdf-e2e"]
    assert figures["arrivals"].notes == ["run: arrival times are not known, so nothing can be said over time."]


def test_partial_run(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    builder.request("d", arrival_s=3.0, status="unfinished")
    figures = figures_of(ReportContent.of([builder.build(complete=False).path]))
    assert [(row["phase"], row["start"], row["end"]) for row in figures["gantt"].rows if row["request"] == "d"] == [
        ("queue", 3.0, 6.0)
    ]
