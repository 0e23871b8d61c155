import re
from pathlib import Path

from analysis.report import WIDTH, render_report
from analysis.slo import Slo
from analysis.summary import summarise
from tests.run_builder import RunBuilder, small_run


def value(text: str, label: str) -> str:
    found = re.search(rf"^{re.escape(label)}:\s+(.+)$", text, re.MULTILINE)
    assert found, label
    return found[1]


def test_layout_that_users_of_vllm_know(tmp_path: Path) -> None:
    text = render_report(summarise(small_run(tmp_path).build()))
    lines = text.splitlines()
    assert lines[0] == "============ Serving Benchmark Result ============"
    assert lines[1:3] == ["at most 4 sequences and 64 tokens a step, trace", "tiny"]
    assert lines[3] == "Successful requests:                     2"
    assert lines[-1] == "=" * WIDTH
    titles = [line.strip("-") for line in lines if line.startswith("---")]
    assert titles == [
        "Time to First Token",
        "Time per Output Token (excl. 1st token)",
        "Inter-token Latency",
        "End-to-end Latency",
        "Latency Split: Mean / P50 / P99",
        "Utilisation: Mean / Peak",
        "Failed or Refused, by Reason",
        "Verdict",
    ]


def test_figures(tmp_path: Path) -> None:
    text = render_report(summarise(small_run(tmp_path).build(), wall_s=0.5))
    assert value(text, "Failed requests") == "1"
    assert value(text, "Open / closed loop (% of requests)") == "100.0 / 0.0"
    assert value(text, "Open / closed loop (% of tokens)") == "100.0 / 0.0"
    assert value(text, "Benchmark duration (s)") == "6.00"
    assert value(text, "Output token throughput (tok/s)") == "1.00"
    assert value(text, "Mean TTFT (ms)") == "1250.00"
    assert value(text, "P90 ITL (ms)") == "2700.00"
    assert value(text, "P99 E2EL (ms)") == "5485.00"
    assert value(text, "Queue (ms)") == "250.00 / 250.00 / 495.00"
    assert value(text, "Waiting requests") == "0.50 / 1"
    assert value(text, "KV cache use (%, of 100 blocks)") == "14.0 / 20.0"
    assert value(text, "Preemptions") == "1"
    assert value(text, "Prefix cache hits (% of prompt tokens)") == "20.0"
    assert value(text, "Wall time (s)") == "0.50"
    assert value(text, "Times faster than real time") == "12.0"
    assert "1 x prompt of 500 tokens is too long" in text
    assert "Too short to judge" in text


def test_objectives_and_steady_state(tmp_path: Path) -> None:
    text = render_report(summarise(small_run(tmp_path).build(), slo=Slo({"ttft": 1.0, "e2e": 9.0}), warmup_s=0.25))
    assert value(text, "Request goodput (req/s)") == "0.17"
    assert value(text, "TTFT within 1000 ms (%)") == "33.3"
    assert value(text, "E2E within 9000 ms (%)") == "66.7"
    assert value(text, "All met (% of requests that arrived)") == "33.3"
    assert value(text, "Window (s)") == "0.25 to 1.00"


def test_partial_run_says_so(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.request("d", arrival_s=3.0, status="unfinished")
    text = render_report(summarise(builder.build(complete=False)))
    assert "Partial run" in text
    assert value(text, "Unfinished requests") == "1"


def test_undefined_figures_show_as_a_dash(tmp_path: Path) -> None:
    text = render_report(summarise(RunBuilder(tmp_path).build()))
    assert value(text, "Mean TTFT (ms)") == "-"
    assert value(text, "Request throughput (req/s)") == "-"
    assert value(text, "Running requests") == "- / 0"
    assert "Idle: no request arrived." in text


def test_no_colour_codes(tmp_path: Path) -> None:
    assert "\x1b" not in render_report(summarise(small_run(tmp_path).build()))


def test_sentences_are_no_wider_than_the_report(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.request("d", arrival_s=3.0, finish_s=3.0, status="refused", reason="a sentence of words " * 20)
    lines = render_report(summarise(builder.build())).splitlines()
    sentences = [line for line in lines if "sentence" in line or "Too short" in line or "at most" in line]
    assert len(sentences) > 8
    assert max(map(len, sentences)) <= WIDTH


def test_peak_over_whole_seconds_is_left_out_of_a_run_of_few(tmp_path: Path) -> None:
    label = "Peak output token throughput (tok/s)"
    assert value(render_report(summarise(small_run(tmp_path / "long").build())), label) == "2.00"
    short = RunBuilder(tmp_path / "short")
    short.step(prefill=[10], duration_s=0.5)
    short.request("a", emissions=[(0, 1)])
    summary = summarise(short.build())
    assert label not in render_report(summary), "one token in half a second is a rate of 2, but 1 in the second"
    assert summary["max_output_tokens_per_s"] == 1.0
