import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import RunError
from analysis.vllm_result import VllmRequest, VllmResult
from tests.analysis.vllm_files import GOOD, write_result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "result.json"


def test_requests_and_totals(path: Path) -> None:
    result = VllmResult.read(write_result(path))

    assert result.requests == (
        VllmRequest(10, 3, 0.5, (0.25, 0.5), None, 1000.0, 0.0),
        VllmRequest(20, 2, 0.25, (1.0,), None, 1000.5, 0.0),
        VllmRequest(40, 0, 0.0, (), "TimeoutError: 300 s", 1002.0, 0.0),
    )
    assert result.totals["model_id"] == "Qwen/Qwen3-8B"
    assert result.totals["duration"] == 5.0
    assert "ttfts" not in result.totals
    assert (result.has_start_times, result.is_all_at_once, result.has_texts) == (True, False, True)


def test_older_files_have_no_start_times_and_newer_ones_queue_times(path: Path) -> None:
    assert not VllmResult.read(write_result(path, "start_times", "generated_texts")).has_start_times

    newer = VllmResult.read(write_result(path, queue_times=[0.0, 0.5, 0.0], latencies=[1.25, 1.25, 0.0]))
    assert [request.queue_s for request in newer.requests] == [0.0, 0.5, 0.0]
    assert [request.queue_s for request in VllmResult.read(write_result(path, queue_times=None)).requests] == [0.0] * 3


@pytest.mark.parametrize(
    ("changes", "is_all_at_once"),
    [
        ({"request_rate": "inf"}, True),
        ({"request_rate": float("inf")}, True),
        ({"request_rate": "inf", "max_concurrency": 8}, False),
        ({"request_rate": "inf", "ramp_up_strategy": "linear"}, False),
        ({"request_rate": 3.0}, False),
    ],
)
def test_all_at_once(changes: dict[str, Any], is_all_at_once: bool, path: Path) -> None:
    assert VllmResult.read(write_result(path, **changes)).is_all_at_once is is_all_at_once


def test_request_without_error_and_without_answer_has_failed(path: Path) -> None:
    """Not every failure leaves a text: a server that closes the connection may give no reason."""
    result = VllmResult.read(write_result(path, errors=["", None, ""]))

    assert [request.error for request in result.requests] == [None, None, "no answer"]


def test_request_that_failed_before_it_was_sent_has_no_start(path: Path) -> None:
    result = VllmResult.read(write_result(path, start_times=[1000.0, 1000.5, 0.0]))

    assert [request.start_s for request in result.requests] == [1000.0, 1000.5, None]
    assert result.has_start_times


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ttfts", [0.5, 0.25], r"differ in length: .*'input_lens': 3.*'ttfts': 2"),
        ("start_times", [1.0], "differ in length"),
        ("generated_texts", ["a"], "differ in length"),
        ("input_lens", 7, "input_lens is 7, but it must be a list with one entry a request"),
        ("input_lens", [10, 0, 40], r"input_lens\[1\] is 0, but it must be a whole number of tokens from 1"),
        ("input_lens", [10, 2.5, 40], r"input_lens\[1\] is 2\.5, but"),
        ("output_lens", [3, -1, 0], r"output_lens\[1\] is -1, but it must be a whole number of tokens from 0"),
        ("output_lens", [3, True, 0], r"output_lens\[1\] is True, but"),
        ("ttfts", [0.5, -0.1, 0.0], r"ttfts\[1\] is -0\.1, but it must be a number of seconds from 0"),
        ("ttfts", [0.5, float("nan"), 0.0], r"ttfts\[1\] is nan, but"),
        ("ttfts", [0.5, "soon", 0.0], r"ttfts\[1\] is 'soon', but"),
        ("ttfts", [0.5, 0.0, 0.0], "request 1 has tokens but a ttft of 0; only a benchmark that streams"),
        ("itls", [[0.25, 0.5], 1.0, []], r"itls\[1\] is 1\.0, but it must be a list of seconds"),
        ("itls", [[0.25, None], [1.0], []], r"itls\[0\]\[1\] is None, but"),
        ("input_lens", [10, 10**30, 40], r"input_lens\[1\] is 10+, but it must be .* from 1 to 2147483647"),
        ("output_lens", [3, 10**30, 0], r"output_lens\[1\] is 10+, but it must be .* from 0 to 2147483647"),
        ("ttfts", [0.5, 10**400, 0.0], r"ttfts\[1\] is 10+.*, but it must be"),
        ("itls", [[1e308, 1e308], [1.0], []], r"itls\[0\]\[0\] is 1e\+308, but it must be at most 4194304 seconds"),
        ("start_times", [1000.0, 10**400, 1002.0], r"start_times\[1\] is 10+.*, but it must be"),
        ("start_times", [1000.0, None, 1002.0], r"start_times\[1\] is None, but"),
        ("errors", ["", 3, ""], r"errors\[1\] is 3, but it must be text"),
    ],
)
def test_values_that_cannot_be_are_named(name: str, value: object, sentence: str, path: Path) -> None:
    with pytest.raises(RunError, match=sentence) as caught:
        VllmResult.read(write_result(path, **{name: value}))
    assert str(path) in str(caught.value)


def test_result_without_detail_says_how_to_get_it(path: Path) -> None:
    write_result(path, "input_lens", "output_lens", "ttfts", "itls", "errors", "generated_texts", "start_times")

    with pytest.raises(RunError, match=r"has no input_lens, .*; let vllm bench serve write it with .*--save-detailed"):
        VllmResult.read(path)


def test_result_of_no_request(path: Path) -> None:
    empty: dict[str, Any] = {name: [] for name, value in GOOD.items() if isinstance(value, list)}

    with pytest.raises(RunError, match="holds no request"):
        VllmResult.read(write_result(path, **empty))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[]", "holds a JSON list, but a result of vllm bench serve is an object"),
        (b"\xff\xfe", "is not UTF-8"),
        (json.dumps(GOOD).encode() + b"\n" + json.dumps(GOOD).encode(), r"more than one result \(--append-result\)"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_file_that_is_no_result(content: bytes, sentence: str, path: Path) -> None:
    path.write_bytes(content)

    with pytest.raises(RunError, match=sentence):
        VllmResult.read(path)


def test_file_that_is_not_there(path: Path) -> None:
    with pytest.raises(RunError, match=r"result\.json cannot be read: No such file"):
        VllmResult.read(path)
