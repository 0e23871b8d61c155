"""Keys of prompts that are known by content ids alone, against a slow model that lays out every token."""

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import HashedPrompt, Prompt, VllmPolicy
from tests.engine.driver import Driver, limits, request

Token = tuple[str, int, int]


@dataclass(frozen=True)
class Content:
    """A prompt and its outputs, as given to the engine."""

    num_tokens: int
    content_ids: tuple[int, ...]
    content_block_size: int
    unique_id: int
    outputs: tuple[int, ...] = ()

    def prompt(self) -> HashedPrompt:
        return HashedPrompt(self.num_tokens, self.content_ids, self.content_block_size, self.unique_id)

    def tokens(self) -> list[Token]:
        """Every token as (kind, id, position)."""
        tokens: list[Token] = []
        for position in range(self.num_tokens):
            index = position // self.content_block_size
            if index < len(self.content_ids):
                tokens.append(("id", self.content_ids[index], position))
            else:
                tokens.append(("unique", self.unique_id, position))
        return tokens + [("output", token, self.num_tokens + k) for k, token in enumerate(self.outputs)]

    def keys(self, block_size: int) -> list[int]:
        keys = self.prompt().block_keys(self.outputs, block_size)
        return [keys[i] for i in range((self.num_tokens + len(self.outputs)) // block_size)]


def _common_prefix(one: list[Token], other: list[Token]) -> int:
    for k, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return k
    return min(len(one), len(other))


def _assert_keys_tell_the_prefixes_apart(contents: list[Content], block_size: int) -> None:
    """Equal keys exactly where all tokens from the start to the end of the block are equal."""
    prefix_of: dict[int, tuple[Token, ...]] = {}
    key_of: dict[tuple[Token, ...], int] = {}
    for content in contents:
        tokens = content.tokens()
        for index, key in enumerate(content.keys(block_size)):
            prefix = tuple(tokens[: (index + 1) * block_size])
            assert prefix_of.setdefault(key, prefix) == prefix
            assert key_of.setdefault(prefix, key) == key


@st.composite
def _contents(draw: st.DrawFn) -> list[Content]:
    content_block_size = draw(st.integers(1, 9))
    contents = []
    for _ in range(draw(st.integers(2, 4))):
        num_tokens = draw(st.integers(1, 40))
        most = -(-num_tokens // content_block_size)
        ids = draw(st.lists(st.sampled_from([0, 1, -1]), max_size=most))
        outputs = draw(st.lists(st.sampled_from([0, 1]), max_size=12))
        contents.append(
            Content(num_tokens, tuple(ids), content_block_size, draw(st.sampled_from([0, 1])), tuple(outputs))
        )
    return contents


@given(_contents(), st.integers(1, 9))
def test_keys_are_equal_exactly_where_the_prefixes_are(contents: list[Content], block_size: int) -> None:
    _assert_keys_tell_the_prefixes_apart(contents, block_size)


@given(_contents(), st.integers(1, 9), st.randoms())
def test_keys_do_not_depend_on_the_order_in_which_they_are_asked_for(
    contents: list[Content], block_size: int, random: Random
) -> None:
    for content in contents:
        whole = dict(enumerate(content.keys(block_size)))
        order = list(whole)
        random.shuffle(order)
        keys = content.prompt().block_keys(content.outputs, block_size)
        assert {i: keys[i] for i in order} == whole


@pytest.mark.parametrize("block_size", [16, 48, 256, 511, 512, 513, 1024])
@pytest.mark.parametrize("num_shared", [0, 1, 2, 3])
def test_blocks_inside_the_common_prefix_are_shared_whether_or_not_the_sizes_divide(
    block_size: int, num_shared: int
) -> None:
    shared = (11, 12, 13)[:num_shared]
    one = Content(3000, (*shared, 21, 22, 23, 24)[:5], 512, 100)
    other = Content(2700, (*shared, 31, 32, 33, 34)[:5], 512, 101)

    keys, other_keys = one.keys(block_size), other.keys(block_size)

    num_equal = sum(a == b for a, b in zip(keys, other_keys, strict=False))
    assert num_equal == num_shared * 512 // block_size
    assert keys[:num_equal] == other_keys[:num_equal]
    assert _common_prefix(one.tokens(), other.tokens()) == num_shared * 512
    _assert_keys_tell_the_prefixes_apart([one, other], block_size)


@pytest.mark.parametrize(("block_size", "num_hit"), [(16, 1024), (256, 1024), (48, 1008), (100, 1000)])
def test_scheduler_hits_the_common_prefix_in_tokens(block_size: int, num_hit: int) -> None:
    driver = Driver(
        VllmPolicy(), limits(block_size=block_size, max_num_batched_tokens=8192, max_model_len=8192), num_blocks=500
    )
    driver.add(request("a", HashedPrompt(1500, (1, 2, 3), 512, 0)), request("b", HashedPrompt(1300, (1, 2, 4), 512, 1)))

    assert driver.step().admitted == [("a", 0), ("b", num_hit)]


def test_prompt_that_ends_within_a_content_block_is_the_prefix_of_a_longer_one() -> None:
    driver = Driver(
        VllmPolicy(), limits(block_size=16, max_num_batched_tokens=8192, max_model_len=8192), num_blocks=500
    )
    driver.add(request("short", HashedPrompt(600, (1, 2), 512, 0)), request("long", HashedPrompt(1024, (1, 2), 512, 1)))

    assert driver.step().admitted == [("short", 0), ("long", 592)]


def test_tail_without_an_id_is_shared_by_nobody_else() -> None:
    driver = Driver(
        VllmPolicy(), limits(block_size=16, max_num_batched_tokens=8192, max_model_len=8192), num_blocks=500
    )
    driver.add(*[request(f"{k}", HashedPrompt(1000, (1,), 512, k)) for k in range(2)])

    assert driver.step().admitted == [("0", 0), ("1", 512)]


def test_id_of_a_tail_is_no_content_id() -> None:
    assert Content(16, (5,), 16, 0).keys(4) != Content(16, (), 16, 5).keys(4)


@pytest.mark.parametrize("content_id", [0, -1, 2**63 - 1, -(2**63), 2**64 - 1])
def test_ids_up_to_64_bits_are_told_apart(content_id: int) -> None:
    keys = {Content(4, (each,), 4, 0).keys(4)[0] for each in (content_id, 1, 2**62)}
    assert len(keys) == 3


@given(_contents())
@example([Content(10, (7, 9), 4, 3), Content(8, (7, 9), 4, 3), Content(5, (), 4, 3)])
def test_segments_lay_out_the_same_tokens(contents: list[Content]) -> None:
    for content in contents:
        runs = content.prompt().segments
        assert all(count > 0 for _, count in runs)
        laid_out = [content_id for content_id, count in runs for _ in range(count)]
        assert laid_out == [content_id for kind, content_id, _ in content.tokens() if kind != "output"]


def test_segments_by_example() -> None:
    assert HashedPrompt(10, (7, 9), 4, 3).segments == ((7, 4), (9, 4), (3, 2))
    assert HashedPrompt(6, (7, 9), 4, 3).segments == ((7, 4), (9, 2))
    assert HashedPrompt(4, (7, 9), 4, 3).segments == ((7, 4),)


def test_its_tokens_are_unknown() -> None:
    prompt: Prompt = HashedPrompt(10, (7, 9), 4, 3)
    assert prompt.token_ids is None
    assert prompt.num_tokens == 10
