from pathlib import Path

import pytest

from analysis.errors import RunError
from analysis.vllm_result import VllmResult
from analysis.vllm_times import RequestTimes, request_times, spread_tokens
from tests.analysis.vllm_files import write_result


def _times(path: Path, *leave_out: str, **changes: object) -> list[RequestTimes]:
    return request_times(VllmResult.read(write_result(path / "result.json", *leave_out, **changes)), "result.json")


def test_clock_begins_with_the_first_arrival(tmp_path: Path) -> None:
    assert _times(tmp_path) == [
        RequestTimes(0.0, 0.0, 0.5, 1.25, 1.25, ((0.5, 1), (0.75, 1), (1.25, 1))),
        RequestTimes(0.5, 0.5, 0.75, 1.75, 1.75, ((0.75, 1), (1.75, 1))),
        RequestTimes(2.0, 2.0, None, None, 2.0, ()),
    ]


def test_arrival_is_when_a_request_was_due_not_when_the_client_let_it_go(tmp_path: Path) -> None:
    times = _times(tmp_path, queue_times=[0.0, 1.5, 0.0])

    assert [each.arrival_s for each in times] == [1.0, 0.0, 3.0]
    assert [each.submit_s for each in times] == [1.0, 1.5, 3.0]
    assert times[1].first_s == 1.75


def test_without_start_times_each_request_has_its_own_clock(tmp_path: Path) -> None:
    times = _times(tmp_path, "start_times")

    assert [each.arrival_s for each in times] == [0.0, 0.0, 0.0]
    assert [each.last_s for each in times] == [1.25, 1.25, None]


def test_request_that_was_never_sent_has_no_times(tmp_path: Path) -> None:
    times = _times(tmp_path, start_times=[1000.0, 1000.5, 0.0])

    assert times[2] == RequestTimes(None, None, None, None, None, ())
    assert times[0].arrival_s == 0.0


def test_request_that_failed_on_its_way_was_last_heard_of_with_its_last_chunk(tmp_path: Path) -> None:
    times = _times(tmp_path, errors=["reset", "", ""])

    assert times[0] == RequestTimes(0.0, 0.0, None, None, 1.25, ())


def test_times_are_multiples_of_the_quantum(tmp_path: Path) -> None:
    (first, *_) = _times(tmp_path, ttfts=[0.1, 0.25, 0.0], start_times=[1000.1, 1000.5, 1002.0])

    assert first.first_s is not None
    assert first.first_s * 2**30 == int(first.first_s * 2**30)
    assert first.first_s == pytest.approx(0.1, abs=1e-9)


def test_times_that_are_too_far_apart(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"result\.json: a request ends 1000000001 s after the first was sent; at most"):
        _times(tmp_path, start_times=[0.0, 1e9, 0.0], errors=["", "", "x"])


@pytest.mark.parametrize(
    ("times_s", "num_tokens", "chunks"),
    [
        ([1.0, 2.0, 3.0], 3, ((1.0, 1), (2.0, 1), (3.0, 1))),
        ([1.0, 2.0, 3.0], 5, ((1.0, 1), (2.0, 2), (3.0, 2))),
        ([1.0, 2.0, 3.0], 4, ((1.0, 1), (2.0, 1), (3.0, 2))),
        ([1.0], 4, ((1.0, 4),)),
        ([1.0, 2.0, 3.0, 4.0], 2, ((1.0, 1), (4.0, 1))),
        ([1.0, 2.0, 3.0], 1, ((1.0, 1),)),
        ([1.0, 2.0], 0, ()),
    ],
)
def test_tokens_over_chunks(times_s: list[float], num_tokens: int, chunks: object) -> None:
    assert spread_tokens(times_s, num_tokens) == chunks


@pytest.mark.parametrize("num_chunks", [1, 2, 3, 7])
@pytest.mark.parametrize("num_tokens", range(30))
def test_every_token_has_a_chunk_and_no_chunk_is_empty(num_chunks: int, num_tokens: int) -> None:
    chunks = spread_tokens([float(number) for number in range(num_chunks)], num_tokens)

    assert sum(count for _, count in chunks) == num_tokens
    assert all(count >= 1 for _, count in chunks)
    assert [time_s for time_s, _ in chunks] == sorted({time_s for time_s, _ in chunks})
