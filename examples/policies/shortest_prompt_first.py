"""A policy of one's own: of all that wait, the request with the shortest prompt goes first.

    python -m sim replay TRACE --policy examples/policies/shortest_prompt_first.py:ShortestPromptFirst

A policy is a class with `select`, called once a step. It reads `view.running` and `view.waiting`, and asks for what the
step shall do; the view changes queues and blocks at once, and the step runs when `select` returns. Short requests gain
here what long ones lose: a long prompt waits for as long as shorter ones keep coming.
"""

from engine import View


class ShortestPromptFirst:
    """Running sequences go on, the last admitted giving way when blocks run out; then the shortest prompts start."""

    def select(self, view: View) -> None:
        """Plan one step."""
        self._continue_running(view)
        if not view.has_preempted:  # whoever has just lost its blocks shall not take them back in the same step
            self._admit_waiting(view)

    def _continue_running(self, view: View) -> None:
        position = 0
        while position < len(view.running) and view.budget > 0:
            seq = view.running[position]
            num_tokens = min(seq.num_remaining, view.budget)  # the rest of a prompt; 1 for a sequence that decodes
            while not view.compute(seq, num_tokens):  # False: no block is free
                victim = view.running[-1]
                view.preempt(victim)  # its blocks are free now; it waits, and will be computed anew
                if victim is seq:
                    return
            position += 1

    def _admit_waiting(self, view: View) -> None:
        while view.waiting and view.budget > 0 and len(view.running) < view.limits.max_num_seqs:
            seq = min(view.waiting, key=lambda seq: (seq.num_prompt_tokens, seq.number))
            hits = view.find_hits(seq)  # blocks that hold the start of it already
            if not view.has_room(hits, seq.num_tokens):
                return
            num_missing = seq.num_tokens - len(hits) * view.limits.block_size
            view.admit(seq, hits, min(num_missing, view.budget))
