import io
from pathlib import Path

from analysis.comparison import compare
from analysis.comparison_table import print_comparison
from analysis.run import Run
from tests.run_builder import RunBuilder, small_run


def _lines(a: Run, b: Run, *repetitions: Run) -> list[list[str]]:
    out = io.StringIO()
    print_comparison(compare(a, b, repetitions), out)
    assert "\x1b" not in out.getvalue()
    return [line.split() for line in out.getvalue().splitlines()]


def _words(text: str) -> list[str]:
    return text.split()


def _slow(path: Path) -> Run:
    slow = small_run(path, seed=1)
    slow.requests[0] = slow.requests[0]._replace(arrival_s=-1.0)
    return slow.build()


def test_names_warnings_and_metrics(tmp_path: Path) -> None:
    lines = _lines(small_run(tmp_path / "a").build(), _slow(tmp_path / "b"))

    assert lines[:3] == [["A:", f"{tmp_path}/a"], ["B:", f"{tmp_path}/b"], _words("Warning: Seeds differ: 0 and 1.")]
    assert ["metric", "A", "B", "difference", "in", "%"] in lines
    assert ["mean_ttft_ms", "1250.000", "1750.000", "+500.000", "+40.00", "%"] in lines
    assert ["completed", "2", "2", "+0", "+0.00", "%"] in lines
    assert lines[-1] == ["Decisions:", "equal", "in", "every", "step."]


def test_requests_steps_and_levels(tmp_path: Path) -> None:
    lines = _lines(small_run(tmp_path / "a").build(), _slow(tmp_path / "b"))

    assert _words("ttft 2 +500.000 +40.00 % 500.000 50.000 -1.000") in lines
    assert _words("Step by step, error of B over the first 5 steps, which decided alike") in lines
    assert ["mixed", "eager", "1", "+0.000", "+0.00", "%", "0.000", "0.000", "-"] in lines
    assert _words("prefill eager 2 / 2 33.3 / 33.3 1000.000 / 1000.000") == next(
        line[:11] for line in lines if line[:2] == ["prefill", "eager"] and "/" in line
    )
    assert ["waiting", "0.500", "0.500", "+0.000", "0.000"] in lines


def test_spread_and_noise_have_columns_where_runs_were_repeated(tmp_path: Path) -> None:
    a = small_run(tmp_path / "a").build()
    lines = _lines(a, _slow(tmp_path / "b"), _slow(tmp_path / "c"))

    assert ["metric", "A", "B", "difference", "in", "%", "spread"] in lines
    assert ["mean_ttft_ms", "1250.000", "1750.000", "+500.000", "+40.00", "%", "500.000", "noise"] in lines
    assert ["mean_tpot_ms", "1750.000", "1750.000", "+0.000", "+0.00", "%", "0.000"] in lines
    assert _words("ttft 2 +500.000 +40.00 % 500.000 50.000 -1.000 +40.00 % 50.000") in lines


def test_runs_without_anything_print_what_they_have(tmp_path: Path) -> None:
    lines = _lines(RunBuilder(tmp_path / "a").build(), RunBuilder(tmp_path / "b").build())

    assert ["mean_ttft_ms", "-", "-", "-", "-"] in lines
    assert not [line for line in lines if line[:1] == ["class"]]
