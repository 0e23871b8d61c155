"""Watches what a policy has decided: a step that no engine could run, and work that comes to nothing."""

from engine.batch import Batch
from engine.errors import NoProgressError, PolicyError
from engine.limits import Limits

STEPS_PER_TOKEN = 4
"""Patience, in steps for each token that the longest sequence may have: one that keeps its blocks samples before."""


class StepGuard:
    """Checks each batch of a policy, which may be a user's own.

    A policy can preempt for ever what it has just admitted: every step does something and no token ever comes. Steps
    that preempt are counted from one that samples to the next.
    """

    def __init__(self, limits: Limits, policy_name: str) -> None:
        """Start with nothing wrong."""
        self._limits = limits
        self._policy_name = policy_name
        self._num_fruitless = 0

    def check(self, batch: Batch) -> None:
        """Look at a batch that has been decided.

        Raises:
            PolicyError: it exceeds a limit.
            NoProgressError: steps have preempted for very long without a new token.
        """
        shape, limits = batch.shape, self._limits
        num_tokens = shape.num_prefill_tokens + shape.num_decode_seqs
        # nano-vllm bounds decode steps by sequences alone, as published.
        max_tokens = limits.max_num_batched_tokens if shape.num_prefill_seqs else num_tokens
        if num_tokens > max_tokens or len(batch) > limits.max_num_seqs:
            raise PolicyError(
                f"The policy {self._policy_name} scheduled {num_tokens} tokens in {len(batch)} rows in step "
                f"{batch.step}; max_num_batched_tokens is {limits.max_num_batched_tokens}, max_num_seqs "
                f"{limits.max_num_seqs}."
            )
        if shape.num_sampled:
            self._num_fruitless = 0
        elif batch.preempted:
            self._count_fruitless(batch.step)

    def _count_fruitless(self, step: int) -> None:
        self._num_fruitless += 1
        if self._num_fruitless > STEPS_PER_TOKEN * self._limits.max_model_len:
            raise NoProgressError(
                f"The policy {self._policy_name} preempted in {self._num_fruitless} steps up to step {step} and no "
                "request got a token; let a request keep its blocks until it has sampled."
            )
