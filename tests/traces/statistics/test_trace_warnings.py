from collections.abc import Iterable

import pytest

from tests.traces.requests import single
from traces import TraceRequest
from traces.statistics import TraceProfiler


def warnings_of(
    requests: Iterable[TraceRequest], max_model_len: int | None = None, dropped: dict[str, int] | None = None
) -> tuple[str, ...]:
    profiler = TraceProfiler(512, max_model_len)
    for request in requests:
        profiler.add(request)
    return profiler.profile([], dropped or {}).warnings


def steady(num: int = 100) -> list[TraceRequest]:
    return [single(at, at + 0.5, 10 + at, 50 + at) for at in range(num)]


def test_a_trace_like_any_other_has_none() -> None:
    assert warnings_of(steady(), 1000) == ()


def test_requests_that_are_too_long_are_counted() -> None:
    (warning,) = warnings_of(steady(), 255)
    assert warning.startswith("2 requests (2 %) are longer than 255 tokens, prompt and output together")


def test_whole_seconds_with_ties() -> None:
    requests = [single(at, float(at // 2), 10 + at, 50 + at) for at in range(40)]
    (warning,) = warnings_of(requests)
    assert warning.startswith(
        "40 arrivals (100 %) have the same time as another; different times lie at least 1 s apart"
    )


def test_all_at_one_time() -> None:
    (warning,) = warnings_of([single(at, 3.0, 10 + at, 50 + at) for at in range(40)])
    assert warning.startswith("All requests arrive at one time")


def test_a_rate_of_a_wrong_unit() -> None:
    (warning,) = warnings_of([single(at, at / 4096, 10 + at, 50 + at) for at in range(40)])
    assert warning.startswith("A rate of 4,201 a second is doubtful")


def test_a_long_silence() -> None:
    requests = [*steady(50), *(single(at, at + 400.0, 10 + at, 50 + at) for at in range(50, 100))]
    (warning,) = warnings_of(requests)
    assert warning.startswith("Nothing arrives for 400 of 498 s")


def test_equal_lengths() -> None:
    requests = [single(at, float(at), 512 if at % 4 == 0 else 10 + at, 50 + at) for at in range(40)]
    assert warnings_of(requests) == ("25 % of prompts have exactly 512 tokens: synthetic, or cut at a limit?",)


def test_lengths_that_pile_up_at_the_longest() -> None:
    requests = [single(at, float(at), 10 + at, min(50 + at, 480)) for at in range(450)]
    (warning,) = warnings_of(requests)
    assert warning == "4.44 % of outputs have the longest length, 480 tokens: they seem to be cut there."


def test_dropped_rows_are_said_by_reason() -> None:
    found = warnings_of(steady(), dropped={"ContextTokens is 0": 1200})
    assert found == ("1,200 rows are not replayed because ContextTokens is 0.",)


@pytest.mark.parametrize("num", [1, 2, 5])
def test_few_requests_say_little(num: int) -> None:
    assert warnings_of(single(at, float(at), 512, 512) for at in range(num)) == ()
