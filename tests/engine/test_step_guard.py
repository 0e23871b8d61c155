"""Policies that decide what no engine could run, or that come to nothing."""

import pytest

from engine import NoProgressError, PolicyError, View
from engine.sequence import Sequence
from tests.engine.driver import Driver, limits, request


class Greedy:
    """Admits everything, whatever the limits are."""

    def select(self, view: View) -> None:
        """Admit all that waits."""
        while view.waiting:
            seq = view.waiting.first()
            view.admit(seq, [], seq.num_tokens)


def test_step_above_the_token_budget_is_refused() -> None:
    driver = Driver(Greedy(), limits(max_num_batched_tokens=8), num_blocks=100)
    driver.add(request("a", 5), request("b", 4))

    with pytest.raises(PolicyError) as error:
        driver.step()

    assert str(error.value) == (
        "The policy Greedy scheduled 9 tokens in 2 rows in step 0; max_num_batched_tokens is 8, max_num_seqs 8."
    )


def test_step_of_more_rows_than_sequences_is_refused() -> None:
    driver = Driver(Greedy(), limits(max_num_seqs=2), num_blocks=100)
    driver.add(request("a", 1), request("b", 1), request("c", 1))

    with pytest.raises(PolicyError, match=r"scheduled 3 tokens in 3 rows in step 0; .* max_num_seqs 2"):
        driver.step()


def test_steps_at_the_limits_are_fine() -> None:
    driver = Driver(Greedy(), limits(max_num_batched_tokens=9, max_num_seqs=2), num_blocks=100)
    driver.add(request("a", 5), request("b", 4))

    assert driver.step().rows == [("a", 5), ("b", 4)]


class Fickle:
    """Preempts in each step what it admitted in the step before, having computed `num_tokens`."""

    def __init__(self, num_tokens: int) -> None:
        self._num_tokens = num_tokens

    def select(self, view: View) -> None:
        """Preempt, or admit if there was nobody to preempt."""
        for seq in list(view.running):
            view.preempt(seq)
        if not view.has_preempted:
            view.admit(view.waiting.first(), [], self._num_tokens)


def test_policy_that_preempts_for_ever_is_told_so() -> None:  # inference-sim#963: no step cap and no detector
    driver = Driver(Fickle(num_tokens=2), limits(max_model_len=10), num_blocks=100)
    driver.add(request("a", 3))

    with pytest.raises(NoProgressError) as error:
        driver.finish(max_steps=1000)

    assert len(driver.batches) == 81
    assert str(error.value) == (
        "The policy Fickle preempted in 41 steps up to step 81 and no request got a token; let a request keep its "
        "blocks until it has sampled."
    )


def test_policy_that_preempts_often_but_gets_tokens_out_is_served() -> None:
    driver = Driver(AllAtOnce(), limits(max_model_len=20), num_blocks=100)
    driver.add(*[request(name, 3, max_tokens=15) for name in "abcdefgh"])

    steps = driver.finish(max_steps=1000)

    assert sum(len(step.preempted) for step in steps) == 8 * 14  # more than 4 x 20
    assert {ended.status for ended in driver.ended.values()} == {"finished"}


class AllAtOnce:
    """Preempts everybody in every other step, and computes all there is in the steps between."""

    def select(self, view: View) -> None:
        """Preempt, or admit if there was nobody to preempt."""
        for seq in list(view.running):
            view.preempt(seq)
        if not view.has_preempted:
            seq = view.waiting.first()
            view.admit(seq, [], seq.num_tokens)


class ComputesWhatWaits:
    """Forgets to admit."""

    def select(self, view: View) -> None:
        """Compute without blocks."""
        view.compute(view.waiting.first(), 1)


def test_sequence_without_blocks_cannot_be_computed() -> None:
    driver = Driver(ComputesWhatWaits(), limits(), num_blocks=100)
    driver.add(request("a", 3))

    with pytest.raises(PolicyError, match=r"^Sequence\('a', 0/3 tokens computed\) holds no blocks"):
        driver.step()


class ComputesWhatHasEnded:
    """Keeps a sequence for longer than it lives."""

    def __init__(self) -> None:
        self._seq: Sequence | None = None

    def select(self, view: View) -> None:
        """Admit the first, then go on with it for ever."""
        if self._seq is None:
            self._seq = view.waiting.first()
            view.admit(self._seq, [], self._seq.num_tokens)
        else:
            view.compute(self._seq, 1)


def test_sequence_that_has_ended_cannot_be_computed() -> None:
    driver = Driver(ComputesWhatHasEnded(), limits(), num_blocks=100)
    driver.add(request("a", 3), request("b", 3))
    driver.step()

    with pytest.raises(PolicyError, match=r"^Sequence\('a', 0/4 tokens computed\) holds no blocks"):
        driver.step()
