from pathlib import Path

import pytest

from engine import Batch, Limits, NanoVllmPolicy, Request, SamplingParams, Scheduler, StepResult, TokenPrompt
from sim.errors import SimError
from sim.logged_tokens import LoggedTokens, load_outputs

GOOD = '{"request_id": "a", "token_ids": [7, 8, 9]}\n{"request_id": "b", "token_ids": [5]}\n'


class _Counted:
    """Tokens 1000, 1001, ..."""

    def __init__(self) -> None:
        self._next = 1000

    def sample(self, batch: Batch) -> tuple[int, ...]:
        first, self._next = self._next, self._next + batch.shape.num_sampled
        return tuple(range(first, self._next))


def test_each_row_gets_its_own_tokens_by_position_and_others_beyond_them() -> None:
    limits = Limits(block_size=4, max_num_batched_tokens=6, max_num_seqs=2, max_model_len=50)
    scheduler = Scheduler(limits, 20, NanoVllmPolicy())
    for name, length in (("a", 5), ("b", 3)):
        params = SamplingParams(max_tokens=4, ignore_eos=True)
        scheduler.add(Request(name, TokenPrompt(range(length)), params))
    tokens = LoggedTokens({"a": (7, 8, 9)}, _Counted())
    outputs: dict[str, tuple[int, ...]] = {}
    while scheduler.has_unfinished:
        batch = scheduler.schedule()
        ended = scheduler.update(batch, StepResult(tokens.sample(batch), 0.0, 0.0))
        outputs |= {each.request_id: each.output_ids for each in ended}

    assert outputs["a"][:3] == (7, 8, 9)
    assert outputs["a"][3] >= 1000
    assert min(outputs["b"]) >= 1000


def test_outputs_are_read_by_request(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_text(GOOD)

    assert load_outputs(tmp_path / "outputs.jsonl", is_complete=True) == {"a": (7, 8, 9), "b": (5,)}


def test_last_line_may_be_cut_off_in_a_run_that_was_stopped(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_text(GOOD + '{"request_id": "c", "tok')

    assert set(load_outputs(tmp_path / "outputs.jsonl", is_complete=False)) == {"a", "b"}
    with pytest.raises(SimError, match=r"outputs\.jsonl line 3 is no output of a request"):
        load_outputs(tmp_path / "outputs.jsonl", is_complete=True)


def test_line_in_the_middle_must_be_whole_in_any_run(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_text("[]\n" + GOOD)

    with pytest.raises(SimError, match="line 1 is no output"):
        load_outputs(tmp_path / "outputs.jsonl", is_complete=False)
