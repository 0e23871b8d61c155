"""Steps of a made-up GPU whose times are known."""

from collections.abc import Iterator

import numpy as np

from backends.cost_model import StepColumns, StepTimes
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import FittedTimes
from engine.step_shape import StepShape
from sim.fitting.samples import Samples
from tests.backends.fitted_numbers import fitted_times
from tests.backends.step_shapes import Row, shape_of

TRUTH = fitted_times()
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NOISE = 0.05
"""Mean of the time that a step takes too long, as a share; exponentially distributed."""


def shapes(num_steps: int, seed: int) -> Iterator[tuple[StepShape, int | None]]:
    """Decode steps in graphs, every third time a step with chunks, in a graph if it is small; rows of some share."""
    random, random_share = np.random.default_rng(seed), np.random.default_rng(seed + 2)
    for number in range(num_steps):
        num_rows = int(random.choice(SIZES)) - int(random.integers(0, 2))
        contexts = random.lognormal(np.log(random.choice((100, 700, 3000, 9000))), 0.5, max(num_rows, 1)).astype(int)
        rows = [Row(1, int(context)) for context in contexts]
        size = next(size for size in SIZES if size >= len(rows))
        if number % 3 == 0:
            rows = rows * int(number % 2)
            tokens = random.lognormal(5.5, 1.2, int(random.integers(1, 4))).astype(int) + 2
            rows += [Row(int(each), int(random.choice((0, 0, 2000)))) for each in tokens]
            num_tokens = sum(row.query for row in rows)
            size = 2 ** int(np.ceil(np.log2(num_tokens))) if num_tokens <= 512 else 0
        admitted = int(random.integers(0, 3))
        share = random_share.uniform(0, 0.6) if number % 4 == 1 else 0.0
        shared = int(share * sum(row.context for row in rows)) if len(rows) > 1 else 0
        blocks = {"shared_context": shared, "num_new_blocks": int(random.integers(0, 9))}
        yield shape_of(rows, **blocks, num_admitted=admitted), size or None


def measured(num_steps: int, seed: int, truth: FittedTimes = TRUTH, noise: float = NOISE, stalls: float = 0) -> Samples:
    """Steps with times that are the truth on average; `stalls` is the share of steps that take 50 ms more."""
    steps = StepColumns.from_rows(*zip(*shapes(num_steps, seed), strict=True))
    true = FittedModel(truth, None).step_times(steps)
    random = np.random.default_rng(seed + 1)
    host_s = true.duration_s - true.device_s
    device_s, host_s = [
        column * (1 + noise * (random.exponential(1, num_steps) - 1)) for column in (true.device_s, host_s)
    ]
    host_s = host_s + 0.05 * (random.random(num_steps) < stalls)
    duration_s = device_s + host_s
    before = StepColumns(*(np.roll(column, 1) for column in steps))
    has_before = np.arange(num_steps) > 0
    times = StepTimes(duration_s, device_s)
    neither = np.zeros(num_steps, dtype=np.bool_)
    return Samples(steps, before, has_before, times, duration_s, neither, neither, np.ones(num_steps))
