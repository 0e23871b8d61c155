"""The sequences that hold blocks and compute."""

from collections.abc import Iterator

from engine.context_sums import ContextSums
from engine.length_calendar import LengthCalendar
from engine.sequence import Sequence


class RunningSet:
    """Running sequences in admission order.

    Most steps of a busy engine decode exactly the sequences of the step before, or some more or less, so what would
    take a look at each of them is kept from step to step: the columns of such a batch until the set changes, the sums
    of its contexts until something other than all decodes has gone on, and when each reaches its length.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._seqs: list[Sequence] = []
        self._rows: dict[Sequence, int] = {}
        self._prefilling: set[Sequence] = set()
        self._sums: ContextSums | None = None
        self._lengths = LengthCalendar()
        self._decode_columns: tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]] | None = None

    def add(self, seq: Sequence) -> None:
        """Take a sequence at the end; its prompt counts as unfinished until `note_progress` says otherwise."""
        self._seqs.append(seq)
        self._rows[seq] = 1
        seq.is_running = True
        self._prefilling.add(seq)
        self._decode_columns = None

    def remove(self, seq: Sequence) -> None:
        """Let one go."""
        self._seqs.remove(seq)
        del self._rows[seq]
        seq.is_running = False
        if seq in self._prefilling:
            self._prefilling.remove(seq)
        else:
            self._lengths.discard(seq)
            if self._sums is not None:
                self._sums = self._sums.without(seq.num_computed_tokens)
        self._decode_columns = None

    def advance(self, num_leading: int, num_steps: int = 1) -> None:
        """Note that the first `num_leading` decodes are `num_steps` tokens further on; call it once for each batch.

        Nothing is known of the others.
        """
        self._lengths.pass_steps(num_steps)
        if self._sums is not None and num_leading == self._sums.num_rows:
            self._sums.advance(num_steps)
        else:
            self._sums = None

    def note_progress(self) -> None:
        """Look again at which prompts are unfinished; call it after tokens have been computed."""
        for seq in [seq for seq in self._prefilling if seq.num_remaining <= 1]:
            self._prefilling.remove(seq)
            self._lengths.add(seq)
            if self._sums is not None:
                self._sums.add(seq.num_computed_tokens)

    def take_complete(self) -> list[Sequence]:
        """Those that have reached their length since the last call, in any order."""
        return self._lengths.take_complete()

    def context_sums(self, positions: tuple[int, ...]) -> ContextSums:
        """Sums over the first decodes, of which these are the positions; they are known already if that is all."""
        if len(positions) != len(self._seqs) - len(self._prefilling):
            return ContextSums(positions)
        if self._sums is None:
            self._sums = ContextSums(positions)
        return self._sums

    def decode_columns(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]]:
        """Ids, token counts and samples-flags of a batch in which every running sequence decodes."""
        if self._decode_columns is None:
            ids = tuple([seq.request_id for seq in self._seqs])
            self._decode_columns = (ids, (1,) * len(ids), (True,) * len(ids))
        return self._decode_columns

    def leading_decodes(self, max_seqs: int) -> list[Sequence]:
        """The first sequences, at most `max_seqs`, up to one that has more than one token left to compute."""
        if not self._prefilling:
            return self._seqs[:max_seqs]
        return self._seqs[: min(max_seqs, *map(self._seqs.index, self._prefilling))]

    def decode_rows(self, leading: list[Sequence]) -> dict[Sequence, int]:
        """The first sequences with a token each: a new dict, which for all of them is a mere copy."""
        return self._rows.copy() if len(leading) == len(self._seqs) else dict.fromkeys(leading, 1)

    def index(self, seq: Sequence) -> int:
        """Position of a sequence."""
        return self._seqs.index(seq)

    def __getitem__(self, index: int) -> Sequence:
        """Sequence at a position; negative from the end."""
        return self._seqs[index]

    def __iter__(self) -> Iterator[Sequence]:
        """In admission order."""
        return iter(self._seqs)

    def __contains__(self, seq: Sequence) -> bool:
        """Whether a sequence runs."""
        return seq in self._rows

    def __len__(self) -> int:
        """Number of running sequences."""
        return len(self._seqs)
