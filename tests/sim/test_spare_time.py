"""Steps that are written down while the next one is computed."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from engine import Batch, NanoVllmPolicy, StepResult, VllmPolicy
from sim.spare_time import DeviceTime, NoSpareTime
from tests.sim.small_world import Log, ScriptedBackend, ask, serve

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
