import json
from pathlib import Path

import pytest

from analysis.reporting.report_content import ReportContent
from analysis.slo import Slo
from tests.analysis.reporting.reports import column, figures_of
from tests.analysis.small_sweep import RATES, small_sweep


def test_a_point_for_each_run(tmp_path: Path) -> None:
    figures = figures_of(ReportContent.of([small_sweep(tmp_path / "sweep", slo={"ttft": 1.2}, attainment=0.3)]))
    assert [key.removeprefix("sweep-1-") for key in figures] == [
        *("rate-ttft", "rate-tpot", "rate-e2el", "rate-attainment", "throughput-ttft", "throughput-tpot", "pareto")
    ]
    ttft = figures["sweep-1-rate-ttft"]
    # Three requests arrive within one second; first tokens come 1 and 1.5 s after arrival.
    assert column(ttft, "rate") == [3.0] * 4
    assert column(ttft, "value") == [1250, 1250, 1495, 1495]
    assert column(ttft, "statistic") == ["median", "median", "p99", "p99"]
    assert column(figures["sweep-1-rate-attainment"], "value") == pytest.approx([100 / 3] * 2, rel=1e-5)
    assert column(figures["sweep-1-throughput-ttft"], "throughput") == [1.0, 1.0]
    assert "limit 1200 ms" in str(ttft.spec)


def test_limits_given_replace_those_of_the_sweep(tmp_path: Path) -> None:
    path = small_sweep(tmp_path / "sweep", slo={"ttft": 1.2})
    attainment = figures_of(ReportContent.of([path], Slo({"ttft": 9.0})))["sweep-1-rate-attainment"]
    assert column(attainment, "value") == pytest.approx([200 / 3] * 2, rel=1e-5)
    assert "TTFT 9000 ms" in attainment.shows


def test_pareto_needs_the_number_of_gpus(tmp_path: Path) -> None:
    path = small_sweep(tmp_path / "sweep")
    assert figures_of(ReportContent.of([path]))["sweep-1-pareto"].rows == []
    for name in RATES:
        file = path / name / "meta.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"hardware": {"num_gpus": 2}}))
    pareto = figures_of(ReportContent.of([path]))["sweep-1-pareto"]
    # 1 token a second on two GPUs; median TPOT is that of a and b, 1.5 and 2 s.
    assert column(pareto, "gpu") == [0.5, 0.5]
    assert column(pareto, "user") == pytest.approx([1 / 1.75] * 2, rel=1e-5)
    assert column(pareto, "efficient") == ["yes", "yes"]


def test_partial_sweep_says_so(tmp_path: Path) -> None:
    content = ReportContent.of([small_sweep(tmp_path / "sweep", is_complete=False)])
    assert content.sweeps[0].missing_sentence == "1 of 2 runs are not complete and left out."
    assert len(figures_of(content)["sweep-1-rate-ttft"].rows) == 2


def test_configurations_are_named_by_what_differs(tmp_path: Path) -> None:
    path = small_sweep(tmp_path / "sweep")
    assert ReportContent.of([path]).sweeps[0].names == ["vllm"]
    file = path / "sweep.json"
    record = json.loads(file.read_text())
    record["runs"]["vllm,max_num_seqs=4,rate=2"]["max_num_seqs"] = 8
    file.write_text(json.dumps(record))
    assert ReportContent.of([path]).sweeps[0].names == ["max_num_seqs 4", "max_num_seqs 8"]
