"""In which step a decoding sequence reaches its length, so that nobody has to look at all of them in every step."""

from heapq import heappop, heappush

from engine.sequence import Sequence


class LengthCalendar:
    """The earliest step in which each sequence can reach its length; a step gives each at most one token.

        step     now      + 1      + 2       + 3      + 4
                                   a, c               b         now + tokens that are left to each

    Whoever was left out of a step is not there yet when its time comes, and is entered anew.
    """

    __slots__ = ("_now", "_seqs_at", "_step_of", "_steps")

    def __init__(self) -> None:
        """Start empty, in step 0."""
        self._now = 0
        self._steps: list[int] = []  # a heap: those of `_seqs_at`
        self._seqs_at: dict[int, list[Sequence]] = {}
        self._step_of: dict[Sequence, int] = {}

    def add(self, seq: Sequence) -> None:
        """Enter a sequence that decodes from now on."""
        step = self._step_of[seq] = self._now + seq.num_steps_left
        if step in self._seqs_at:
            self._seqs_at[step].append(seq)
        else:
            self._seqs_at[step] = [seq]
            heappush(self._steps, step)

    def discard(self, seq: Sequence) -> None:
        """Strike out a sequence, if it is entered."""
        step = self._step_of.pop(seq, None)
        if step is not None:
            self._seqs_at[step].remove(seq)

    def pass_steps(self, num_steps: int) -> None:
        """Let time pass."""
        self._now += num_steps

    def take_complete(self) -> list[Sequence]:
        """Strike out and return those that have reached their length."""
        due: list[Sequence] = []
        while self._steps and self._steps[0] <= self._now:
            due += self._seqs_at.pop(heappop(self._steps))
        for seq in due:
            del self._step_of[seq]
            if seq.num_steps_left > 0:
                self.add(seq)
        return [seq for seq in due if seq.num_steps_left <= 0] if due else due
