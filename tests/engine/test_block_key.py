"""Keys are fixed numbers: equal in every process, on every host, for ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import HashedPrompt, Prompt, TokenPrompt
from engine.block_key import ROOT_KEY, chain, token_bytes


def _keys(prompt: Prompt, block_size: int, num_blocks: int, outputs: tuple[int, ...] = ()) -> list[int]:
    keys = prompt.block_keys(outputs, block_size)
    return [keys[i] for i in range(num_blocks)]


def _vectors() -> list[list[int]]:
    return [
        [chain(ROOT_KEY, token_bytes((1, 2, 3, 4))), chain(5, b"")],
        _keys(TokenPrompt(range(8)), 4, 2),
        _keys(TokenPrompt(range(6)), 4, 2, (7, 8)),
        _keys(HashedPrompt(10, (7, -9), 4, 3), 2, 5),
        _keys(HashedPrompt(3, (7,), 512, 3), 2, 2, (7,)),
    ]


EXPECTED = [
    [298306904498433511819994393565799141047, 36119648397474738324225646406910880113],
    [118897388010119558993173352788767811359, 270123703972952607246061510341894645637],
    [118897388010119558993173352788767811359, 4527453351707710119781633268671595950],
    [
        2939203555916655307481944474130072518,
        2939203555916655307481944474130072520,
        238439791535681909664723448299663829286,
        238439791535681909664723448299663829288,
        216624081666771955547221107382671035850,
    ],
    [2939203555916655307481944474130072518, 66905449502150225100453637392840870079],
]


def test_keys_are_the_recorded_numbers() -> None:
    assert _vectors() == EXPECTED


def test_keys_do_not_depend_on_the_process() -> None:  # vllm PR 51875
    done = subprocess.run(
        [sys.executable, "-c", "from tests.engine.test_block_key import _vectors; print(_vectors())"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(EXPECTED)


def test_tokens_are_hashed_as_eight_bytes_each_lowest_first() -> None:
    assert token_bytes((1, 258, -1)) == bytes([1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]) + b"\xff" * 8


def test_key_depends_on_the_parent() -> None:
    assert chain(1, b"x") != chain(2, b"x")
    assert chain(2**128 + 5, b"") != chain(5, b"")  # a key and an offset may exceed 128 bits


@pytest.mark.parametrize("delta", [31, 131, 257, 1_000_003, 2**31 - 1])
def test_shifting_weight_between_neighbours_changes_the_key(delta: int) -> None:  # Megatron-LM PR 4158
    one = _keys(TokenPrompt([100, 200, 300, 400]), 4, 1)
    other = _keys(TokenPrompt([100, 200 + delta, 300 - 1, 400]), 4, 1)
    mirrored = _keys(TokenPrompt([100, 200 + 1, 300 - delta, 400]), 4, 1)

    assert len({*one, *other, *mirrored}) == 3


def test_order_of_tokens_matters() -> None:
    assert _keys(TokenPrompt([1, 2]), 2, 1) != _keys(TokenPrompt([2, 1]), 2, 1)


def test_one_key_for_one_prefix_whatever_the_cut_between_prompt_and_outputs() -> None:
    whole = _keys(TokenPrompt(range(20)), 4, 5)

    for length in range(1, 20):
        assert _keys(TokenPrompt(range(length)), 4, 5, tuple(range(length, 20))) == whole


@pytest.mark.parametrize("prompt", [TokenPrompt(range(6)), HashedPrompt(6, (1, 2), 5, 3)], ids=["tokens", "ids"])
def test_keys_can_be_asked_for_in_any_order_while_outputs_come(prompt: Prompt) -> None:
    outputs: list[int] = []
    keys = prompt.block_keys(outputs, 4)
    first = keys[0]
    outputs += range(6, 20)

    assert [keys[i] for i in (4, 1, 3, 2)] == [_keys(prompt, 4, 5, tuple(outputs))[i] for i in (4, 1, 3, 2)]
    assert keys[0] == first
