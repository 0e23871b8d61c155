"""Prompts in, outputs out."""

from typing import Any

import pytest

from engine import LLM, Batch, NanoVllmPolicy, RequestError, RequestOutput, SamplingParams, SettingError, StepResult
from tests.engine.fakes import END_TOKEN, ByteTokenizer, ScriptedBackend


def _llm(script: str | list[int] = "abcdefgh", num_blocks: int = 64, **settings: Any) -> LLM:
    tokens = list(script.encode()) if isinstance(script, str) else script
    return LLM(ScriptedBackend(tokens, num_blocks), ByteTokenizer(), block_size=4, **settings)


def _params(max_tokens: int, *, ignore_eos: bool = False, stop: set[int] | None = None) -> SamplingParams:
    return SamplingParams(max_tokens=max_tokens, ignore_eos=ignore_eos, stop_token_ids=frozenset(stop or ()))


def test_text_comes_back_for_text() -> None:
    assert _llm().generate(["Hi"], _params(3)) == [
        RequestOutput(
            request_id="request-0",
            prompt_token_ids=(72, 105),
            token_ids=(97, 98, 99),
            text="abc",
            status="finished",
            finish_reason="length",
        )
    ]


def test_prompts_may_be_texts_and_token_ids() -> None:
    outputs = _llm().generate(["Hi", [72, 105], (1, 2, 3)], _params(2))

    assert [output.prompt_token_ids for output in outputs] == [(72, 105), (72, 105), (1, 2, 3)]
    assert [output.text for output in outputs] == ["ab"] * 3


def test_without_a_tokenizer_token_ids_come_back_for_token_ids() -> None:
    llm = LLM(ScriptedBackend([7, 8, 9]), block_size=4)

    (output,) = llm.generate([[1, 2, 3]], _params(4))

    assert output.token_ids == (7, 8, 9, 7)
    assert output.text is None


def test_text_without_a_tokenizer_is_refused() -> None:
    llm = LLM(ScriptedBackend([7]))

    for call in (lambda: llm.generate(["Hi"]), lambda: llm.chat([]), lambda: next(llm.stream([1]))):
        with pytest.raises(RequestError) as error:
            call()
        assert str(error.value) == ("There is no tokenizer; give LLM one, or use lists of token ids and `generate`.")
    assert not llm.has_unfinished


def test_outputs_come_in_the_order_of_the_prompts() -> None:
    params = [_params(5), _params(1), _params(3)]

    assert [each.text for each in _llm().generate(["x", "y", "z"], params)] == ["abcde", "a", "abc"]


def test_default_is_sixteen_tokens() -> None:
    assert [each.text for each in _llm().generate(["x", "y"])] == ["abcdefghabcdefgh"] * 2


def test_no_prompts_no_outputs() -> None:
    assert _llm().generate([]) == []


def test_lists_that_do_not_match_are_refused_before_anything_is_queued() -> None:
    llm = _llm()

    with pytest.raises(RequestError) as error:
        llm.generate(["x", "y"], [_params(1)])

    assert str(error.value) == "There are 2 prompts but 1 sampling params; give one or as many."
    assert not llm.has_unfinished


def test_prompt_that_cannot_be_served_is_refused_before_anything_is_queued() -> None:
    llm = _llm(max_model_len=8)

    with pytest.raises(RequestError, match="The prompt of 'request-1' has 8 tokens; it must be shorter"):
        llm.generate(["x", "12345678"])
    assert not llm.has_unfinished
    assert [each.text for each in llm.generate(["x"], _params(2))] == ["ab"]


@pytest.mark.parametrize(
    ("prompts", "params", "message"),
    [
        (
            [1, 2, 3],
            None,
            "Prompt 0 is 1; a prompt is a text or a list of token ids, and even a single list of",
        ),
        (["x", None], None, "Prompt 1 is None; a prompt is a text or a list of token ids"),
        (["x", [1.5]], None, "Prompt 1 is [1.5]; a prompt is a text or a list of token ids"),
        (["x", [4, -1]], None, "Prompt 1 has token id -1; token ids begin at 0 and lie below 2**63."),
        ([[2**63]], None, "Prompt 0 has token id 9223372036854775808; token ids begin at 0 and"),
        (["x", b"bytes"], None, "Prompt 1 is b'bytes'; a prompt is a text or a list of token ids"),
        ([[True, False]], None, "Prompt 0 is [True, False]; a prompt is a text or a list of token ids"),
        ([{3, 4}], None, "Prompt 0 is {3, 4}; a prompt is a text or a list of token ids"),
        (["x", "half \ud83d"], None, "Prompt 1 holds '\\ud83d', which is one half of a character; join the halves"),
        (None, None, "Prompts are None; give a list of them."),
        ({"x", "y"}, None, "Prompts are {'x', 'y'}; give a list of them."),
        (iter(["x"]), None, "Prompts are <list_it"),
        (["x"], iter([]), "Sampling params are <list_it"),
        (["x"], {"max_tokens": 3}, "Sampling params are {'max_tokens': 3}; give SamplingParams(...), one or a list of"),
        (["x"], ["greedy"], "Sampling params are 'greedy'; give SamplingParams(...)"),
    ],
)
def test_what_is_no_prompt_or_no_params_is_refused_before_anything_is_queued(
    prompts: Any, params: Any, message: str
) -> None:
    llm = _llm()

    with pytest.raises(RequestError) as error:
        llm.generate(prompts, params)

    assert str(error.value).startswith(message)
    assert not llm.has_unfinished


def test_end_token_of_the_model_ends_and_is_kept() -> None:
    llm = _llm([97, 98, END_TOKEN, 99])

    (output,) = llm.generate(["x"], _params(9))

    assert output.token_ids == (97, 98, 256)
    assert (output.text, output.finish_reason) == ("ab", "stop")


def test_end_token_is_ignored_on_demand() -> None:
    (output,) = _llm([97, 98, END_TOKEN, 99]).generate(["x"], _params(5, ignore_eos=True))

    assert output.token_ids == (97, 98, 256, 99, 97)
    assert output.finish_reason == "length"


@pytest.mark.parametrize("ignore_eos", [False, True])
def test_stop_token_ends_whether_or_not_the_end_token_does(ignore_eos: bool) -> None:
    (output,) = _llm().generate(["x"], _params(9, ignore_eos=ignore_eos, stop={99, 102}))

    assert output.token_ids == (97, 98, 99)
    assert output.finish_reason == "stop"


def test_stop_token_in_the_last_place_counts_as_a_stop() -> None:
    (output,) = _llm().generate(["x"], _params(3, stop={99}))

    assert (output.text, output.finish_reason) == ("abc", "stop")


def test_stop_token_of_one_request_does_not_end_another() -> None:
    outputs = _llm().generate(["x", "y"], [_params(4, stop={98}), _params(4)])

    assert [output.text for output in outputs] == ["ab", "abcd"]


def test_stop_token_is_seen_when_requests_without_one_have_ended() -> None:
    llm = LLM(ScriptedBackend(list(b"abcd")), block_size=4)

    outputs = llm.generate([[1], [2]], [_params(1), _params(9, stop={99})])

    assert [output.token_ids for output in outputs] == [(97,), (97, 98, 99)]


def test_output_ends_at_the_model_length() -> None:
    (output,) = _llm(max_model_len=5).generate(["xyz"], _params(100))

    assert (output.text, output.finish_reason) == ("ab", "length")


def test_output_that_outgrows_the_pool_fails_and_the_others_are_served() -> None:
    outputs = _llm(num_blocks=2).generate(["1234567", "x"], _params(4))

    assert [(output.text, output.status) for output in outputs] == [("ab", "failed"), ("abcd", "finished")]
    assert outputs[0].finish_reason == "It has grown to 9 tokens, which need 3 blocks of 4; the pool has 2."


def test_chat_lays_out_the_conversation() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]

    output = _llm().chat(messages, _params(2))

    assert bytes(output.prompt_token_ids).decode() == "system: Be brief.\nuser: Hi\nassistant: "
    assert output.text == "ab"


def test_second_turn_of_a_chat_hits_the_first() -> None:
    backend = ScriptedBackend(list(b"OK"))
    llm = LLM(backend, ByteTokenizer(), block_size=4)
    messages = [{"role": "user", "content": "Hello"}]
    answer = llm.chat(messages, _params(2))
    assert answer.text == "OK"
    llm.chat([*messages, {"role": "assistant", "content": "OK"}, {"role": "user", "content": "?"}], _params(1))

    # "user: Hello\nassistant: OK" has 25 tokens, of which the last was never computed.
    assert backend.batches[-1].admitted[0].num_hit_tokens == 24


def test_callback_sees_every_executed_step() -> None:
    seen: list[tuple[Batch, StepResult]] = []
    backend = ScriptedBackend([97])
    LLM(backend, block_size=4).generate([[1], [2]], [_params(1), _params(3)], on_step=lambda *step: seen.append(step))

    assert [batch for batch, _ in seen] == backend.batches
    assert [batch.request_ids for batch, _ in seen] == [("request-0", "request-1"), ("request-1",), ("request-1",)]
    assert [result.token_ids for _, result in seen] == [(97, 97), (97,), (97,)]


def test_limits_and_policy_are_settings() -> None:
    backend = ScriptedBackend([97])
    llm = LLM(backend, policy=NanoVllmPolicy(), block_size=4, max_num_seqs=1)
    llm.generate([[1], [2]], _params(1))

    assert [batch.request_ids for batch in backend.batches] == [("request-0",), ("request-1",)]


def test_unknown_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingError) as error:
        LLM(ScriptedBackend([97]), max_seqs=3, block=2)
    assert str(error.value) == (
        "Unknown setting block, max_seqs; known: block_size, max_num_batched_tokens, max_num_seqs, max_model_len."
    )


def test_backend_is_closed_at_the_end() -> None:
    backend = ScriptedBackend([97])
    with LLM(backend):
        assert not backend.is_closed
    assert backend.is_closed
