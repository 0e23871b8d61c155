from typing import Any

import pytest

from analysis.errors import RunError
from analysis.observation import Observation


def test_engine_knows_everything() -> None:
    assert Observation.of({}) == Observation(by_client=False, has_arrivals=True, duration_s=None)
    assert Observation.of({}).text == ""


def test_client_does_not() -> None:
    seen = Observation.of({"observed_by": "client", "has_arrivals": False, "duration_s": 7})

    assert seen == Observation(by_client=True, has_arrivals=False, duration_s=7)
    assert seen.text == (
        "Recorded by a client: queueing, steps, KV blocks, prefix hits and preemptions are not known. "
        "Arrival times are not known: neither is load over time."
    )


@pytest.mark.parametrize(
    "meta", [{"observed_by": "nobody"}, {"observed_by": None}, {"has_arrivals": 1}, {"duration_s": "long"}]
)
def test_what_cannot_be_is_refused(meta: dict[str, Any]) -> None:
    with pytest.raises(RunError, match=next(iter(meta))):
        Observation.of(meta)
