"""The scheduling of vLLM's V1 engine (synchronous): one token budget, running sequences first."""

from dataclasses import dataclass
from typing import Literal

from engine.errors import SettingError
from engine.rules import Rules
from engine.sequence import Sequence
from engine.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPolicy:
    """Running sequences first, then waiting ones, prefill chunks and decodes mixed in one step.

    Attributes:
        scheduling_policy: "fcfs", or "priority": (priority, arrival) orders the waiting and chooses the victim.
        chunked_prefill: whether a prompt may be cut to the step's budget.
        prefix_caching: whether prefixes are looked up and kept.
        long_prefill_token_threshold: most prompt tokens of one sequence in a step; 0 is no such limit.
        watermark: share of the pool that an admission must leave free while others run.
        reserve_full_prompt: admit only if all known tokens fit, not just the first chunk.
        vllm_version: "0.33", or "0.25", which differs where both are published: a lone request keeps to the threshold,
            and under priority a sequence that preempts itself ends the running phase.

    Raises:
        SettingError: a setting is outside its range.
    """

    scheduling_policy: Literal["fcfs", "priority"] = "fcfs"
    chunked_prefill: bool = True
    prefix_caching: bool = True
    long_prefill_token_threshold: int = 0
    watermark: float = 0.0
    reserve_full_prompt: bool = True
    vllm_version: Literal["0.25", "0.33"] = "0.33"

    def __post_init__(self) -> None:
        if self.scheduling_policy not in ("fcfs", "priority"):
            raise SettingError(f"scheduling_policy is {self.scheduling_policy!r}; known: fcfs, priority.")
        if self.vllm_version not in ("0.25", "0.33"):
            raise SettingError(f"vllm_version is {self.vllm_version!r}; known: 0.25, 0.33.")
        if self.long_prefill_token_threshold < 0:
            raise SettingError(
                f"long_prefill_token_threshold is {self.long_prefill_token_threshold}; give a number of tokens, 0 for "
                "none."
            )
        if not 0 <= self.watermark < 1:
            raise SettingError(f"watermark is {self.watermark}; it is a share of the pool, from 0 up to below 1.")

    @property
    def rules(self) -> Rules:
        """What this policy asks of queues and blocks."""
        return Rules(
            waiting_order="priority" if self.scheduling_policy == "priority" else "arrival",
            prefix_caching=self.prefix_caching,
            chunked_prefill=self.chunked_prefill,
        )

    def select(self, view: View) -> None:
        """Go on with the running, then admit; but not in a step that had to preempt."""
        self._continue_running(view)
        if not view.has_preempted:
            self._admit_waiting(view)

    def only_decodes(self, view: View) -> bool:
        """Whether nothing waits, or what waits stays out while the running set stays: see `engine.policy.Policy`.

        Free blocks become fewer, and hits that are not held can go but none can come, with the room that is wanted for
        a whole sequence staying the same. For the first chunk alone it could shrink with the hits, hence no answer.
        """
        budget = view.budget - len(view.running)
        if not view.waiting or budget <= 0 or len(view.running) >= view.limits.max_num_seqs:
            return budget >= 0
        seq = view.waiting.first()
        hits = view.find_hits(seq)
        is_out = self._tokens_to_admit(view, seq, hits, budget) is None
        return is_out and self.reserve_full_prompt and not view.can_gain_hits(seq, hits)

    def _continue_running(self, view: View) -> None:
        threshold = self._threshold(view)
        position = view.decode_leading(view.budget)
        while position < len(view.running) and view.budget > 0:
            seq = view.running[position]
            num_tokens = min(seq.num_remaining, threshold, view.budget)
            while not view.compute(seq, num_tokens):
                victim = self._victim(view)
                position -= view.running.index(victim) < position
                view.preempt(victim)
                if victim is seq:
                    break
            else:
                position += 1
                continue
            # The sequence has given up its own blocks: no other could spare any.
            if self.scheduling_policy == "fcfs" or self.vllm_version == "0.25":
                return

    def _victim(self, view: View) -> Sequence:
        if self.scheduling_policy == "fcfs":
            return view.running[-1]
        return max(view.running, key=lambda seq: seq.urgency)

    def _admit_waiting(self, view: View) -> None:
        while view.waiting and view.budget > 0 and len(view.running) < view.limits.max_num_seqs:
            seq = view.waiting.first()
            hits = view.find_hits(seq)
            num_tokens = self._tokens_to_admit(view, seq, hits, view.budget)
            if num_tokens is None:
                return
            view.admit(seq, hits, num_tokens)

    def _tokens_to_admit(self, view: View, seq: Sequence, hits: list[int], budget: int) -> int | None:
        """Tokens of its first chunk; None if it cannot be admitted now."""
        num_hit_tokens = len(hits) * view.limits.block_size
        num_tokens = min(seq.num_tokens - num_hit_tokens, self._threshold(view))
        if num_tokens > budget and not self.chunked_prefill:
            return None
        num_tokens = min(num_tokens, budget)
        num_wanted = seq.num_tokens if self.reserve_full_prompt else num_hit_tokens + num_tokens
        return num_tokens if view.has_room(hits, num_wanted, self._watermark_blocks(view)) else None

    def _threshold(self, view: View) -> int:
        threshold = self.long_prefill_token_threshold
        if threshold == 0 or (self.vllm_version != "0.25" and view.num_unfinished == 1):
            return view.limits.max_model_len
        return threshold

    def _watermark_blocks(self, view: View) -> int:
        # vLLM counts its null block too, hence the + 1.
        return int(self.watermark * (view.num_blocks + 1)) if len(view.running) else 0
