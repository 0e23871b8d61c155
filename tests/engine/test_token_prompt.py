from hypothesis import given
from hypothesis import strategies as st

from engine import TokenPrompt, VllmPolicy
from tests.engine.driver import Driver, limits, request

_TOKENS = st.lists(st.integers(0, 1), max_size=24)


def _keys(prompt: list[int], outputs: list[int], block_size: int) -> list[int]:
    keys = TokenPrompt(prompt).block_keys(outputs, block_size)
    return [keys[i] for i in range((len(prompt) + len(outputs)) // block_size)]


@given(st.lists(st.tuples(_TOKENS, _TOKENS), min_size=2, max_size=4), st.integers(1, 5))
def test_keys_are_equal_exactly_where_the_tokens_are(contents: list[tuple[list[int], list[int]]], size: int) -> None:
    prefix_of: dict[int, tuple[int, ...]] = {}
    key_of: dict[tuple[int, ...], int] = {}
    for prompt, outputs in contents:
        tokens = [*prompt, *outputs]
        for index, key in enumerate(_keys(prompt, outputs, size)):
            prefix = tuple(tokens[: (index + 1) * size])
            assert prefix_of.setdefault(key, prefix) == prefix
            assert key_of.setdefault(prefix, key) == key


def test_prompt_tells_its_tokens() -> None:
    prompt = TokenPrompt([5, 6, 7])
    assert (prompt.token_ids, prompt.num_tokens, prompt.segments) == ((5, 6, 7), 3, ())


def test_answer_that_goes_on_into_the_next_prompt_is_hit() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=32)
    driver.add(request("turn-1", range(10), max_tokens=8))
    driver.finish()
    # 10 + 8 tokens, of which all but the last were computed: 17, so 4 full blocks.
    turn_2 = [*range(10), *driver.ended["turn-1"].output_ids, 20, 21, 22]
    driver.add(request("turn-2", turn_2, max_tokens=8))
    steps = driver.finish()
    turn_3 = [*turn_2, *driver.ended["turn-2"].output_ids, 30]
    driver.add(request("turn-3", turn_3))

    assert steps[0].admitted == [("turn-2", 16)]
    assert driver.step().admitted == [("turn-3", 28)]  # 21 + 8 - 1 computed


def test_answer_is_hit_while_it_is_still_being_generated() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=32)
    driver.add(request("a", range(10), max_tokens=50))
    driver.steps(4)  # computed 13, the outputs are 1010 .. 1013
    driver.add(request("b", [*range(10), 1010, 1011, 1012, 1013, 5]))

    assert driver.step().admitted == [("b", 12)]
