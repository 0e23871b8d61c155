"""Two runs decide alike exactly when their digests are equal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest

from analysis.rows import EventRow
from engine import Batch, StepShape, VllmPolicy
from sim.decision_digest import DecisionDigest
from tests.sim.small_world import Log, ScriptedBackend, ask, serve


@dataclass(frozen=True)
class Step:
    """One step's rows with their tokens, and its events."""

    rows: tuple[tuple[str, int], ...]
    events: tuple[EventRow, ...] = ()


def _batch(step: int, rows: Sequence[tuple[str, int]]) -> Batch:
    names, tokens = tuple(name for name, _ in rows), tuple(count for _, count in rows)
    shape = StepShape(*(0,) * len(StepShape._fields))
    return Batch(step, names, (0,) * len(rows), tokens, (True,) * len(rows), (), (), (), (), (), shape)


def _digest(steps: Sequence[Step], first: int = 0) -> str:
    digest = DecisionDigest()
    for number, step in enumerate(steps, first):
        digest.add(_batch(number, step.rows), [event._replace(step=number) for event in step.events])
    return digest.hexdigest()


DECODE = (("a", 1), ("b", 1))
RUN = (
    Step((("a", 8), ("b", 5)), (EventRow(0, "a", "admitted", 0), EventRow(0, "b", "admitted", 4))),
    Step((("a", 3), ("b", 1)), (EventRow(0, "a", "chunk", 3), EventRow(0, "a", "blocks", block_ids=(4, 5)))),
    Step(DECODE),
    Step(DECODE),
    Step((("a", 1),), (EventRow(0, "b", "preempted"),)),
    Step(DECODE, (EventRow(0, "b", "resumed", 8), EventRow(0, "a", "finished", reason="length"))),
    Step((("b", 1),)),
    Step((("b", 1),)),
)


def _with(number: int, **changes: object) -> list[Step]:
    return [*RUN[:number], replace(RUN[number], **changes), *RUN[number + 1 :]]  # type: ignore[arg-type] # by name


CHANGES: dict[str, list[Step]] = {
    "other hit tokens": _with(0, events=(RUN[0].events[0], EventRow(0, "b", "admitted", 0))),
    "other order of admissions": _with(0, events=RUN[0].events[::-1]),
    "another request admitted": _with(0, events=(RUN[0].events[0], EventRow(0, "c", "admitted", 4))),
    "another chunk": _with(1, events=(EventRow(0, "a", "chunk", 2), RUN[1].events[1])),
    "other row tokens": _with(1, rows=(("a", 2), ("b", 1))),
    "another block id": _with(1, events=(RUN[1].events[0], EventRow(0, "a", "blocks", block_ids=(4, 6)))),
    "other order of block ids": _with(1, events=(RUN[1].events[0], EventRow(0, "a", "blocks", block_ids=(5, 4)))),
    "no blocks": _with(1, events=RUN[1].events[:1]),
    "a decode row skipped": _with(3, rows=(("a", 1),)),
    "other order of decode rows": _with(3, rows=DECODE[::-1]),
    "another request preempted": _with(4, events=(EventRow(0, "a", "preempted"),)),
    "no preemption": _with(4, events=()),
    "admitted instead of resumed": _with(5, events=(EventRow(0, "b", "admitted", 8), RUN[5].events[1])),
    "another finish reason": _with(5, events=(RUN[5].events[0], EventRow(0, "a", "finished", reason="stop"))),
    "another request finished": _with(5, events=(RUN[5].events[0], EventRow(0, "b", "finished", reason="length"))),
    "failed instead of finished": _with(5, events=(RUN[5].events[0], EventRow(0, "a", "failed", reason="length"))),
    "finished a step later": [*_with(5, events=RUN[5].events[:1])[:6], Step(DECODE, RUN[5].events[1:]), *RUN[6:]],
    "one decode step more in the middle": [*RUN[:3], RUN[2], *RUN[3:]],
    "one decode step less in the middle": [*RUN[:3], *RUN[4:]],
    "one decode step more at the end": [*RUN, RUN[-1]],
    "one decode step less at the end": list(RUN[:-1]),
    "an empty step": [*RUN[:4], Step(()), *RUN[4:]],
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_of_any_decision_moves_the_digest(changed: list[Step]) -> None:
    assert _digest(changed) != _digest(RUN)


def test_all_these_changes_have_digests_of_their_own() -> None:
    digests = [_digest(steps) for steps in (RUN, *CHANGES.values())]

    assert len(set(digests)) == len(digests)


def test_digest_does_not_depend_on_the_number_of_the_first_step() -> None:
    assert _digest(RUN, first=7) == _digest(RUN)


def test_digest_can_be_asked_for_at_any_time() -> None:
    digest = DecisionDigest()
    for number, step in enumerate(RUN):
        digest.add(_batch(number, step.rows), step.events)
        digest.hexdigest()

    assert digest.hexdigest() == _digest([replace(step, events=step.events) for step in RUN])
    assert len(digest.hexdigest()) == 32


FIRST = ask("a", prompt=9, output=5, hash_ids=(1, 2, 3))
SECOND = ask("b", 0.5, prompt=9, output=5, hash_ids=(1, 2, 4), line=2)

OTHER_RUNS: dict[str, Callable[[], Log]] = {
    "an output token less": lambda: serve([FIRST, replace(SECOND, output_length=4)]),
    "other content, and so no hits": lambda: serve([FIRST, replace(SECOND, hash_ids=(9, 2, 4))]),
    "an arrival one step later": lambda: serve([FIRST, replace(SECOND, arrival_s=1.5)]),
    "another name": lambda: serve([FIRST, replace(SECOND, request_id="c")]),
    "a smaller budget": lambda: serve([FIRST, SECOND], tokens=8),
    "fewer sequences": lambda: serve([FIRST, SECOND], seqs=1),
    "a smaller pool, and so a preemption": lambda: serve([FIRST, SECOND], num_blocks=4),
    "no cache": lambda: serve([FIRST, SECOND], policy=VllmPolicy(prefix_caching=False)),
    "a failed step": lambda: serve([FIRST, SECOND], backend=ScriptedBackend(errors={2: "The device is gone."})),
}
SAME_RUNS: dict[str, Callable[[], Log]] = {
    "the same": lambda: serve([FIRST, SECOND]),
    "shorter steps": lambda: serve([FIRST, SECOND], backend=ScriptedBackend((0.75,))),
    "steps of several lengths": lambda: serve([FIRST, SECOND], backend=ScriptedBackend((0.625, 1.5))),
    "an arrival later in the same step": lambda: serve([FIRST, replace(SECOND, arrival_s=0.9375)]),
    "another seed, where all content has an id": lambda: serve([FIRST, SECOND], seed=1),
    "other lines in the same order": lambda: serve([replace(FIRST, line=3), replace(SECOND, line=8)]),
}


@pytest.mark.parametrize("run", OTHER_RUNS.values(), ids=OTHER_RUNS.keys())
def test_runs_that_decide_otherwise_differ(run: Callable[[], Log]) -> None:
    assert run().digest != serve([FIRST, SECOND]).digest


@pytest.mark.parametrize("run", SAME_RUNS.values(), ids=SAME_RUNS.keys())
def test_runs_that_decide_alike_are_equal_whatever_the_clock_says(run: Callable[[], Log]) -> None:
    assert run().digest == serve([FIRST, SECOND]).digest
