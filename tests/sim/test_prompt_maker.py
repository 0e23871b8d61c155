from engine import HashedPrompt, Prompt
from sim.prompt_maker import PromptMaker
from tests.sim.small_world import ask
from traces import TraceRequest


def _keys(request: TraceRequest, *, seed: int = 0, block_size: int = 4) -> list[int]:
    prompt: Prompt = PromptMaker(4, seed, {}).request(request).prompt
    keys = prompt.block_keys((), block_size)
    return [keys[i] for i in range(prompt.num_tokens // block_size)]


def test_request_has_the_traces_lengths_and_ends_at_them() -> None:
    request = PromptMaker(4, 0, {}).request(ask("a", prompt=9, output=7, priority=2))

    assert (request.request_id, request.priority, request.prompt.num_tokens) == ("a", 2, 9)
    assert (request.params.max_tokens, request.params.ignore_eos) == (7, True)


def test_equal_leading_ids_are_equal_leading_content() -> None:
    first, second = (_keys(ask(name, prompt=12, hash_ids=(1, 2, last))) for name, last in (("a", 3), ("b", 4)))

    assert first[:2] == second[:2]
    assert first[2] != second[2]


def test_prompts_without_ids_are_unique_for_each_request_and_seed() -> None:
    keys = [_keys(ask(name, prompt=8), seed=seed)[0] for name in ("a", "b") for seed in (0, 1)]

    assert len(set(keys)) == 4


def test_tail_without_an_id_is_unique_and_the_same_every_time() -> None:
    request = ask("a", prompt=10, hash_ids=(1, 2))

    assert _keys(request, block_size=5) == _keys(request, block_size=5)
    assert _keys(request, block_size=5)[1] != _keys(ask("b", prompt=10, hash_ids=(1, 2)), block_size=5)[1]
    assert isinstance(PromptMaker(4, 0, {}).request(request).prompt, HashedPrompt)
