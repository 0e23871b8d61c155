from typing import Any

import pytest

from sim.errors import SimError
from sim.pace import VirtualPace
from sim.parts import make_parts
from sim.replay_settings import ReplaySettings


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"device": "cpu"}, "device is 'cpu', but backend sim has no such setting; it has cost, gpu"),
        ({"free_run": False}, "free_run is False, but backend sim has no such setting"),
        ({"backend": "gpu", "gpu": "H100"}, "gpu is 'H100', but backend gpu has no such setting; it has device"),
        ({"backend": "gpu", "cost": "roofline"}, "cost is 'roofline', but backend gpu has no such setting"),
    ],
)
def test_setting_of_the_other_backend_is_refused(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SimError, match=sentence):
        ReplaySettings.of(values, "settings").check_backend()


@pytest.mark.parametrize("values", [{}, {"gpu": "H100", "cost": "run"}, {"backend": "gpu", "device": "cpu"}])
def test_settings_of_the_backend_are_taken(values: dict[str, Any]) -> None:
    ReplaySettings.of(values, "settings").check_backend()


def test_simulated_backend_has_small_blocks_and_virtual_time_unless_told() -> None:
    parts = make_parts(ReplaySettings(num_blocks=10))

    assert (parts.settings.block_size, parts.settings.pace) == (16, "virtual")
    assert isinstance(parts.pace, VirtualPace)


def test_whole_numbers_stand_for_numbers_but_not_for_flags() -> None:
    assert ReplaySettings.of({"rate_scale": 2}, "settings").rate_scale == 2.0
    with pytest.raises(SimError, match="settings: prefix_caching is 1; it must be true or false"):
        ReplaySettings.of({"prefix_caching": 1}, "settings")


@pytest.mark.parametrize("name", ["tp", "num_blocks", "max_num_seqs", "limit", "block_size"])
def test_numbers_that_no_file_could_hold_are_refused(name: str) -> None:
    with pytest.raises(SimError, match=f"{name} is 2147483648; it must be at most 2147483647"):
        ReplaySettings.of({name: 2**31}, "settings")


def test_any_whole_number_may_be_the_seed() -> None:
    assert ReplaySettings.of({"seed": 2**70}, "settings").seed == 2**70
    assert ReplaySettings.of({"seed": -1}, "settings").seed == -1
