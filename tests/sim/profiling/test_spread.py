import numpy as np

from sim.profiling.spread import spreads


def columns(**changed: list[float]) -> dict[str, np.ndarray]:
    base = {
        "load": [0.0] * 6,
        "graph_size": [4.0] * 5 + [np.nan],
        "num_decode_seqs": [3.0] * 6,
        "num_prefill_seqs": [0.0] * 5 + [1.0],
        "num_prefill_tokens": [0.0] * 5 + [7.0],
        "is_warm_up": [1.0] + [0.0] * 5,
        "duration_s": [9.0, 2.0, 3.0, 4.0, 7.0, 5.0],
        "device_s": [9.0, 1.0, 1.0, 1.0, 1.0, 5.0],
    }
    return {name: np.array(values) for name, values in (base | changed).items()}


def test_equal_steps_are_taken_together_without_warm_up_and_single_ones() -> None:
    (case,) = spreads(columns())
    assert case[:6] == (0, 4, 3, 0, 0, 4)
    assert (case.duration_mean_s, case.duration_median_s) == (4.0, 3.5)
    assert np.allclose((case.duration_p10_s, case.duration_p90_s), (2.3, 6.1))
    assert case[10:] == (1.0, 1.0, 1.0, 1.0)
    assert np.isclose(case.relative, 3.8 / 3.5)


def test_steps_of_other_loads_and_sizes_are_cases_of_their_own() -> None:
    assert len(spreads(columns(load=[0, 0, 0, 1, 1, 1]))) == 2
    assert len(spreads(columns(num_decode_seqs=[3, 3, 3, 2, 2, 2]))) == 2
