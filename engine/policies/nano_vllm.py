"""The scheduling of nano-vllm: a step is all prefill or all decode, and prefill goes first."""

from dataclasses import dataclass

from engine.rules import Rules
from engine.view import View


@dataclass(frozen=True, slots=True)
class NanoVllmPolicy:
    """Admit whole sequences while any fits, else decode; only the first prompt of a step may be cut to the budget.

    `max_num_seqs` bounds one batch, not the running set, as published.
    """

    @property
    def rules(self) -> Rules:
        """What this policy asks of queues and blocks."""
        return Rules(register_when="computed", keep_duplicates=False, reuse_unkeyed_first=False)

    def select(self, view: View) -> None:
        """Prefill if anything waiting can be scheduled, else decode."""
        self._prefill(view)
        if view.num_rows == 0:
            self._decode(view)

    def only_decodes(self, view: View) -> bool:
        """Whether nothing waits, or what waits stays out while the running set stays: see `engine.policy.Policy`.

        Free blocks become fewer, hits can go but none can come, and a whole sequence wants the same room throughout.
        """
        if len(view.running) > view.limits.max_num_seqs:
            return False
        if not view.waiting:
            return True
        seq = view.waiting.first()
        hits = view.find_hits(seq)
        is_out = not seq.block_table and not view.has_room(hits, seq.num_tokens)
        return is_out and not view.can_gain_hits(seq, hits)

    def _prefill(self, view: View) -> None:
        while view.waiting and view.budget > 0 and view.num_rows < view.limits.max_num_seqs:
            seq = view.waiting.first()
            has_blocks = bool(seq.block_table)  # it was cut to the budget in an earlier step
            hits = [] if has_blocks else view.find_hits(seq)
            if not has_blocks and not view.has_room(hits, seq.num_tokens):
                return
            num_remaining = seq.num_remaining - len(hits) * view.limits.block_size
            if num_remaining > view.budget and view.num_rows > 0:
                return
            if not has_blocks:
                view.allocate(seq, hits, seq.num_tokens)
            if num_remaining <= view.budget:
                view.start(seq)
            view.compute(seq, min(num_remaining, view.budget))

    def _decode(self, view: View) -> None:
        position = view.decode_leading(view.limits.max_num_seqs)
        while position < len(view.running) and view.num_rows < view.limits.max_num_seqs:
            seq = view.running[position]
            while not view.compute(seq, 1):
                victim = view.running[-1]
                view.preempt(victim)
                if victim is seq:
                    return
            position += 1
