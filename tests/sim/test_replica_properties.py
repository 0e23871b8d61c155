"""What holds for every run, on traces so small that full pools, refusals, failures and shared prefixes are common."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.rows import RequestRow
from analysis.run import load
from analysis.run_writer import RunWriter
from analysis.summary import summarise
from engine import NanoVllmPolicy, Policy, VllmPolicy
from tests.machines.any_legal_policy import AnyLegalPolicy
from tests.sim.small_world import BLOCK, Log, ScriptedBackend, ask, serve
from traces import TraceRequest
from traces.request_order import in_order

POLICIES = (
    VllmPolicy(),
    VllmPolicy(scheduling_policy="priority", vllm_version="0.25"),
    VllmPolicy(prefix_caching=False, reserve_full_prompt=False),
    NanoVllmPolicy(),
)
QUARTERS = st.integers(0, 12).map(lambda number: number / 4)


@dataclass(frozen=True)
class World:
    """A trace and what serves it."""

    requests: tuple[TraceRequest, ...]
    durations_s: tuple[float, ...]
    num_blocks: int
    tokens: int
    policy: Policy | int
    """A number is the seed of a policy that does anything legal."""
    error_steps: frozenset[int]

    def serve(self) -> tuple[Log, ScriptedBackend]:
        errors = dict.fromkeys(self.error_steps, "The device is gone.")
        backend = ScriptedBackend(self.durations_s, errors=errors)
        log = serve(
            self.requests,
            num_blocks=self.num_blocks,
            tokens=self.tokens,
            seqs=3,
            model_len=16,
            policy=AnyLegalPolicy(self.policy) if isinstance(self.policy, int) else self.policy,
            backend=backend,
        )
        return log, backend

    def slowed(self, factor: float) -> "World":
        """The same world with all times multiplied."""
        requests = tuple(
            replace(
                request,
                arrival_s=None if request.arrival_s is None else factor * request.arrival_s,
                delay_s=None if request.delay_s is None else factor * request.delay_s,
            )
            for request in self.requests
        )
        return replace(self, requests=requests, durations_s=tuple(factor * each for each in self.durations_s))


@st.composite
def _prompts(draw: st.DrawFn) -> tuple[int, tuple[int, ...] | None]:
    """Length, and ids that often begin alike."""
    length = draw(st.integers(1, 17))
    num_ids = -(-length // BLOCK)
    ids = draw(st.none() | st.lists(st.integers(0, 1), min_size=num_ids, max_size=num_ids).map(tuple))
    return length, ids


@st.composite
def _traces(draw: st.DrawFn) -> tuple[TraceRequest, ...]:
    requests: list[TraceRequest] = []
    for session in range(draw(st.integers(1, 4))):
        for turn in range(draw(st.integers(1, 3))):
            length, ids = draw(_prompts())
            requests.append(
                ask(
                    f"{session}.{turn}",
                    draw(QUARTERS),
                    prompt=length,
                    output=draw(st.integers(1, 6)),
                    line=len(requests) + 1,
                    session=f"s{session}",
                    delay_s=draw(QUARTERS) if turn else None,
                    hash_ids=ids,
                    priority=draw(st.integers(0, 2)),
                )
            )
    return in_order(requests)


WORLDS = st.builds(
    World,
    requests=_traces(),
    durations_s=st.lists(st.sampled_from([0.25, 0.5, 0.75]), min_size=1, max_size=3).map(tuple),
    num_blocks=st.integers(1, 8),
    tokens=st.sampled_from([3, 8, 20]),
    policy=st.sampled_from(POLICIES) | st.integers(0, 10_000),
    error_steps=st.frozensets(st.integers(0, 10), max_size=1),
)


def _rows(log: Log) -> list[RequestRow]:
    return sorted(log.request_rows, key=lambda row: row.index)


def _end_s(log: Log) -> list[float]:
    return [row.start_s + row.duration_s for row in log.step_rows]


def _token_times_s(log: Log, row: RequestRow) -> list[float]:
    end_s = _end_s(log)
    runs = zip(row.emission_first_steps, row.emission_counts, strict=True)
    return [end_s[step] for first, count in runs for step in range(first, first + count)]


@given(WORLDS)
def test_every_request_of_the_trace_has_one_row_and_one_end(world: World) -> None:
    log, _ = world.serve()
    rows = _rows(log)

    assert [row.index for row in rows] == list(range(len(world.requests)))
    assert [row.request_id for row in rows] == [request.request_id for request in world.requests]
    assert {row.status for row in rows} <= {"finished", "failed", "refused"}
    assert all((row.reason is not None) and (row.finish_s is not None) for row in rows)


@given(WORLDS)
def test_emissions_give_back_the_time_of_every_token(world: World) -> None:
    log, backend = world.serve()
    end_s = _end_s(log)

    for row in _rows(log):
        expected = [
            end_s[batch.step]
            for batch in backend.batches
            if batch.step not in world.error_steps
            for name, samples in zip(batch.request_ids, batch.samples, strict=True)
            if samples and name == row.request_id
        ]
        assert _token_times_s(log, row) == expected
        assert row.output_tokens == len(expected)
        assert (row.first_token_s, row.last_token_s) == ((expected[0], expected[-1]) if expected else (None, None))


@given(WORLDS)
def test_finished_requests_have_the_outputs_that_the_trace_asks_for(world: World) -> None:
    log, _ = world.serve()
    asked = {request.request_id: request for request in world.requests}

    for row in _rows(log):
        if row.status == "finished":
            assert row.output_tokens == min(asked[row.request_id].output_length, 16 - row.input_tokens)
    assert sum(row.output_tokens for row in _rows(log)) == sum(
        step.num_sampled for step in log.step_rows if step.step not in world.error_steps
    )


@given(WORLDS)
def test_twice_all_times_gives_twice_all_latencies_and_the_same_decisions(world: World) -> None:
    log, _ = world.serve()
    slow, _ = world.slowed(2.0).serve()

    for row, slow_row in zip(_rows(log), _rows(slow), strict=True):
        for name in ("arrival_s", "submit_s", "first_scheduled_s", "first_token_s", "last_token_s", "finish_s"):
            time_s, slow_s = getattr(row, name), getattr(slow_row, name)
            assert slow_s == (None if time_s is None else 2 * time_s)
        assert slow_row.preempted_s == 2 * row.preempted_s
        assert _token_times_s(slow, slow_row) == [2 * time_s for time_s in _token_times_s(log, row)]
    assert slow.digest == log.digest
    assert slow.events == log.events


@given(WORLDS)
def test_a_turn_arrives_its_delay_after_the_end_of_the_turn_before(world: World) -> None:
    log, _ = world.serve()

    for row, request in zip(_rows(log), world.requests, strict=True):
        if request.delay_s is None:
            assert row.arrival_s == request.arrival_s
        else:
            before = _rows(log)[row.index - 1]
            assert before.finish_s is not None
            assert row.arrival_s == before.finish_s + request.delay_s


@given(WORLDS)
def test_requests_are_handed_on_by_arrival_and_line(world: World) -> None:
    log, _ = world.serve()
    rows = sorted(log.request_rows, key=lambda row: (row.arrival_s, row.line))

    assert _is_ascending([row.submit_s for row in rows if row.submit_s is not None])
    if world.policy == VllmPolicy():
        # First come, first served: the first admissions keep that order.
        admitted = [name for _, name, kind, *_ in log.events if kind == "admitted"]
        assert admitted == [row.request_id for row in rows if row.request_id in admitted]


@given(WORLDS)
def test_nothing_waits_for_a_step_that_could_have_taken_it(world: World) -> None:
    """A request is handed on when it comes or, if a step is under way, when that step ends."""
    log, _ = world.serve()
    step_s = [(row.start_s, row.start_s + row.duration_s) for row in log.step_rows]

    for row in log.request_rows:
        if row.submit_s is not None and row.arrival_s is not None:
            under_way = [end_s for start_s, end_s in step_s if start_s < row.arrival_s < end_s]
            assert row.submit_s == (under_way[0] if under_way else row.arrival_s)


@given(WORLDS)
def test_steps_follow_each_other_and_split_into_host_and_device(world: World) -> None:
    log, _ = world.serve()

    assert [row.step for row in log.step_rows] == list(range(len(log.step_rows)))
    for row, following in pairwise(log.step_rows):
        assert following.start_s >= row.start_s + row.duration_s
    for row in log.step_rows:
        assert row.host_s + row.device_s == row.duration_s
        assert 0 <= row.device_s <= row.duration_s
        assert row.num_used_blocks <= world.num_blocks


@given(WORLDS)
def test_hits_and_chunks_of_an_admission_cover_the_prompt(world: World) -> None:
    """What a finished request computed since it was last admitted, and what it hit, is all that it knew then."""
    log, _ = world.serve()

    for row in log.request_rows:
        events = [(kind, values) for _, name, kind, *values in log.events if name == row.request_id]
        if row.status == "finished":
            last = [kind for kind, _ in events if kind in ("admitted", "resumed")]
            segment = events[max(k for k, (kind, _) in enumerate(events) if kind == last[-1]) :]
            covered = sum(values[0] for kind, values in segment if kind in (last[-1], "chunk"))
            assert covered >= row.input_tokens
            assert last.count("admitted") == 1
            assert covered == row.input_tokens or "resumed" in last
        assert sum(kind == "preempted" for kind, _ in events) == row.num_preemptions


@given(WORLDS)
def test_preempted_time_is_from_the_loss_of_blocks_to_the_step_that_gives_them_back(world: World) -> None:
    """A step may give blocks back and take them again: then there is no resumption, and the wait goes on."""
    log, _ = world.serve()

    for row in log.request_rows:
        expected_s, lost_s = 0.0, None
        for step, name, kind, *_ in log.events:
            start_s = log.step_rows[step].start_s
            if name == row.request_id and kind == "preempted":
                lost_s = start_s if lost_s is None else lost_s
            elif name == row.request_id and kind in ("admitted", "resumed"):
                expected_s += start_s - lost_s if lost_s is not None and kind == "resumed" else 0.0
                lost_s = None
        assert row.preempted_s == expected_s


@settings(max_examples=20)
@given(WORLDS)
def test_run_directory_of_any_run_can_be_read_and_summed_up(world: World) -> None:
    """Reading checks that tables do not contradict each other."""
    log, _ = world.serve()
    with tempfile.TemporaryDirectory() as scratch:
        meta = {"num_kv_blocks": world.num_blocks, "settings": {}, "trace": {"num_requests": len(world.requests)}}
        writer = RunWriter(Path(scratch) / "run", meta)
        writer.add_events(log.event_rows)
        writer.add_requests(log.request_rows)
        writer.add_steps(log.step_rows)
        writer.finish({}, complete=True)
        summary = summarise(load(Path(scratch) / "run"))

    assert summary["completed"] + summary["failed"] == len(world.requests)
    assert summary["num_preemptions"] == sum(row.num_preemptions for row in log.request_rows)


def _is_ascending(values: Sequence[float]) -> bool:
    return all(first <= second for first, second in pairwise(values))
