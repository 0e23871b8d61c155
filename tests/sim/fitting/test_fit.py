from dataclasses import replace

import numpy as np
import pytest

from backends.simulated.fitted_model import FittedModel
from sim.fitting.fit import class_errors, fit
from sim.fitting.samples import Samples
from tests.sim.fitting.made_up import TRUTH, measured

FITTED = fit(measured(6000, seed=1))
CLASSES = {"decode graph", "prefill graph", "prefill eager", "mixed graph", "mixed eager"}


def test_a_fit_to_noisy_steps_recovers_their_means_in_every_class() -> None:
    errors = class_errors(FITTED, measured(3000, seed=5, noise=0.0))
    assert set(errors) == CLASSES | {"all"}
    assert {name: error.bias_percent for name, error in errors.items()} == pytest.approx(
        dict.fromkeys(errors, 0), abs=0.6
    )
    assert max(error.mean_error_percent for error in errors.values()) < 1.5
    assert abs(errors["all"].bias_percent) < 0.2


def test_device_and_host_are_recovered_apart() -> None:
    samples = measured(3000, seed=5, noise=0.0)
    found = FittedModel(FITTED, None).step_times(samples.steps)
    assert found.device_s.sum() == pytest.approx(samples.times.device_s.sum(), rel=3e-3)
    host_s = [each.duration_s.sum() - each.device_s.sum() for each in (found, samples.times)]
    assert host_s[0] == pytest.approx(host_s[1], rel=1e-2)


def test_numbers_with_a_meaning_of_their_own_are_found() -> None:
    assert FITTED.launches.mixed_us == pytest.approx(TRUTH.launches.mixed_us, rel=0.02)
    assert FITTED.launches.prompts_us == pytest.approx(TRUTH.launches.prompts_us, rel=0.02)
    assert FITTED.prompts.pairs_per_1m_us == pytest.approx(TRUTH.prompts.pairs_per_1m_us, rel=0.1)
    assert FITTED.host.row_us == pytest.approx(TRUTH.host.row_us, rel=0.1)
    assert FITTED.host.admission_us == pytest.approx(TRUTH.host.admission_us, rel=0.2)
    assert FITTED.attention.shared_saving == pytest.approx(TRUTH.attention.shared_saving, abs=0.05)


def test_stalls_are_spread_over_all_steps_and_bend_no_table() -> None:
    samples = measured(6000, seed=1, stalls=0.004)
    stalled = fit(samples)
    assert stalled.host.stalls_us == pytest.approx(0.004 * 50_000, rel=0.3)
    calm = replace(stalled, host=replace(stalled.host, stalls_us=0.0))
    errors = class_errors(calm, measured(3000, seed=5, noise=0.0))
    assert abs(errors["all"].bias_percent) < 0.5
    total_s = FittedModel(stalled, None).step_times(samples.steps).duration_s.sum()
    assert total_s == pytest.approx(samples.times.duration_s.sum(), rel=3e-3)


def test_what_is_left_for_the_next_lap_is_counted_once() -> None:
    """A step's update and record run in the next step's lap; over all steps no time is lost."""
    samples = measured(6000, seed=1, noise=0.0)
    late_s = 40e-6 * samples.before.num_admitted * samples.has_before
    times = samples.times._replace(duration_s=samples.times.duration_s + late_s)
    found = fit(replace(samples, times=times, scale_s=times.duration_s))
    assert found.host.admission_us == pytest.approx(TRUTH.host.admission_us + 40, rel=0.03)


def test_what_a_step_with_chunks_leaves_for_the_next_lap_is_its_own() -> None:
    """The inputs of the step behind it could not be foreseen."""
    samples = measured(6000, seed=1, noise=0.0)
    late_s = 70e-6 * (samples.before.num_prefill_seqs > 0) * samples.has_before
    times = samples.times._replace(duration_s=samples.times.duration_s + late_s)
    found = fit(replace(samples, times=times, scale_s=times.duration_s))
    stalls_us = TRUTH.host.stalls_us  # on average of all steps; without any that stands out they are in the constants
    assert found.host.prompts_us == pytest.approx(TRUTH.host.prompts_us + stalls_us + 70, rel=0.01)
    assert found.host.eager_prompts_us == pytest.approx(TRUTH.host.eager_prompts_us + stalls_us + 70, rel=0.01)
    assert found.host.decode_us == pytest.approx(TRUTH.host.decode_us + stalls_us, rel=0.01)


def test_what_a_token_takes_is_not_bent_where_steps_are_few() -> None:
    """Long contexts of many rows are hardly measured; the others, whose times are noisy, say what a token takes."""
    samples = measured(4000, seed=1, noise=0.08)
    is_far = (samples.steps.num_decode_seqs > 100) & (samples.steps.decode_context > 250_000)
    is_kept = np.random.default_rng(0).random(len(is_far)) < 0.03
    found = fit(samples.where(~is_far | is_kept))
    per_1k_us = np.array(found.attention.per_1k_tokens_us)
    # The truth rises from 26 us for one row to 29.5 us for 256.
    assert 22 < per_1k_us.min() <= per_1k_us.max() < 33
    assert abs(class_errors(found, samples.where(is_far))["all"].bias_percent) < 1


def test_classes_without_data_cost_what_the_most_similar_ones_do() -> None:
    samples = measured(3000, seed=1)
    found = fit(samples.where((samples.steps.graph_size == 0) & (samples.steps.num_decode_seqs > 0)))
    assert found.launches.prompts_us == found.launches.decode_us == found.launches.mixed_us > 0
    assert found.host.prompts_us == found.host.eager_prompts_us > 0


def test_more_tokens_never_take_less_time() -> None:
    for times_us in (FITTED.decode.products.time_us, FITTED.prompts.products.time_us):
        assert (np.diff(times_us) >= 0).all()


def test_the_context_of_a_chunk_counts_less_the_more_query_tokens_hide_it() -> None:
    assert (np.diff(FITTED.prompts.context_per_1k_us) <= 1e-9).all()


def test_host_times_are_those_of_runs_where_runs_have_the_class() -> None:
    profile, run = measured(4000, seed=1), measured(4000, seed=2)
    slow = profile.times._replace(duration_s=profile.times.duration_s + 2e-4)
    served = np.ones(len(run), dtype=np.bool_)
    both = Samples.joined([replace(profile, times=slow), replace(run, is_served=served)])
    errors = class_errors(fit(both), measured(3000, seed=5, noise=0.0))
    assert abs(errors["decode graph"].bias_percent) < 1


def test_a_profile_serves_for_classes_that_no_run_has() -> None:
    samples = measured(4000, seed=1)
    is_served = samples.steps.num_prefill_seqs == 0
    found = fit(replace(samples, is_served=is_served))
    assert found.host.eager_prompts_us == pytest.approx(FITTED.host.eager_prompts_us, rel=0.1)
