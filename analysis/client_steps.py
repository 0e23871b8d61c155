"""Rows of steps for a record that a client has made: the instants at which tokens came."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from analysis.rows import StepRow

Chunks = Sequence[tuple[float, int]]
"""Chunks of one request: (when it came, tokens in it), in order of time; a chunk holds at least one token."""


class ClientSteps:
    """Numbers the instants at which tokens came, so that a request's tokens can be written as runs of steps.

    A step stands for one token of a request. Tokens that came at once are steps of no length at one instant; requests
    whose tokens came at the same instant share its steps:

        request   chunks                 instants   1.0      1.5   2.0
        a         (1.0, 1), (2.0, 2)     steps      0 1 2    3     4 5      a: runs (0, 1), (4, 2)
        b         (1.0, 3), (1.5, 1)     length     1 0 0    .5    .5 0     b: runs (0, 3), (3, 1)
    """

    def __init__(self, requests: Sequence[Chunks]) -> None:
        """Take the chunks of all requests; times are seconds from 0."""
        widths: Counter[float] = Counter()
        for chunks in requests:
            for time_s, num_tokens in _merged(chunks):
                widths[time_s] = max(widths[time_s], num_tokens)
        self._instants = sorted(widths.items())
        counts = [width for _, width in self._instants]
        firsts = accumulate(counts, initial=0)
        self._first_step = dict(zip((time_s for time_s, _ in self._instants), firsts, strict=False))

    def runs(self, chunks: Chunks) -> tuple[list[int], list[int]]:
        """First step and length of each run of steps that gave a request its tokens."""
        merged = _merged(chunks)
        return [self._first_step[time_s] for time_s, _ in merged], [num_tokens for _, num_tokens in merged]

    def rows(self) -> Iterator[StepRow]:
        """The rows; what only an engine knows of a step is 0."""
        start_s = 0.0
        for time_s, width in self._instants:
            first = self._first_step[time_s]
            for number in range(first, first + width):
                yield _row(number, start_s, time_s)
                start_s = time_s


def _merged(chunks: Chunks) -> list[tuple[float, int]]:
    """Chunks of one instant as one."""
    merged: Counter[float] = Counter()
    for time_s, num_tokens in chunks:
        merged[time_s] += num_tokens
    return list(merged.items())


def _row(number: int, start_s: float, end_s: float) -> StepRow:
    duration_s = end_s - start_s
    return StepRow(
        step=number,
        start_s=start_s,
        duration_s=duration_s,
        host_s=duration_s,
        device_s=0.0,
        graph_size=None,
        num_prefill_tokens=0,
        num_prefill_seqs=0,
        prefill_qk=0,
        prefill_qq=0,
        prefill_context=0,
        max_query=0,
        max_context=0,
        num_decode_seqs=0,
        decode_context=0,
        decode_context_sq=0,
        max_decode_context=0,
        shared_context=0,
        num_sampled=0,
        num_new_blocks=0,
        num_admitted=0,
        num_released=0,
        num_waiting=0,
        num_running=0,
        num_used_blocks=0,
    )
