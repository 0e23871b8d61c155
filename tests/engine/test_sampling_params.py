import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from engine import SamplingParams, SettingError


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; a request must ask for at least 1 output token."),
        ({"max_tokens": -1}, "max_tokens is -1; a request must ask for at least 1 output token."),
        ({"temperature": -0.1}, "temperature is -0.1; it must be 0 (greedy) or a positive number."),
        ({"temperature": math.nan}, "temperature is nan; it must be 0 (greedy) or a positive number."),
        ({"temperature": math.inf}, "temperature is inf; it must be 0 (greedy) or a positive number."),
        ({"top_k": 0}, "top_k is 0; it must be at least 1, or None to keep all tokens."),
        ({"top_k": -1}, "top_k is -1; it must be at least 1, or None to keep all tokens."),
        ({"top_p": 0.0}, "top_p is 0.0; it must be above 0 and at most 1."),
        ({"top_p": 1.5}, "top_p is 1.5; it must be above 0 and at most 1."),
        ({"top_p": math.nan}, "top_p is nan; it must be above 0 and at most 1."),
        ({"max_tokens": 1.5}, "max_tokens is 1.5; it must be a whole number."),
        ({"max_tokens": True}, "max_tokens is True; it must be a whole number."),
        ({"max_tokens": None}, "max_tokens is None; it must be a whole number."),
        ({"top_k": 2.0}, "top_k is 2.0; it must be a whole number or None."),
        ({"seed": "7"}, "seed is '7'; it must be a whole number or None."),
        ({"temperature": "hot"}, "temperature is 'hot'; it must be a number."),
        ({"temperature": None}, "temperature is None; it must be a number."),
        ({"top_p": "0.9"}, "top_p is '0.9'; it must be a number."),
        ({"ignore_eos": 1}, "ignore_eos is 1; it must be True or False."),
        ({"stop_token_ids": 5}, "stop_token_ids is 5; it must be a set of token ids."),
        ({"stop_token_ids": "ab"}, "stop_token_ids is 'ab'; it must be a set of token ids."),
        ({"stop_token_ids": {1.5}}, "stop_token_ids is {1.5}; it must be a set of token ids."),
    ],
)
def test_value_out_of_range_or_of_another_kind_is_refused_with_its_name_and_remedy(
    setting: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingError) as error:
        SamplingParams(**setting)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "setting",
    [
        {"max_tokens": 1},
        {"temperature": 0.0},
        {"temperature": 10**400},
        {"temperature": 1e-9},
        {"top_k": 1},
        {"top_p": 1.0},
    ],
)
def test_values_at_the_edge_are_allowed(setting: dict[str, Any]) -> None:
    params = SamplingParams(**setting)
    ((name, value),) = setting.items()
    assert getattr(params, name) == value


def test_defaults_are_those_that_vllm_users_know() -> None:
    params = SamplingParams()
    assert (params.max_tokens, params.temperature, params.top_k, params.top_p) == (16, 1.0, None, 1.0)
    assert (params.seed, params.ignore_eos, params.stop_token_ids) == (None, False, frozenset())


def test_numbers_of_numpy_and_any_collection_of_stop_tokens_will_do() -> None:
    params = SamplingParams(max_tokens=np.int64(3), temperature=np.float32(0.5), seed=2**70, stop_token_ids=[4, 5])  # type: ignore[arg-type]  # users do
    assert params.stop_token_ids == frozenset({4, 5})
    assert hash(params) == hash(
        SamplingParams(max_tokens=3, temperature=0.5, seed=2**70, stop_token_ids=frozenset({4, 5}))
    )


def test_setting_errors_are_value_errors() -> None:
    assert issubclass(SettingError, ValueError)


def test_params_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        SamplingParams().max_tokens = 5  # type: ignore[misc]  # the point of the test
