"""The sequences that hold blocks and compute."""

from collections.abc import Iterator
from itertools import takewhile

from engine.sequence import Sequence


class RunningSet:
    """Running sequences in admission order.

    Most steps of a busy engine decode exactly the sequences of the step before, so the columns of such a batch are kept
    until the set changes.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._seqs: list[Sequence] = []
        self._prefilling: set[Sequence] = set()
        self._decode_columns: tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]] | None = None

    def add(self, seq: Sequence) -> None:
        """Take a sequence at the end; its prompt counts as unfinished until `note_progress` says otherwise."""
        self._seqs.append(seq)
        seq.is_running = True
        self._prefilling.add(seq)
        self._decode_columns = None

    def remove(self, seq: Sequence) -> None:
        """Let one go."""
        self._seqs.remove(seq)
        seq.is_running = False
        self._prefilling.discard(seq)
        self._decode_columns = None

    def note_progress(self) -> None:
        """Look again at which prompts are unfinished; call it after tokens have been computed."""
        self._prefilling = {seq for seq in self._prefilling if seq.num_remaining > 1}

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
        prefilling = self._prefilling
        return list(takewhile(lambda seq: seq not in prefilling, self._seqs[:max_seqs]))

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
        """Whether a sequence runs. O(n)."""
        return seq in self._seqs

    def __len__(self) -> int:
        """Number of running sequences."""
        return len(self._seqs)
