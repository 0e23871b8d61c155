"""Flags as vLLM spells them."""

import pytest

from sim.flag_synonyms import OURS
from tests.sim.command import command


@pytest.mark.parametrize("theirs", OURS)
def test_a_flag_of_vllm_is_told_what_it_is_here(theirs: str) -> None:
    done = command("replay", "trace.jsonl", theirs, 2)

    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"Error: No such option: {theirs}; it is {OURS[theirs]} here.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sweep", "t", "--gpu_memory_utilization=0.8"), "--gpu-memory-utilization; it is --memory-utilization here"),
        (("profile", "--enforce-eager"), "--enforce-eager; it is --no-cuda-graphs here"),
        (("explain", "--tensor-parallel-size", 2), "--tensor-parallel-size; it is --tp here"),
        (("trace", "info", "t", "--num-prompts=5"), "--num-prompts; it is --limit here"),
    ],
)
def test_other_commands_know_those_of_their_own_options(words: tuple[object, ...], said: str) -> None:
    assert said in command(*words).err


def test_where_there_is_no_such_option_none_is_named() -> None:
    assert "it is" not in command("explain", "--num-prompts", 5).err


def test_what_comes_after_two_dashes_is_no_flag() -> None:
    assert "it is" not in command("replay", "--", "--num-prompts").err
