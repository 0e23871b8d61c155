"""Where a run and its replay part, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from analysis.rows import EventRow, RequestRow, StepRow

_MAX_EVENTS = 12
_MAX_BLOCKS = 12


class StepSide(NamedTuple):
    """A step as one side has it.

    Attributes:
        row: its row; None if that side had ended.
        events: its events, in order.
    """

    row: StepRow | None
    events: tuple[EventRow, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that the two do not share.

    Attributes:
        place: where, such as "step 17".
        what: a sentence for each value that differs.
        run: what the run did there, line by line.
        simulator: what the simulator did there.
        step: number of the step; None if no step can be named.
    """

    place: str
    what: tuple[str, ...]
    run: tuple[str, ...] = ()
    simulator: tuple[str, ...] = ()
    step: int | None = None

    def render(self) -> str:
        """Lines of text, the first one whole in itself."""
        lines = [f"different: first in {self.place}", *(f"  {sentence}" for sentence in self.what)]
        for name, side in (("the run", self.run), ("the simulator", self.simulator)):
            lines += [f"  {name}:", *(f"    {line}" for line in side)] if side else []
        return "\n".join(lines) + "\n"


def step_difference(step: int, run: StepSide, simulator: StepSide) -> Difference | None:
    """What differs in a step; None if nothing does."""
    if run == simulator:
        return None
    what = (*_row_sentences(run.row, simulator.row), *_event_sentences(run.events, simulator.events))
    return Difference(f"step {step}", what, tuple(_side(run)), tuple(_side(simulator)), step)


def request_difference(run: RequestRow, simulator: RequestRow, ignored: Sequence[str] = ()) -> Difference | None:
    """What differs between two rows of a request; None if nothing does but the `ignored` columns."""
    what = tuple(_field_sentences(run, simulator, ignored))
    if not what:
        return None
    step = _first_emission_difference(run, simulator)
    place = f"request {run.request_id}" if step is None else f"step {step}, by the tokens of {run.request_id}"
    return Difference(place, what, step=step)


def _row_sentences(run: StepRow | None, simulator: StepRow | None) -> Iterator[str]:
    if run is None and simulator is None:
        return
    if run is None:
        yield "the run had ended, and the simulator goes on"
    elif simulator is None:
        yield "the simulator had ended, and the run goes on"
    else:
        yield from _field_sentences(run, simulator, ())


def _field_sentences(run: Any, simulator: Any, ignored: Sequence[str]) -> Iterator[str]:  # noqa: ANN401  # rows of a kind
    for name, there, here in zip(run._fields, run, simulator, strict=True):
        if there != here and name not in ignored:
            yield f"{name} is {_value(there)} in the run and {_value(here)} in the simulator"


def _value(value: object) -> str:
    return "missing" if value is None else repr(value) if isinstance(value, float) else str(value)


def _event_sentences(run: Sequence[EventRow], simulator: Sequence[EventRow]) -> Iterator[str]:
    """The first event that differs; those behind it follow from it, or are shown with the sides."""
    for number, (there, here) in enumerate(zip_longest(run, simulator)):
        if there != here:
            only = "the run" if here is None else "the simulator"
            yield (
                f"event {number} is in {only} alone: {_event(there or here)}"
                if there is None or here is None
                else f"event {number} is {_event(there)!r} in the run and {_event(here)!r} in the simulator"
            )
            return


def _side(side: StepSide) -> Iterator[str]:
    if side.row is None:
        yield "had ended"
        return
    row = side.row
    how = "eager" if row.graph_size is None else f"in a graph of {row.graph_size} rows"
    yield f"starts at {row.start_s!r} s, lasts {row.duration_s!r} s, {how}"
    yield (
        f"{row.num_decode_seqs} decode rows, {row.num_prefill_seqs} prompt chunks of {row.num_prefill_tokens} tokens, "
        f"{row.num_sampled} rows sample"
    )
    yield (
        f"{row.num_new_blocks} new blocks, {row.num_used_blocks} used; then {row.num_running} running, "
        f"{row.num_waiting} waiting"
    )
    yield from (_event(event) for event in side.events[:_MAX_EVENTS])
    if len(side.events) > _MAX_EVENTS:
        yield f"and {len(side.events) - _MAX_EVENTS} more events"


def _event(event: EventRow) -> str:
    name = event.request_id
    if event.kind in ("admitted", "resumed"):
        return f"{name} is {event.kind}, {event.num_tokens} tokens hit"
    if event.kind == "chunk":
        return f"{name} computes {event.num_tokens} prompt tokens"
    if event.kind == "blocks":
        return f"{name} gets blocks {_numbers(event.block_ids or ())}"
    return f"{name} is {event.kind}" + (f": {event.reason}" if event.reason else "")


def _numbers(values: Sequence[int]) -> str:
    shown = ", ".join(map(str, values[:_MAX_BLOCKS])) or "(none)"
    return shown if len(values) <= _MAX_BLOCKS else f"{shown} and {len(values) - _MAX_BLOCKS} more"


def _first_emission_difference(run: RequestRow, simulator: RequestRow) -> int | None:
    """First step in which one side alone gave the request a token.

    step     5  6  7  8  9 10 11
    run      x  x  x        x  x      first steps [5, 10], counts [3, 2]
    replay   x  x  x  x        x      first steps [5, 11], counts [4, 1]: step 8
    """
    sides = [list(zip(row.emission_first_steps, row.emission_counts, strict=False)) for row in (run, simulator)]
    for pair in zip_longest(*sides):
        if pair[0] != pair[1]:
            runs = [each for each in pair if each is not None]
            firsts = [first for first, _ in runs]
            if len(runs) < 2 or firsts[0] != firsts[1]:
                return min(firsts)
            return min(first + count for first, count in runs)
    return None
