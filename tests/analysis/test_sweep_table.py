import io
from typing import Any

from analysis.load_curve import load_curves
from analysis.sweep_table import print_sweep
from tests.analysis.load_rows import load_row


def printed(*rows: dict[str, Any], varied: tuple[str, ...] = ("policy",)) -> list[str]:
    file = io.StringIO()
    print_sweep(load_curves(rows, varied, 0.9), file)
    return [line.rstrip() for line in file.getvalue().splitlines()]


LATENCIES: dict[str, Any] = {"median_ttft_ms": 20.04, "p99_ttft_ms": 31.5, "median_tpot_ms": 7.0, "p99_tpot_ms": None}


def test_rows_and_sentences() -> None:
    rows = (
        load_row(1, span_s=100, drain_s=1, slo_attainment=1.0, request_goodput=0.99, max_num_seqs=64, **LATENCIES),
        load_row(
            2.5,
            span_s=40,
            drain_s=20,
            verdict="falls behind",
            slo_attainment=0.5,
            request_goodput=1.0,
            max_num_seqs=64,
            **LATENCIES,
        ),
    )
    assert printed(*rows, varied=("policy", "max_num_seqs")) == [
        "policy  max_num_seqs  rate  req/s offered  output tok/s  TTFT p50  p99, ms  TPOT p50  p99, ms  "
        "goodput req/s  in SLO, %  verdict",
        "vllm              64     1           1.00            10      20.0     31.5      7.00        -  "
        "         0.99      100.0  keeps up",
        "vllm              64   2.5           2.50            17      20.0     31.5      7.00        -  "
        "         1.00       50.0  falls behind",
        "",
        "vllm, max_num_seqs 64: knee at rate 1 (1 req/s), 10 output tok/s; meets the SLO up to rate 1 (1 req/s), "
        "misses it at 2.5.",
        "Knee: highest rate at which the engine keeps up, by its verdict, while requests arrive.",
        "So short a trace can hide an overload of 25% of the requests; a longer one places the knee more finely.",
        "SLO met: at least 90% of the requests that arrived meet every limit.",
    ]


def sentence(*rows: dict[str, Any]) -> str:
    (found,) = [line for line in printed(*rows) if line.startswith("vllm: ")]
    return found.removeprefix("vllm: ")


def test_knee_beyond_the_rates() -> None:
    assert sentence(load_row(2, span_s=50, drain_s=1)) == "knee not reached, rate 2 (2 req/s) is still kept up with."


def test_no_knee() -> None:
    row = load_row(2, span_s=50, drain_s=1, verdict="falls behind", slo_attainment=0.1)
    assert sentence(row) == (
        "no knee, the lowest rate 2 (2 req/s) is not kept up with; misses the SLO from the lowest rate 2 (2 req/s) on."
    )


def test_rate_too_short_to_judge_is_said() -> None:
    rows = load_row(1, span_s=50, drain_s=1), load_row(2, span_s=25, drain_s=9, verdict="too short")
    assert sentence(*rows) == (
        "knee at rate 1 (2 req/s) or higher, 20 output tok/s, as rate 2 (4 req/s) is too short to judge."
    )
    assert sentence(rows[1]) == "no knee, the lowest rate 2 (4 req/s) is too short to judge."
    assert sentence(load_row(1, span_s=None, drain_s=9)) == "no knee, the lowest rate 1 has all requests at once."


def test_long_trace_says_nothing_of_overload_that_does_not_show() -> None:
    lines = printed(load_row(1, span_s=1000, drain_s=1, arrivals_per_s=1.0))
    assert lines[-1].startswith("Knee: ")


def test_slo_met_everywhere() -> None:
    rows = [load_row(rate, span_s=50, drain_s=1, slo_attainment=1.0) for rate in (1, 2)]
    assert sentence(*rows).endswith("; meets the SLO at every rate up to 2 (2 req/s).")


def test_closed_loops_are_said() -> None:
    lines = printed(load_row(1, span_s=50, drain_s=1, closed_request_share=0.25))
    assert lines[-1].startswith("25% of the requests wait for the answer before them (closed loop)")


def test_step_times_of_several_kinds_are_not_taken_for_a_difference_of_settings() -> None:
    kinds = ((1, "fitted"), (2, "roofline"))
    rows = [load_row(rate, span_s=50, drain_s=1, cost_model=kind) for rate, kind in kinds]
    said = "Step times are of several kinds, so rows of one are not comparable with those of another. "
    assert any(line.startswith(said) for line in printed(*rows))
    assert not any(line.startswith(said) for line in printed(rows[0]))


def test_steps_outside_what_was_fitted_are_said() -> None:
    rows = [load_row(rate, span_s=50, drain_s=1, outside_share=share) for rate, share in ((1, 0.01), (2, 0.123))]
    assert printed(*rows)[-1] == "Up to 12 % of the steps lie outside what the cost model was fitted to (vllm)."
