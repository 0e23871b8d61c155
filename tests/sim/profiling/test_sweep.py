"""Sweeps of hand-made loads on a cost model."""

from collections.abc import Iterator, Sequence
from itertools import count, pairwise

import numpy as np
import pytest

from engine import BackendError, Batch, StepResult
from sim.errors import SimError
from sim.interrupt import Interrupt
from sim.parts import Parts, make_parts
from sim.profiling.load import Chunk, Load, Standing
from sim.profiling.sweep import Sweep, sweep
from sim.replay_settings import ReplaySettings

SHAPE = ("num_decode_seqs", "decode_context", "num_prefill_seqs", "num_prefill_tokens", "prefill_qk", "num_released")


def parts() -> Parts:
    settings = ReplaySettings(model="Qwen3-0.6B", num_blocks=200, block_size=16, max_num_seqs=8, cost="roofline")
    return make_parts(settings)


def swept(loads: Sequence[Load], *, clock: Iterator[float] | None = None, max_seconds: float = 1e9) -> Sweep:
    ticks = count() if clock is None else clock
    return sweep(parts(), loads, max_seconds, Interrupt(), clock=lambda: float(next(ticks)))


def rows(result: Sweep) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in zip(*[result.columns[name] for name in SHAPE], strict=True)]


def test_standing_sequences_decode_at_their_contexts_from_the_first_step_on() -> None:
    result = swept([Load("two", "decode", (Standing(100, 3), Standing(50, 2)))])
    assert rows(result) == [(2, 101 + 51, 0, 0, 0, 0), (1, 102, 0, 0, 0, 1)]
    assert result.columns["graph_size"].tolist() == [2, 1]


def test_prompts_come_at_their_steps_and_find_what_is_cached() -> None:
    load = Load("mixed", "mixed", (Standing(10, 4),), ((), (Chunk(20, 32),)), num_cached=32)
    assert rows(swept([load])) == [
        (1, 11, 0, 0, 0, 1),  # the text that stays in the cache has gone
        (1, 12, 1, 20, 20 * 52, 0),
        (1, 13, 0, 0, 0, 1),
    ]


def test_standing_sequences_may_begin_alike() -> None:
    """Of three prompts the first 32 tokens are the same; those of a load without that have nothing in common."""
    alike = tuple(Standing(num_tokens, outputs, 32) for num_tokens, outputs in ((50, 4), (40, 3), (60, 2)))
    apart = tuple(Standing(num_tokens, 3) for num_tokens in (50, 40))
    columns = swept([Load("alike", "shared", alike), Load("apart", "decode", apart)]).columns
    assert columns["num_decode_seqs"].tolist() == [3, 2, 1, 2, 2]
    assert columns["decode_context"].tolist() == [51 + 41 + 61, 52 + 42, 53, 51 + 41, 52 + 42]
    assert columns["shared_context"].tolist() == [2 * 32, 32, 0, 0, 0]


def test_a_prompt_may_go_on_decoding() -> None:
    load = Load("alone", "prefill", (), ((Chunk(20, 0, 3),), (Chunk(30),)))
    assert rows(swept([load])) == [(0, 0, 1, 20, 400, 0), (1, 21, 1, 30, 900, 0), (1, 22, 0, 0, 0, 1)]


def test_loads_follow_each_other_and_are_told_apart() -> None:
    loads = [Load("a", "decode", (Standing(10, 3),), num_warm_up=1), Load("b", "prefill", (), ((Chunk(5),),) * 2)]
    columns = swept(loads).columns
    assert columns["load"].tolist() == [0, 0, 1, 1]
    assert columns["is_warm_up"].tolist() == [1, 0, 1, 1]


def test_each_step_has_the_time_of_its_own_shape() -> None:
    columns = swept([Load("a", "decode", (Standing(1000, 3), Standing(1000, 2)))]).columns
    assert (columns["duration_s"] > columns["device_s"]).all()
    assert (columns["device_s"] > 1.1e9 / 4.8e12).all()  # the weights at the peak rate
    assert np.all(columns["duration_s"][:1] > columns["duration_s"][1:])


def test_time_that_is_up_ends_the_sweep_within_a_load() -> None:
    loads = [Load("a", "decode", (Standing(10, 50),)), Load("b", "decode", (Standing(10, 2),))]
    result = swept(loads, max_seconds=20)
    assert result.skipped == (0, 1)
    assert 0 < len(result.columns["step"]) < 49


def test_a_load_is_left_out_if_it_would_begin_too_late() -> None:
    one = (Standing(10, 30),)
    loads = [Load("a", "decode", one), Load("late", "decode", one, latest=0.01), Load("b", "decode", one)]
    result = swept(loads, max_seconds=1000)
    assert result.skipped == (1,)
    assert set(result.columns["load"].tolist()) == {0, 2}


class Broken:
    """Fails in one step."""

    num_blocks = 100

    def __init__(self, inner: Parts, step: int) -> None:
        self._backend = inner.engine.backend
        self._step = step

    def execute(self, batch: Batch) -> StepResult:
        if batch.step == self._step:
            raise BackendError("out of memory")
        return self._backend.execute(batch)

    def close(self) -> None:
        pass


def test_a_step_that_cannot_be_computed_is_an_error() -> None:
    from dataclasses import replace

    whole = parts()
    broken = replace(whole, engine=replace(whole.engine, backend=Broken(whole, 1)))
    with pytest.raises(SimError, match="out of memory"):
        sweep(broken, [Load("a", "decode", (Standing(10, 5),))], 10, Interrupt())


def test_where_loads_take_more_time_than_there_is_they_are_left_out_evenly() -> None:
    loads = [Load(str(number), "decode", (Standing(10, 11),)) for number in range(100)]
    # The clock is asked about once a step, so all loads would take some 1,100 s.
    result = swept(loads, max_seconds=400)
    taken = [number for number in range(100) if number not in result.skipped]
    assert 25 < len(taken) < 45
    assert max(after - before for before, after in pairwise(taken)) <= 5
    assert taken[-1] > 90
