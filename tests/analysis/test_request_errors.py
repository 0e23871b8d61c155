from pathlib import Path

import pytest

from analysis.request_errors import LATENCIES, request_errors
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder


def _run(path: Path, *arrivals_s: float, reverse: bool = False, failed: str = "") -> RunColumns:
    """Requests r0, r1, ... that all get their two tokens in the same two steps of a second, from 10 s on."""
    run = RunBuilder(path)
    run.step(start_s=10.0, prefill=[10] * len(arrivals_s))
    run.step(decode=len(arrivals_s))
    numbered = [*enumerate(arrivals_s)]
    for number, arrival_s in numbered[::-1] if reverse else numbered:
        status = "failed" if f"r{number}" == failed else "finished"
        run.request(f"r{number}", arrival_s=arrival_s, emissions=[(0, 2)], status=status)  # type: ignore[arg-type]
    return RunColumns.of(run.build())


def test_requests_are_matched_by_name(tmp_path: Path) -> None:
    """TTFT is 11 s less the arrival: 10, 8 and 6 against 9, 8.5 and 4."""
    a, b = _run(tmp_path / "a", 1.0, 3.0, 5.0), _run(tmp_path / "b", 2.0, 2.5, 7.0, reverse=True)
    errors = {error.latency: error.error for error in request_errors(a, b)}

    assert tuple(errors) == LATENCIES
    assert (errors["ttft"].size, errors["ttft"].bias_s) == (3, -2.5 / 3)
    assert errors["ttft"].mape == 100 * (1 / 10 + 0.5 / 8 + 2 / 6) / 3
    assert errors["e2e"].bias_s == -2.5 / 3
    assert (errors["tpot"].bias_s, errors["tpot"].mape) == (0.0, 0.0)
    assert errors["queue"].bias_percent == pytest.approx(100 * -2.5 / 21)


def test_requests_that_finished_in_one_run_alone_do_not_count(tmp_path: Path) -> None:
    a, b = _run(tmp_path / "a", 1.0, 3.0, 5.0, failed="r0"), _run(tmp_path / "b", 1.5, 3.5)

    errors = {error.latency: error.error for error in request_errors(a, b)}
    assert (errors["ttft"].size, errors["ttft"].bias_s) == (1, -0.5)


def test_spread_is_that_of_the_farthest_repetition(tmp_path: Path) -> None:
    a, near, far = (_run(tmp_path / name, arrival_s) for name, arrival_s in (("a", 1.0), ("n", 1.1), ("f", 2.0)))

    (ttft, *_) = request_errors(a, a, [near, far])
    assert ttft.error.bias_s == 0.0
    assert ttft.spread is not None
    assert ttft.spread.bias_s == -1.0
    assert ttft.as_dict()["spread"]["bias_ms"] == -1000.0
    assert next(request_errors(a, a)).as_dict()["spread"] is None
