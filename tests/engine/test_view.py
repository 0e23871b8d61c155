"""What a policy sees, and what becomes of what it asks for."""

from collections.abc import Callable

import pytest

from engine import EngineError, PolicyError, View, VllmPolicy
from tests.engine.driver import Driver, limits, request


class Scripted:
    """A policy made of one function for each step."""

    def __init__(self, *steps: Callable[[View], None]) -> None:
        self._steps = iter(steps)

    def select(self, view: View) -> None:
        """Do the next thing."""
        next(self._steps)(view)


def _admit_all(view: View) -> None:
    while view.waiting:
        seq = view.waiting.first()
        hits = view.find_hits(seq)
        view.admit(seq, hits, seq.num_tokens - len(hits) * view.limits.block_size)


def test_view_shows_sizes_and_queues() -> None:
    def look(view: View) -> None:
        assert (view.budget, view.num_rows, view.num_blocks, view.num_unfinished) == (64, 0, 7, 2)
        assert [seq.request_id for seq in view.waiting] == ["a", "b"]
        assert (len(view.running), view.has_preempted) == (0, False)
        _admit_all(view)
        assert (view.budget, view.num_rows, view.num_unfinished) == (64 - 8, 2, 2)
        assert [seq.request_id for seq in view.running] == ["a", "b"]

    driver = Driver(Scripted(look), limits(), num_blocks=7)
    driver.add(request("a", 5), request("b", 3))

    assert driver.step().rows == [("a", 5), ("b", 3)]


def test_compute_without_blocks_changes_nothing() -> None:
    def decode(view: View) -> None:
        (seq,) = view.running
        assert not view.compute(seq, 1)
        assert (view.budget, view.num_rows) == (64, 0)
        view.preempt(seq)

    driver = Driver(Scripted(_admit_all, decode), limits(), num_blocks=2)
    driver.add(request("a", 8, max_tokens=5))
    driver.step()

    assert driver.step().rows == []


def test_preempting_a_scheduled_sequence_gives_its_budget_back() -> None:
    def preempt_last(view: View) -> None:
        assert view.decode_leading(9) == 3
        assert view.budget == 61
        victim = view.running[-1]
        view.preempt(victim)
        assert (view.budget, view.num_rows, view.has_preempted) == (62, 2, True)
        assert (victim.block_table, victim.num_computed_tokens, victim.num_preemptions) == ([], 0, 1)
        assert view.waiting.first() is victim

    driver = Driver(Scripted(_admit_all, preempt_last), limits(), num_blocks=9)
    driver.add(*[request(name, 6, max_tokens=5) for name in "abc"])
    driver.step()

    step = driver.step()

    assert (step.rows, step.preempted) == ([("a", 1), ("b", 1)], ["c"])
    assert driver.batches[-1].samples == (True, True)


def test_decode_leading_is_for_an_empty_step_and_ends_before_a_prompt() -> None:
    def with_a_row(view: View) -> None:
        assert view.compute(view.running[0], 1)
        assert view.decode_leading(9) == 0

    def with_half_a_prompt(view: View) -> None:
        view.admit(view.waiting.first(), [], 3)
        assert view.decode_leading(9) == 0

    def with_half_a_prompt_running(view: View) -> None:
        assert view.decode_leading(9) == 1
        assert (view.num_rows, view.budget) == (1, 63)
        assert view.compute(view.running[-1], 2)

    def with_all_prompts_computed(view: View) -> None:
        assert view.decode_leading(9) == 2
        assert (view.num_rows, view.budget) == (2, 62)

    driver = Driver(
        Scripted(_admit_all, with_a_row, with_half_a_prompt, with_half_a_prompt_running, with_all_prompts_computed),
        limits(),
        num_blocks=16,
    )
    driver.add(request("a", 5, max_tokens=9))
    driver.steps(2)
    driver.add(request("b", 5, max_tokens=9))

    rows = [step.rows for step in driver.steps(3)]
    assert rows == [[("b", 3)], [("a", 1), ("b", 2)], [("a", 1), ("b", 1)]]
    assert driver.batches[-2].samples == (True, True)


@pytest.mark.parametrize("max_rows", [0, 1, 2, 3])
def test_decode_leading_keeps_to_its_limit(max_rows: int) -> None:
    def decode(view: View) -> None:
        assert view.decode_leading(max_rows) == min(max_rows, 2)
        if not max_rows:
            view.compute(view.running[0], 1)

    driver = Driver(Scripted(_admit_all, decode), limits(), num_blocks=16)
    driver.add(request("a", 5, max_tokens=9), request("b", 5, max_tokens=9))
    driver.step()

    assert driver.step().rows == [("a", 1), ("b", 1)][: max(max_rows, 1)]


def test_decode_leading_ends_before_the_first_that_finds_no_block() -> None:
    def decode(view: View) -> None:
        assert view.decode_leading(9) == 1
        assert (view.num_rows, view.budget) == (1, 63)
        assert not view.compute(view.running[1], 1)

    driver = Driver(Scripted(_admit_all, decode), limits(), num_blocks=5)
    driver.add(request("a", 8, max_tokens=9), request("b", 8, max_tokens=9))
    driver.step()

    step = driver.step()

    assert (step.rows, step.free) == ([("a", 1)], 0)
    assert driver.batches[-1].new_blocks == (("a", (4,)),)


def test_same_step_hits_go_back_with_the_sequence_that_was_to_compute_them() -> None:
    def preempt_the_owner(view: View) -> None:
        _admit_all(view)
        assert [len(view.find_hits(seq)) for seq in view.running] == [1, 1, 0]
        view.preempt(view.running[0])

    driver = Driver(Scripted(preempt_the_owner, _admit_all), limits(), num_blocks=16)
    driver.add(request("owner", range(5)), request("hitter", range(6)), request("other", 4))

    step = driver.step()

    assert (step.rows, step.preempted, step.admitted) == ([("other", 4)], ["hitter", "owner"], [("other", 0)])
    assert driver.step().admitted == [("owner", 0), ("hitter", 4)]


def test_chain_of_same_step_hits_goes_back_as_a_whole() -> None:
    def preempt_the_owner(view: View) -> None:
        _admit_all(view)
        view.preempt(view.running[0])

    driver = Driver(Scripted(preempt_the_owner, _admit_all), limits(), num_blocks=16)
    driver.add(request("owner", range(5)), request("second", range(9)), request("third", range(13)))

    step = driver.step()

    assert (step.rows, step.admitted) == ([], [])
    assert step.preempted == ["third", "second", "owner"]
    assert driver.num_free == 16


def test_sequence_admitted_and_preempted_in_one_step_is_new_to_the_backend_later() -> None:
    def admit_and_preempt(view: View) -> None:
        _admit_all(view)
        view.preempt(view.running[-1])

    driver = Driver(Scripted(admit_and_preempt, _admit_all), limits(), num_blocks=16)
    driver.add(request("a", 5, max_tokens=3), request("b", 5, max_tokens=3))
    assert driver.step().admitted == [("a", 0)]
    driver.scheduler.abort("a")
    driver.step()

    assert [each.is_resumed for batch in driver.batches for each in batch.admitted] == [False, False]


def test_admission_without_room_is_caught() -> None:
    def admit(view: View) -> None:
        seq = view.waiting.first()
        assert not view.has_room([], 8, num_reserved=2)
        assert view.has_room([], 8, num_reserved=1)
        view.admit(seq, [], seq.num_tokens)

    driver = Driver(Scripted(admit), limits(), num_blocks=3)
    driver.add(request("a", 8))

    assert driver.step().rows == [("a", 8)]


@pytest.mark.parametrize("num_tokens", [0, -1, 6])
def test_asking_for_tokens_that_are_not_there_is_the_policys_fault(num_tokens: int) -> None:
    class Greedy:
        def select(self, view: View) -> None:
            view.allocate(seq := view.waiting.first(), [], 5)
            view.start(seq)
            view.compute(seq, num_tokens)

    driver = Driver(Greedy(), limits(), 8)
    driver.add(request("a", range(5), max_tokens=3))

    with pytest.raises(PolicyError, match="a step computes from 1 to 5, once"):
        driver.step()


def test_rules_that_are_no_rules_are_refused() -> None:
    class Odd:
        rules = "fcfs"

        def select(self, view: View) -> None: ...

    with pytest.raises(PolicyError, match=r"Odd.rules is 'fcfs'"):
        Driver(Odd(), limits(), 8)


def test_a_second_schedule_while_a_step_is_under_way_is_refused() -> None:
    driver = Driver(VllmPolicy(), limits(), 8)
    driver.add(request("a", range(5), max_tokens=3))
    driver.scheduler.schedule()

    with pytest.raises(EngineError, match="Step 0 is under way"):
        driver.scheduler.schedule()


def test_admission_without_room_is_refused_with_the_remedy() -> None:
    driver = Driver(Scripted(_admit_all), limits(), num_blocks=1)
    driver.add(request("a", 4))
    driver.add(request("b", 3))

    with pytest.raises(PolicyError, match=r"would need 1 new blocks, and 0 are free; ask view\.has_room first\.$"):
        driver.step()
