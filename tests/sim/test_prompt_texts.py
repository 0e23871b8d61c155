from collections.abc import Mapping, Sequence

from engine import IncrementalDecoder
from sim.prompt_texts import tokenise
from tests.sim.small_world import ask
from traces import Trace, TraceRequest


class _Words:
    """A token a word: its length. Prompts are encoded; nothing else is asked for."""

    end_token_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        return [len(word) for word in text.split()]

    def decode(self, token_ids: Sequence[int]) -> str:
        raise AssertionError("prompts are only encoded")

    def decoder(self) -> IncrementalDecoder:
        raise AssertionError("prompts are only encoded")

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        raise AssertionError("prompts are only encoded")


def _text(request_id: str, prompt: str, length: int, line: int = 1) -> TraceRequest:
    hash_ids = (1,)
    return TraceRequest(
        request_id=request_id,
        line=line,
        input_length=length,
        output_length=1,
        arrival_s=0.0,
        prompt=prompt,
        hash_ids=hash_ids,
    )


def _trace(*requests: TraceRequest) -> Trace:
    return Trace(name="t.jsonl", requests=requests)


def test_trace_without_texts_is_left_alone() -> None:
    trace = _trace(ask("a", hash_ids=(1,)))

    assert tokenise(trace, _Words()) == (trace, {})
    assert tokenise(trace, _Words())[0].notices == ()


def test_texts_become_tokens_with_their_real_length() -> None:
    trace, token_ids = tokenise(
        _trace(_text("a", "to be or not", 4), _text("b", "one", 9, line=2), ask("c", line=3, hash_ids=(7,))), _Words()
    )

    assert token_ids == {"a": (2, 2, 2, 3), "b": (3,)}
    assert [request.input_length for request in trace.requests] == [4, 1, 4]
    assert [request.hash_ids for request in trace.requests] == [None, None, (7,)]
    assert trace.notices == ("2 prompt texts were tokenised; 1 have another length than the trace says.",)


def test_without_a_tokenizer_texts_count_as_unique_and_a_notice_says_so() -> None:
    trace, token_ids = tokenise(_trace(_text("a", "to be or not", 4)), None)

    assert token_ids == {}
    assert trace.requests[0].input_length == 4
    assert trace.notices[0].startswith("1 prompts are texts; without a tokenizer they count as unique")
