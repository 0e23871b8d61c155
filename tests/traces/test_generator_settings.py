import math

import pytest

from traces import GeneratorSettings, TraceError

COUNTS = ["num_requests", "input_min", "input_max", "output_min", "output_max", "block_size"]
COUNTS += ["prefix_roots", "prefix_branching", "prefix_node_blocks"]
NUMBERS = ["rate", "burstiness", "input_mean", "output_mean"]


def error_of(**settings: object) -> str:
    with pytest.raises(TraceError) as caught:
        GeneratorSettings(**settings)  # type: ignore[arg-type]  # wrong types are the point
    return str(caught.value)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", 2**31])
def test_counts_and_sizes_are_whole_numbers_from_one(name: str, value: object) -> None:
    assert error_of(**{name: value}) == f"{name} is {value!r}, but it must be a whole number from 1 to 2147483647"


@pytest.mark.parametrize("name", ["seed", "prefix_depth"])
def test_seed_and_depth_may_be_zero(name: str) -> None:
    assert GeneratorSettings(**{name: 0}) == GeneratorSettings()
    assert error_of(**{name: -1}) == f"{name} is -1, but it must be a whole number from 0 to 2147483647"


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, 0.0, -2.5, math.nan, math.inf, "1", True])
def test_rates_and_means_are_numbers_above_zero(name: str, value: object) -> None:
    assert error_of(**{name: value}) == f"{name} is {value!r}, but it must be a number above 0"


@pytest.mark.parametrize("value", [-0.1, math.nan, 11, "1"])
def test_sigmas_lie_from_0_to_10(value: object) -> None:
    assert error_of(output_sigma=value) == f"output_sigma is {value!r}, but it must be a number from 0 to 10"
    assert GeneratorSettings(output_sigma=0).output_sigma == 0


def test_bounds_must_not_cross() -> None:
    assert error_of(input_min=9, input_max=8) == "input_min is 9, but it must not be above input_max, 8"
    assert error_of(output_min=9, output_max=8) == "output_min is 9, but it must not be above output_max, 8"
