"""Which limits an engine has before a backend with limits of its own."""

import pytest

from engine import LLM, Limits, SamplingParams, SettingError
from engine.backend_limits import limits_for
from tests.engine.fakes import ScriptedBackend

OWN = Limits(block_size=32, max_num_batched_tokens=64, max_num_seqs=4, max_model_len=100)


class _LimitedBackend(ScriptedBackend):
    limits = OWN


@pytest.fixture
def backend() -> _LimitedBackend:
    return _LimitedBackend([7, 8])


def test_a_backend_without_limits_takes_any() -> None:
    assert limits_for(ScriptedBackend([7]), {"block_size": 4}) == Limits(block_size=4)


def test_limits_that_are_not_given_are_the_backends(backend: _LimitedBackend) -> None:
    assert limits_for(backend, {}) == OWN


def test_limits_may_be_smaller_than_the_backends(backend: _LimitedBackend) -> None:
    smaller = {"max_num_batched_tokens": 9, "max_num_seqs": 2, "max_model_len": 50}

    assert limits_for(backend, smaller) == Limits(block_size=32, **smaller)


@pytest.mark.parametrize("block_size", [16, 64])
def test_blocks_of_another_size_are_refused(backend: _LimitedBackend, block_size: int) -> None:
    with pytest.raises(SettingError) as error:
        limits_for(backend, {"block_size": block_size})
    assert str(error.value) == (
        f"block_size is {block_size}, but the backend's blocks have 32 tokens; leave it out here, or make the backend "
        "with it."
    )


@pytest.mark.parametrize("name", ["max_num_batched_tokens", "max_num_seqs", "max_model_len"])
def test_more_than_the_backend_was_made_for_is_refused(backend: _LimitedBackend, name: str) -> None:
    most = getattr(OWN, name)

    with pytest.raises(SettingError) as error:
        limits_for(backend, {name: most + 1})
    assert str(error.value) == (
        f"{name} is {most + 1}, but the backend was made for at most {most}; lower it, or make the backend with as "
        "much."
    )


@pytest.mark.parametrize("values", [{"blocks": 3}, {"max_num_seqs": 0}])
def test_what_is_refused_anywhere_is_refused_here(backend: _LimitedBackend, values: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=r"Unknown setting blocks|max_num_seqs is 0"):
        limits_for(backend, values)


def test_an_engine_keeps_to_the_backends_limits(backend: _LimitedBackend) -> None:
    LLM(backend).generate([[first] * 40 for first in range(3)], SamplingParams(max_tokens=2), show_progress=False)

    assert [batch.num_tokens for batch in backend.batches[:2]] == [(40, 24), (1, 16, 40)]
    assert len(backend.batches[0].admitted[0].block_table) == 2
