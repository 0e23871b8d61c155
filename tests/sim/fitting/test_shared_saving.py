import pytest

from backends.simulated.fitted_times import FittedTimes
from sim.fitting.blank_times import blank_times
from sim.fitting.samples import Flags, Samples
from sim.fitting.shared_saving import shared_saving, with_saving
from tests.backends.fitted_numbers import fitted_times
from tests.sim.fitting.made_up import measured


def _saving(samples: Samples) -> float:
    return shared_saving(blank_times(samples.steps), samples)


def _truth(saving: float) -> FittedTimes:
    return with_saving(fitted_times(), saving)


@pytest.mark.parametrize("saving", [0.0, 0.2, 0.9])
def test_what_sharing_saves_is_found(saving: float) -> None:
    truth = _truth(saving)
    assert _saving(measured(4000, seed=3, truth=truth)) == pytest.approx(saving, abs=0.06)


def test_without_steps_that_share_nothing_is_saved() -> None:
    samples = measured(600, seed=3, truth=_truth(0.9))
    alone = samples.where(samples.steps.shared_context == 0)
    assert _saving(alone) == 0.0


def test_what_chunks_have_in_common_counts_for_nothing() -> None:
    samples = measured(600, seed=3, truth=_truth(0.9))
    is_kept: Flags = (samples.steps.shared_context == 0) | (samples.steps.num_prefill_seqs > 0)
    assert _saving(samples.where(is_kept)) == 0.0


def test_many_steps_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = measured(4000, seed=3, truth=_truth(0.9))
    monkeypatch.setattr("sim.fitting.shared_saving._MAX_STEPS", 900)
    assert _saving(samples) == pytest.approx(0.9, abs=0.1)
