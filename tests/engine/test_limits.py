from dataclasses import FrozenInstanceError

import pytest

from engine import Limits, SettingError


@pytest.mark.parametrize("name", ["block_size", "max_num_batched_tokens", "max_num_seqs", "max_model_len"])
@pytest.mark.parametrize("value", [0, -3])
def test_limit_below_one_is_refused_with_its_name(name: str, value: int) -> None:
    with pytest.raises(SettingError) as error:
        Limits(**{name: value})
    assert str(error.value) == f"{name} is {value}; it must be at least 1."


def test_limits_of_one_are_allowed() -> None:
    limits = Limits(block_size=1, max_num_batched_tokens=1, max_num_seqs=1, max_model_len=1)
    assert limits.block_size == limits.max_num_batched_tokens == limits.max_num_seqs == limits.max_model_len == 1


def test_defaults_are_those_documented() -> None:
    assert Limits() == Limits(block_size=16, max_num_batched_tokens=8192, max_num_seqs=256, max_model_len=40960)


def test_limits_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Limits().block_size = 5  # type: ignore[misc]  # the point of the test
