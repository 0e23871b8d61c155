from pathlib import Path
from typing import Any

import pytest

from analysis.errors import SloError
from analysis.run_columns import RunColumns
from analysis.slo import Slo
from tests.run_builder import RunBuilder, small_run


def test_parse() -> None:
    assert Slo.parse("ttft=500ms, tpot=50ms,itl=0.1s,e2el=1min").limits_s == {
        "ttft": 0.5,
        "tpot": pytest.approx(0.05),
        "itl": 0.1,
        "e2e": 60.0,
    }


@pytest.mark.parametrize("text", ["", "ttft", "ttft=5", "speed=5s", "ttft=1s,ttft=2s", "ttft=1s,,", "e2e=1s,e2el=1s"])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(SloError):
        Slo.parse(text)


@pytest.mark.parametrize("text", ["ttft_p90=500ms", "p99_TPOT=50ms", "mean_e2el=1s"])
def test_a_limit_on_a_percentile_is_told_what_limits_are(text: str) -> None:
    with pytest.raises(SloError, match=r"A limit is for each request; .* such as --attainment 0\.9\."):
        Slo.parse(text)


@pytest.mark.parametrize("limits", [{"speed": 1.0}, {"ttft": "1s"}, {"ttft": float("nan")}, {"ttft": True}])
def test_limits_that_have_no_meaning(limits: dict[str, Any]) -> None:
    with pytest.raises(SloError, match="is not seconds"):
        Slo.of(limits)


@pytest.mark.parametrize(
    ("limits", "good"),
    [
        ({"ttft": 1.0}, [True, False, False]),
        ({"ttft": 1.5}, [True, True, False]),
        ({"tpot": 1.75}, [True, False, False]),
        ({"itl": 2.5}, [True, False, False]),
        ({"e2e": 4.0}, [True, False, False]),
        ({"ttft": 9.0, "e2e": 5.0}, [True, False, False]),
        ({}, [True, True, False]),
    ],
)
def test_which_requests_are_good(tmp_path: Path, limits: dict[str, float], good: list[bool]) -> None:
    columns = RunColumns.of(small_run(tmp_path).build())
    assert Slo(limits).is_good(columns).tolist() == good


def test_one_token_meets_tpot_and_itl(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=1)
    builder.request("a", emissions=[(0, 1)])
    columns = RunColumns.of(builder.build())
    assert Slo({"tpot": 0.0, "itl": 0.0}).is_good(columns).tolist() == [True]
