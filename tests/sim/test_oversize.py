from pathlib import Path

import pytest

from sim.errors import SimError
from sim.oversize import handle_oversize
from tests.sim.small_world import ask
from traces import Trace, TraceRequest, read_trace, write_trace


def _trace(*requests: TraceRequest, block_size: int = 4) -> Trace:
    return Trace(name="t.jsonl", requests=requests, block_size=block_size)


MIXED = _trace(ask("fits", prompt=10), ask("over", prompt=11, output=3, line=2), ask("far", prompt=90, line=3))


def test_fail_leaves_the_trace_to_the_scheduler() -> None:
    assert handle_oversize(MIXED, 10, "fail") is MIXED


@pytest.mark.parametrize("rule", ["error", "fail", "truncate"])
def test_trace_that_fits_is_left_alone(rule: str) -> None:
    assert handle_oversize(MIXED, 90, rule) is MIXED  # type: ignore[arg-type] # one of the literals


def test_error_names_the_first_line_the_length_and_how_many() -> None:
    with pytest.raises(
        SimError, match=r"t\.jsonl line 2: the prompt has 11 tokens and at most 10 can be served .*2 req"
    ):
        handle_oversize(MIXED, 10, "error")


def test_truncate_leaves_room_for_the_output_and_says_so() -> None:
    trace = handle_oversize(MIXED, 10, "truncate")

    assert [request.input_length for request in trace.requests] == [10, 8, 9]
    assert [request.output_length for request in trace.requests] == [2, 3, 2]
    assert trace.notices == ("2 prompts of more than 10 tokens were cut.",)


def test_truncate_keeps_a_token_of_a_prompt_whose_output_fills_everything() -> None:
    trace = handle_oversize(_trace(ask("a", prompt=20, output=500)), 10, "truncate")

    assert trace.requests[0].input_length == 1


@pytest.mark.parametrize(
    ("prompt", "ids", "output", "kept"),
    [
        (21, (1, 2, 3, 4, 5, 6), 2, (1, 2, 3)),  # ceil: 9 tokens left are three blocks, the last one cut
        (21, (1, 2, 3, 4, 5), 2, (1, 2)),  # floor: the partial block has no id
        (21, (1, 2, 3, 4, 5), 3, (1, 2)),  # 8 tokens left are two whole blocks
        (21, (1, 2, 3, 4, 5), 9, ()),  # 2 tokens left have no whole block
        (21, None, 2, None),
    ],
)
def test_truncate_cuts_the_ids_as_the_trace_counts_them(
    prompt: int, ids: tuple[int, ...] | None, output: int, kept: tuple[int, ...] | None, tmp_path: Path
) -> None:
    cut = handle_oversize(_trace(ask("a", prompt=prompt, output=output, hash_ids=ids)), 10, "truncate")

    assert cut.requests[0].hash_ids == kept
    write_trace(cut, tmp_path / "t.jsonl.zst")
    assert read_trace(tmp_path / "t.jsonl.zst") == cut


def test_ids_of_a_request_that_fits_stay() -> None:
    fits = ask("fits", prompt=8, hash_ids=(1, 2))

    cut = handle_oversize(_trace(fits, ask("over", prompt=21, hash_ids=(1, 2, 3, 4, 5), line=2)), 10, "truncate")

    assert cut.requests[0] is fits
