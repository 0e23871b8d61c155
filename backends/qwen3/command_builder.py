"""Turns the engine's batches into step commands: request ids into seats, prompts into tokens."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.qwen3.prompt_tokens import prompt_tokens
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.seats import Seats
from backends.qwen3.step_command import IntArray, SeatBlocks, SeatedSequence, SeatTokens, StepCommand
from engine.batch import Admission, Batch

_NONE = np.zeros(0, dtype=np.int32)
_NO_TOKENS = SeatTokens(_NONE, _NONE, _NONE)


class _Column:
    """Turns a column of a batch into an array, once as long as the scheduler hands out the very same tuple."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._dtype = dtype
        self._source: tuple[int, ...] = ()
        self._array = np.zeros(0, dtype=dtype)

    def of(self, source: tuple[int, ...]) -> NDArray[Any]:
        if source is not self._source:
            self._source, self._array = source, np.array(source, dtype=self._dtype)
        return self._array


class CommandBuilder:
    """Keeps the seats of all live sequences; batches must come in the order in which they were made.

    Args:
        vocab_size: tokens that the model knows.
        block_size: tokens in a KV block.
        sampling: learns how each sequence that takes a seat is sampled; that stays on this rank.
    """

    def __init__(self, vocab_size: int, block_size: int, sampling: SamplingRows) -> None:
        self._vocab_size = vocab_size
        self._block_size = block_size
        self._sampling = sampling
        self._seats = Seats()
        self._row_ids: tuple[str, ...] = ()
        self._row_seats = _NONE
        self._num_tokens = _Column(np.int32)
        self._samples = _Column(np.bool_)
        self._new_tokens = _NO_TOKENS
        self._failed: tuple[int, ...] = ()

    def build(self, batch: Batch) -> tuple[StepCommand, dict[str, str]]:
        """The command of a batch, and the reasons why some of its rows must fail: their prompts cannot be embedded.

        A step that was broken off has no result, and the next command tells that of the step before it once more: the
        rows may not have got to know it, and to be told twice does no harm.
        """
        # A sequence that was resumed and preempted while one batch was made is released a second time; a scheduler that
        # came to its end never released its last ones, whose names the next scheduler may use again.
        leaving = (*batch.released, *[admission.request_id for admission in batch.admitted])
        released = tuple([self._seats.release(name) for name in leaving if name in self._seats])
        refused: dict[str, str] = {}
        admitted = tuple([self._seat(admission, refused) for admission in batch.admitted])
        if released or admitted or batch.request_ids != self._row_ids:
            self._row_ids = batch.request_ids
            self._row_seats = np.array([self._seats[request_id] for request_id in batch.request_ids], dtype=np.int32)
        command = StepCommand(
            new_tokens=self._new_tokens,
            failed=self._failed,
            released=released,
            admitted=admitted,
            grown=self._grown(batch),
            seats=self._row_seats,
            first_positions=np.array(batch.first_positions, dtype=np.int32),
            num_tokens=self._num_tokens.of(batch.num_tokens),
            samples=self._samples.of(batch.samples),
        )
        return command, refused

    def note_result(self, command: StepCommand, token_ids: IntArray, failed: Mapping[str, str]) -> None:
        """Take what `command` gave, to be told with the next one.

        Args:
            command: the last one built.
            token_ids: [sampling rows], as returned to the engine.
            failed: reasons by id of rows that failed.
        """
        seats, positions = command.seats, command.first_positions + command.num_tokens
        if len(token_ids) < len(seats):
            seats, positions = seats[command.samples], positions[command.samples]
        self._new_tokens = SeatTokens(seats, positions, token_ids)
        self._failed = tuple([self._seats[request_id] for request_id in failed])

    def _seat(self, admission: Admission, refused: dict[str, str]) -> SeatedSequence:
        tokens = prompt_tokens(admission.prompt, self._vocab_size)
        is_unknown = (tokens < 0) | (tokens >= self._vocab_size)
        if is_unknown.any():
            refused[admission.request_id] = (
                f"Its prompt has token id {tokens[is_unknown][0]}; the model knows 0 to {self._vocab_size - 1}."
            )
            tokens[is_unknown] = 0  # must not reach the embedding; the row fails, so nobody uses what comes of it
        outputs = np.array(admission.output_ids, dtype=np.int32)
        seat = self._seats.take(admission.request_id)
        self._sampling.admit(seat, admission.request_id, admission.params)
        return SeatedSequence(
            seat=seat,
            token_ids=np.concatenate((tokens.astype(np.int32), outputs)),
            block_table=np.array(admission.block_table, dtype=np.int32),
            num_hit_blocks=-(-admission.num_hit_tokens // self._block_size),
        )

    def _grown(self, batch: Batch) -> SeatBlocks:
        if not batch.new_blocks:
            return SeatBlocks(_NONE, _NONE, _NONE)
        request_ids, block_ids = zip(*batch.new_blocks, strict=True)
        seats = np.array([self._seats[request_id] for request_id in request_ids], dtype=np.int32)
        counts = np.array([len(ids) for ids in block_ids], dtype=np.int32)
        return SeatBlocks(
            seats, counts, np.fromiter(chain.from_iterable(block_ids), dtype=np.int32, count=counts.sum())
        )
