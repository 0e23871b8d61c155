"""Steps that are written down while the next one is computed."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Batch, Limits, NanoVllmPolicy, Scheduler, StepResult, VllmPolicy
from sim.arrivals import Arrivals
from sim.decision_digest import DecisionDigest
from sim.interrupt import Interrupt
from sim.one_by_one import OneByOne
from sim.pace import VirtualPace
from sim.prompt_maker import PromptMaker
from sim.recorder import Recorder
from sim.replica import Replica
from sim.serving import Serving
from sim.spare_time import DeviceTime, NoSpareTime, Work
from sim.step_clock import PredictedClock
from sim.step_record import StepRecord
from tests.sim.small_world import BLOCK, Log, ScriptedBackend, ask, serve

FAULTS = {"failed": {2: {"b": "Its logits are not finite."}}, "errors": {4: "The device is gone."}}


class BusyBackend(ScriptedBackend):
    """Lets the host do other things in each step, as one with a device does."""

    def __init__(self, spare_time: DeviceTime, **script: object) -> None:
        super().__init__(**script)  # type: ignore[arg-type]  # a test's own keywords
        self.spare_time = spare_time

    def execute(self, batch: Batch) -> StepResult:
        result = super().execute(batch)  # may raise before there is any time to spare
        self.spare_time.use()
        return result


def _content(log: Log) -> tuple[object, ...]:
    return log.step_rows, log.event_rows, sorted(log.request_rows), log.digest


asks = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 20), st.integers(1, 8)), min_size=1, max_size=8)


@given(asks, st.sampled_from([{}, FAULTS]), st.booleans(), st.integers(3, 10))
def test_a_run_is_recorded_alike_whenever_its_steps_are_written_down(
    arrivals: list[tuple[int, int, int]], faults: dict[str, object], is_nano: bool, num_blocks: int
) -> None:
    requests = [
        ask(chr(97 + index), float(arrival_s), prompt=prompt, output=output, line=index + 1)
        for index, (arrival_s, prompt, output) in enumerate(sorted(arrivals))
    ]
    policy = NanoVllmPolicy() if is_nano else VllmPolicy()
    world = partial(serve, requests, num_blocks=num_blocks, seqs=3, policy=policy)
    spare_time = DeviceTime()
    put_off = world(backend=BusyBackend(spare_time, **faults), spare_time=spare_time)

    assert _content(put_off) == _content(world(backend=ScriptedBackend(**faults)))  # type: ignore[arg-type]  # likewise


def test_a_step_is_written_down_while_the_next_one_runs() -> None:
    done: list[str] = []
    spare_time = DeviceTime(always=partial(done.append, "always"))
    spare_time.put(partial(done.append, "first"))
    assert done == []
    spare_time.put(partial(done.append, "second"))
    assert done == ["first"]
    spare_time.use()
    assert done == ["first", "second", "always"]
    spare_time.use()
    assert done == ["first", "second", "always", "always"]


def test_without_spare_time_all_is_done_at_once() -> None:
    done: list[str] = []
    spare_time = NoSpareTime()
    spare_time.put(partial(done.append, "now"))
    assert done == ["now"]
    spare_time.use()
    assert done == ["now"]


class BrokenInto(DeviceTime):
    """A signal breaks into the third call of `use`, before or after the kept work is done."""

    def __init__(self, *, is_done: bool) -> None:
        super().__init__()
        self._is_done, self._num_left = is_done, 3

    def put(self, work: Work) -> None:
        super().put(partial(self._broken_into, work))

    def _broken_into(self, work: Work) -> None:
        self._num_left -= 1
        if self._num_left == 0 and not self._is_done:
            raise KeyboardInterrupt
        work()
        if self._num_left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("is_done", [False, True])
def test_a_signal_that_breaks_in_neither_loses_nor_doubles_a_step(is_done: bool) -> None:
    spare_time, notes = BrokenInto(is_done=is_done), Notes()
    pace, interrupt, requests = VirtualPace(), Interrupt(), [ask("a", output=8)]
    limits = Limits(block_size=BLOCK, max_num_batched_tokens=64, max_num_seqs=8, max_model_len=64)
    scheduler, clock = Scheduler(limits, 16, VllmPolicy()), PredictedClock()
    serving = Serving(pace.environment, Arrivals(requests), scheduler, notes, interrupt)
    stepper = OneByOne(serving, BusyBackend(spare_time), clock, spare_time)
    replica = Replica(serving, pace, PromptMaker(BLOCK, 0, {}), stepper, clock)
    with pytest.raises(KeyboardInterrupt):
        pace.environment.run(pace.environment.process(replica.serve()))
    spare_time.use()  # as the run's end does
    assert notes.steps == [0, 1, 2]


class Notes(Recorder):
    """Keeps the numbers of the steps alone."""

    def __init__(self) -> None:
        super().__init__(Log(), BLOCK, DecisionDigest(), lambda _, __: None)
        self.steps: list[int] = []

    def step(self, record: StepRecord) -> None:
        self.steps.append(record.batch.step)
