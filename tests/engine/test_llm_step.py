"""Serving step by step: add, step, abort, stream; and what an interruption leaves behind."""

import pytest

from engine import LLM, BackendError, Ended, RequestError, SamplingParams, View, VllmPolicy
from tests.engine.fakes import ByteTokenizer, ScriptedBackend


def _llm(script: str = "abcdefgh") -> tuple[LLM, ScriptedBackend]:
    backend = ScriptedBackend(list(script.encode()))
    return LLM(backend, ByteTokenizer(), block_size=4), backend


def _params(max_tokens: int) -> SamplingParams:
    return SamplingParams(max_tokens=max_tokens)


def test_requests_are_added_and_stepped() -> None:
    llm, _ = _llm()
    assert llm.add_request("x", _params(2)) == "request-0"
    assert llm.add_request([1, 2], _params(1), request_id="mine") == "mine"

    first, second = llm.step(), llm.step()

    assert first.new_tokens == {"request-0": 97, "mine": 97}
    assert first.ended == (Ended("mine", "finished", "length", (97,)),)
    assert second.new_tokens == {"request-0": 98}
    assert second.ended == (Ended("request-0", "finished", "length", (97, 98)),)
    assert not llm.has_unfinished
    assert llm.step() == ({}, ())


def test_id_in_use_is_refused() -> None:
    llm, _ = _llm()
    llm.add_request("x", request_id="mine")

    with pytest.raises(RequestError, match="Request id 'mine' is in use"):
        llm.add_request("y", request_id="mine")


def test_request_is_aborted_once() -> None:
    llm, _ = _llm()
    llm.add_request("x", _params(9), request_id="mine")
    llm.step()

    assert llm.abort("mine") == Ended("mine", "aborted", "abort", (97,))
    assert llm.abort("mine") is None
    assert llm.abort("never added") is None
    assert not llm.has_unfinished


def test_stream_never_splits_a_character() -> None:
    text = "aé€😀z"
    llm, _ = _llm(text)

    pieces = list(llm.stream("x", _params(len(text.encode()))))

    assert pieces == ["a", "é", "€", "😀", "z"]


def test_stream_ends_with_what_was_held_back() -> None:
    llm, _ = _llm("a€")

    assert list(llm.stream("x", _params(3))) == ["a", "\ufffd"]


def test_stream_gives_the_text_that_generate_gives() -> None:
    text = "Größe: 5 €"
    for max_tokens in range(1, len(text.encode()) + 1):
        (llm, _), (other, _) = _llm(text), _llm(text)
        (output,) = other.generate(["x"], _params(max_tokens))
        assert "".join(llm.stream("x", _params(max_tokens))) == output.text


def test_stream_that_is_closed_aborts_its_request() -> None:
    llm, _ = _llm()
    stream = llm.stream("x", _params(9))
    assert next(stream) == "a"

    stream.close()  # type: ignore[attr-defined]  # it is a generator

    assert not llm.has_unfinished


def test_stream_whose_request_fails_raises() -> None:
    llm, backend = _llm()
    backend.errors[2] = BackendError("The device is lost.")
    stream = llm.stream("x", _params(9))
    assert [next(stream), next(stream)] == ["a", "b"]

    with pytest.raises(BackendError, match=r"The device is lost\."):
        next(stream)
    assert not llm.has_unfinished


def test_backend_error_ends_the_rows_of_its_batch_and_the_engine_lives_on() -> None:
    llm, backend = _llm()
    backend.errors[1] = BackendError("Out of memory.")

    outputs = llm.generate(["x", "y"], [_params(1), _params(3)])

    assert [(each.text, each.status, each.finish_reason) for each in outputs] == [
        ("a", "finished", "length"),
        ("a", "failed", "Out of memory."),
    ]
    assert [each.text for each in llm.generate(["z"], _params(3))] == ["abc"]


def test_blocks_of_a_batch_that_could_not_be_executed_are_not_hit() -> None:
    llm, backend = _llm()
    backend.errors[0] = BackendError("Out of memory.")
    llm.generate([list(range(9))], _params(1))
    llm.generate([list(range(9))], _params(1))

    assert [batch.admitted[0].num_hit_tokens for batch in backend.batches] == [0, 0]


def test_failed_row_is_reported_and_the_others_live_on() -> None:
    llm, backend = _llm()
    backend.failed[1] = {"request-0": "Its logits are not finite."}

    outputs = llm.generate(["x", "y"], _params(3))

    assert [(each.text, each.status, each.finish_reason) for each in outputs] == [
        ("a", "failed", "Its logits are not finite."),
        ("abc", "finished", "length"),
    ]


def test_interrupted_generate_leaves_no_live_request() -> None:
    llm, backend = _llm()
    backend.errors[1] = KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        llm.generate(["x", "y"], [_params(1), _params(9)])

    assert not llm.has_unfinished
    assert [each.text for each in llm.generate(["z"], _params(3))] == ["abc"]


def test_interruption_by_the_callback_leaves_no_live_request() -> None:
    llm, _ = _llm()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        llm.generate(["x", "y"], _params(9), on_step=interrupt)
    assert not llm.has_unfinished


class Bounded:
    """Policy `vllm` for at most 50 steps, so that an endless loop ends."""

    def __init__(self) -> None:
        self.num_steps = 0

    def select(self, view: View) -> None:
        """Schedule as policy `vllm`."""
        self.num_steps += 1
        assert self.num_steps < 50, "endless loop"
        VllmPolicy().select(view)


class Eager:
    """Policy `vllm` that admits the next one in the step in which a lone sequence fails."""

    def select(self, view: View) -> None:
        """Schedule as policy `vllm`; admit if nothing came of it."""
        VllmPolicy().select(view)
        if view.num_rows == 0 and view.waiting:
            seq = view.waiting.first()
            view.admit(seq, [], seq.num_tokens)


def test_request_that_outgrows_the_pool_is_told_with_the_tokens_of_the_same_step() -> None:
    llm = LLM(ScriptedBackend([97, 98, 99], num_blocks=2), policy=Eager(), block_size=4)
    llm.add_request(list(range(7)), _params(9))
    llm.add_request([1, 2, 3], _params(1))
    llm.step()
    llm.step()

    progress = llm.step()

    assert [(each.request_id, each.status) for each in progress.ended] == [
        ("request-0", "failed"),
        ("request-1", "finished"),
    ]
    assert progress.new_tokens == {"request-1": 97}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("a bug of the backend")])
def test_blocks_of_an_interrupted_step_are_not_hit(error: BaseException) -> None:
    llm, backend = _llm()
    backend.errors[0] = error
    with pytest.raises(type(error)):
        llm.generate([list(range(9))], _params(1))
    llm.generate([list(range(9))], _params(1))

    assert [batch.admitted[0].num_hit_tokens for batch in backend.batches] == [0, 0]


def test_generate_serves_its_prompts_though_other_requests_are_live() -> None:
    llm, _ = _llm()
    llm.add_request("x", _params(1))

    assert [each.text for each in llm.generate(["y"], _params(3))] == ["abc"]


@pytest.mark.parametrize("serve", ["generate", "stream"])
def test_request_aborted_from_outside_ends_the_call(serve: str) -> None:
    llm = LLM(ScriptedBackend([97, 98, 99]), ByteTokenizer(), policy=Bounded(), block_size=4)

    def abort(*_: object) -> None:
        llm.abort("request-0")

    if serve == "generate":
        (output,) = llm.generate(["x"], _params(9), on_step=abort)
        assert (output.status, output.token_ids) == ("aborted", (97,))
    else:
        stream = llm.stream("x", _params(9))
        assert next(stream) == "a"
        abort()
        assert list(stream) == []


def test_streams_side_by_side_each_give_their_whole_text() -> None:
    llm = LLM(ScriptedBackend([97, 98, 99]), ByteTokenizer(), policy=Bounded(), block_size=4)
    one, other = llm.stream("x", _params(3)), llm.stream("y", _params(3))

    pieces = [next(one), next(other), *one, *other]

    assert "".join(pieces[:1] + pieces[2:4]) == "abc"
    assert "".join(pieces[1:2] + pieces[4:]) == "abc"


def test_token_of_a_failed_row_is_not_given_out() -> None:
    llm, backend = _llm()
    backend.failed[0] = {"request-0": "Its logits are not finite."}
    llm.add_request("x", _params(3))

    assert llm.step().new_tokens == {}
