"""Makes a trace from a recipe."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from traces.canonical_row import default_request_id
from traces.errors import TraceError
from traces.generation.drawn_lengths import DrawnPairs
from traces.generation.recipe import Recipe
from traces.generation.session_plan import SessionPlan
from traces.prefix_tree import Path, PrefixTree, draw_paths
from traces.time_quantum import MAX_TIME_S, to_seconds
from traces.trace import Trace
from traces.trace_request import TraceRequest

MICROSECONDS = 10**6


class Streams(NamedTuple):
    """Random numbers of their own for each part."""

    arrivals: np.random.Generator
    inputs: np.random.Generator
    outputs: np.random.Generator
    prefixes: np.random.Generator
    sessions: np.random.Generator


def make_trace(recipe: Recipe) -> Trace:
    """Make a trace; the same recipe gives the same trace in any process.

    Arrivals and delays are whole microseconds, so that a file of the trace stays readable.

    Raises:
        TraceError: the requests would arrive over more than 48.5 days.
    """
    streams = Streams(*np.random.default_rng(recipe.seed).spawn(5))
    pairs = recipe.lengths.draw(recipe.num_requests, streams.inputs, streams.outputs)
    paths = _paths(recipe, streams.prefixes)
    cut: tuple[str, ...] = ()
    if recipe.sessions is None:
        rows = _single_rows(pairs, paths, recipe)
    else:
        sessions = SessionRows(recipe.sessions, pairs, paths, recipe)
        rows, cut = list(sessions.draw(streams.sessions)), sessions.notices
    arrivals_us = iter(_arrivals_us(recipe, sum(row.delay_us is None for row in rows), streams.arrivals))
    requests = [_request(index, row, arrivals_us) for index, row in enumerate(rows)]
    notice = f"Generated with seed {recipe.seed}: {recipe.num_requests} requests at {recipe.arrivals.rate:g} a second."
    notices = (notice, *pairs.notices, *cut)
    return Trace(name="generated", requests=tuple(requests), block_size=recipe.block_size, notices=notices)


class MadeRow(NamedTuple):
    """A request without its arrival.

    Attributes:
        input_length: tokens of the prompt.
        output_length: tokens of the output.
        hash_ids: content ids, or None.
        session_id: session, or None.
        delay_us: microseconds after the turn before; None for a request that has an arrival.
    """

    input_length: int
    output_length: int
    hash_ids: tuple[int, ...] | None = None
    session_id: str | None = None
    delay_us: int | None = None


class SessionRows:
    """Puts turns one behind the other.

        turn 1    |prompt = added 1|
        turn 2    |prompt 1|output 1|added 2|
        turn 3    |prompt 2                 |output 2|added 3|

    Args:
        plan: of the sessions.
        pairs: added and output tokens of each request.
        paths: shared prefix of a session, by the position of its first turn.
        recipe: gives the block size.
    """

    def __init__(self, plan: SessionPlan, pairs: DrawnPairs, paths: Sequence[Path], recipe: Recipe) -> None:
        self._plan = plan
        self._pairs = pairs
        self._paths = paths
        self._tree = PrefixTree(recipe.block_size, recipe.prefixes.node_blocks if recipe.prefixes else 1)
        self._num_cut = 0

    def draw(self, rng: np.random.Generator) -> Iterator[MadeRow]:
        """Yield the turns, those of a session together."""
        num_requests = len(self._pairs.inputs)
        at = num_sessions = 0
        while at < num_requests:
            num_turns = min(self._plan.draw_num_turns(rng), num_requests - at)
            before: MadeRow | None = None
            for _ in range(num_turns):
                row = self._turn(at, f"s{num_sessions}", before, rng)
                if row is None:
                    self._num_cut += 1
                    break
                yield row
                before = row
                at += 1
            num_sessions += 1

    def _turn(self, at: int, session_id: str, before: MadeRow | None, rng: np.random.Generator) -> MadeRow | None:
        added, output = self._pairs.inputs[at], self._pairs.outputs[at]
        if before is None:
            return MadeRow(added, output, self._tree.hash_ids(self._paths[at], added), session_id)
        length = before.input_length + before.output_length + added
        if length > self._plan.max_input:
            return None
        hash_ids = self._tree.continued(before.hash_ids or (), before.input_length, length)
        return MadeRow(length, output, hash_ids, session_id, self._plan.draw_delay_us(rng))

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence about sessions that ended early, once all are drawn."""
        if not self._num_cut:
            return ()
        return (f"{self._num_cut} sessions ended before a prompt of more than {self._plan.max_input} tokens.",)


def _paths(recipe: Recipe, rng: np.random.Generator) -> Sequence[Path]:
    if recipe.prefixes is None:
        return [()] * recipe.num_requests
    return draw_paths(recipe.prefixes, recipe.num_requests, rng)


def _single_rows(pairs: DrawnPairs, paths: Sequence[Path], recipe: Recipe) -> list[MadeRow]:
    if recipe.prefixes is None:
        return [MadeRow(*lengths) for lengths in zip(pairs.inputs, pairs.outputs, strict=True)]
    tree = PrefixTree(recipe.block_size, recipe.prefixes.node_blocks)
    rows = zip(pairs.inputs, pairs.outputs, paths, strict=True)
    return [MadeRow(num_input, num_output, tree.hash_ids(path, num_input)) for num_input, num_output, path in rows]


def _arrivals_us(recipe: Recipe, num: int, rng: np.random.Generator) -> list[int]:
    arrivals_s = recipe.arrivals.draw_s(num, rng)
    if not arrivals_s[-1] <= MAX_TIME_S:
        raise TraceError(
            f"{num} requests at a rate of {recipe.arrivals.rate} a second take {arrivals_s[-1]:.3g} s, but "
            f"a trace spans at most {MAX_TIME_S} s (48.5 days)"
        )
    return [int(arrival) for arrival in np.rint(arrivals_s * MICROSECONDS)]


def _request(index: int, row: MadeRow, arrivals_us: Iterator[int]) -> TraceRequest:
    return TraceRequest(
        request_id=default_request_id(index),
        line=index + 1,
        input_length=row.input_length,
        output_length=row.output_length,
        arrival_s=to_seconds(next(arrivals_us), MICROSECONDS) if row.delay_us is None else None,
        delay_s=None if row.delay_us is None else to_seconds(row.delay_us, MICROSECONDS),
        session_id=row.session_id,
        hash_ids=row.hash_ids,
    )
