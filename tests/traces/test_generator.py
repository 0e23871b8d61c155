import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from traces import GeneratorSettings, Trace, TraceError, generate

MANY = GeneratorSettings(seed=3, num_requests=20_000, rate=4.0, input_max=10**6, output_max=10**6)


def gaps_s(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    arrivals = np.array([request.arrival_s for request in trace.requests], dtype=np.float64)
    return np.diff(arrivals, prepend=0.0)


def test_poisson_arrivals_have_the_rate_and_the_spread_of_an_exponential() -> None:
    gaps = gaps_s(generate(MANY))
    assert np.mean(gaps) == pytest.approx(1 / 4, rel=0.03)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("burstiness", [0.25, 4.0])
def test_burstiness_is_the_gamma_shape(burstiness: float) -> None:
    gaps = gaps_s(generate(replace(MANY, burstiness=burstiness)))
    assert np.mean(gaps) == pytest.approx(1 / 4, rel=0.05)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(burstiness**-0.5, rel=0.05)


def test_lengths_are_lognormal_with_the_mean_and_sigma_asked_for() -> None:
    trace = generate(replace(MANY, input_mean=3000.0, input_sigma=0.5, output_mean=200.0, output_sigma=0.8))
    inputs = np.array([request.input_length for request in trace.requests])
    outputs = np.array([request.output_length for request in trace.requests])
    assert np.mean(inputs) == pytest.approx(3000, rel=0.02)
    assert np.std(np.log(inputs)) == pytest.approx(0.5, rel=0.02)
    assert np.mean(outputs) == pytest.approx(200, rel=0.03)
    assert np.std(np.log(outputs)) == pytest.approx(0.8, rel=0.02)
    assert abs(np.corrcoef(inputs, outputs)[0, 1]) < 0.03


def test_clipping_is_counted() -> None:
    free = generate(MANY)
    trace = generate(replace(MANY, input_min=1000, input_max=2000))
    short = sum(request.input_length < 1000 for request in free.requests)
    long = sum(request.input_length > 2000 for request in free.requests)
    assert min(short, long) > 0
    assert {min(max(r.input_length, 1000), 2000) for r in free.requests} == {r.input_length for r in trace.requests}
    assert f"{short} prompts were lengthened to 1000 tokens, {long} cut to 2000." in trace.notices
    assert not any("prompts" in notice for notice in free.notices)


def test_one_setting_leaves_the_draws_of_the_others_alone() -> None:
    plain = generate(replace(MANY, num_requests=50))
    other = generate(replace(MANY, num_requests=50, output_mean=20.0, prefix_depth=3))
    assert [r.arrival_s for r in plain.requests] == [r.arrival_s for r in other.requests]
    assert [r.input_length for r in plain.requests] == [r.input_length for r in other.requests]
    assert [r.output_length for r in plain.requests] != [r.output_length for r in other.requests]


def test_prefixes_come_as_ids_counted_by_ceil() -> None:
    trace = generate(GeneratorSettings(num_requests=100, block_size=100, prefix_depth=3, prefix_roots=2))
    assert trace.block_size == 100
    assert trace.hash_id_count == "ceil"
    for request in trace.requests:
        assert request.hash_ids is not None
        assert len(request.hash_ids) == -(-request.input_length // 100)
    shared = [hash_id for request in trace.requests for hash_id in request.hash_ids or ()]
    assert len(set(shared)) < len(shared)


def test_without_prefixes_there_are_no_ids() -> None:
    assert generate(GeneratorSettings(num_requests=3)).requests[0].hash_ids is None


def test_arrivals_are_whole_microseconds() -> None:
    trace = generate(replace(MANY, num_requests=100))
    for request in trace.requests:
        assert request.arrival_s is not None
        microseconds = round(request.arrival_s * 10**6)
        assert request.arrival_s == round(microseconds * 2**30 / 10**6) / 2**30


def test_seeds_differ_and_repeat() -> None:
    settings = GeneratorSettings(num_requests=20, prefix_depth=2)
    assert generate(settings) == generate(settings)
    assert generate(settings).digest != generate(replace(settings, seed=1)).digest


def test_another_process_makes_the_same_trace() -> None:
    program = (
        "from traces import GeneratorSettings, generate\n"
        "print(generate(GeneratorSettings(num_requests=200, prefix_depth=3)).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {generate(GeneratorSettings(num_requests=200, prefix_depth=3)).digest}


def test_a_rate_that_takes_too_long_is_refused() -> None:
    with pytest.raises(TraceError, match=r"10 requests at a rate of 1e-09 a second take .* at most 4194304 s"):
        generate(GeneratorSettings(num_requests=10, rate=1e-9))


@pytest.mark.parametrize("mean", [1e-300, 1e300])
def test_extreme_means_are_clipped_not_broken(mean: float) -> None:
    trace = generate(GeneratorSettings(num_requests=5, input_mean=mean, input_sigma=10, input_min=4, input_max=9))
    assert {request.input_length for request in trace.requests} <= {4, 9}


def test_a_sigma_of_zero_makes_all_lengths_alike() -> None:
    trace = generate(GeneratorSettings(num_requests=5, input_mean=77.0, input_sigma=0))
    assert {request.input_length for request in trace.requests} == {77}
