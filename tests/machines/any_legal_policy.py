"""A policy that does whatever a policy may do, in an order that no sensible one would choose."""

from dataclasses import dataclass, field
from random import Random

from engine import Rules, Sequence, View

MAX_WHIMS = 30  # preemptions without need; bounded, so that every workload ends


@dataclass(slots=True)
class AnyLegalPolicy:
    """Computes, admits and preempts at random, also what it has just scheduled or admitted; ends with a needed row."""

    seed: int
    _random: Random = field(init=False, repr=False)
    _num_whims: int = field(init=False, repr=False, default=0)
    _done: set[Sequence] = field(init=False, repr=False, default_factory=set)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)

    @property
    def rules(self) -> Rules:
        """Any rules, the same at each look."""
        pick = Random(self.seed)
        return Rules(
            waiting_order=pick.choice(["arrival", "priority"]),
            register_when=pick.choice(["scheduled", "computed"]),
            keep_duplicates=pick.random() < 0.5,
            reuse_unkeyed_first=pick.random() < 0.5,
        )

    def select(self, view: View) -> None:
        """A few random wishes; if they gave no row, the first running sequence or else the first waiting one."""
        self._done = set()
        if self._random.random() < 0.3 and len(view.running) <= min(view.budget, view.limits.max_num_seqs):
            num_leading = view.decode_leading(self._random.randint(1, len(view.running) + 1))
            self._done.update(list(view.running)[:num_leading])
        for _ in range(self._random.randrange(7)):
            self._random.choice([self._compute, self._admit, self._admit, self._preempt])(view)
        if view.num_rows == 0 and len(view.running):
            self._insist(view, view.running[0])
        elif view.num_rows == 0:
            self._admit(view)

    def _compute(self, view: View) -> None:
        seqs = [seq for seq in view.running if seq not in self._done]
        if seqs and view.budget > 0 and view.num_rows < view.limits.max_num_seqs:
            seq = self._random.choice(seqs)
            if view.compute(seq, self._random.randint(1, min(seq.num_remaining, view.budget))):
                self._done.add(seq)

    def _admit(self, view: View) -> None:
        seqs = [seq for seq in view.waiting if seq not in self._done]
        if not seqs or view.budget < 1 or len(view.running) >= view.limits.max_num_seqs:
            return
        seq = self._random.choice(seqs) if len(view.running) else seqs[0]
        hits = view.find_hits(seq)
        hits = hits[: self._random.randint(0, len(hits))]
        num_hit_tokens = len(hits) * view.limits.block_size
        num_tokens = self._random.randint(1, min(seq.num_tokens - num_hit_tokens, view.budget))
        if view.has_room(hits, num_hit_tokens + num_tokens):
            view.admit(seq, hits, num_tokens)
            self._done.add(seq)

    def _preempt(self, view: View) -> None:
        if self._num_whims < MAX_WHIMS and len(view.running) > 1:
            self._num_whims += 1
            seq = self._random.choice(list(view.running))
            view.preempt(seq)
            self._done.add(seq)

    def _insist(self, view: View, seq: Sequence) -> None:
        while seq.is_running and not view.compute(seq, 1):
            view.preempt(view.running[-1])
