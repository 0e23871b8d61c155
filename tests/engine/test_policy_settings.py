"""Settings of the two policies, and the rules that they name."""

import math
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from engine import NanoVllmPolicy, Rules, SettingError, View, VllmPolicy
from engine.policy import rules_of
from tests.engine.driver import Driver, limits, request


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"scheduling_policy": "lifo"}, "scheduling_policy is 'lifo'; known: fcfs, priority."),
        ({"vllm_version": "0.6"}, "vllm_version is '0.6'; known: 0.25, 0.33."),
        (
            {"long_prefill_token_threshold": -1},
            "long_prefill_token_threshold is -1; give a number of tokens, 0 for none.",
        ),
        ({"watermark": -0.01}, "watermark is -0.01; it is a share of the pool, from 0 up to below 1."),
        ({"watermark": 1.0}, "watermark is 1.0; it is a share of the pool, from 0 up to below 1."),
        ({"watermark": math.nan}, "watermark is nan; it is a share of the pool, from 0 up to below 1."),
    ],
)
def test_setting_out_of_range_is_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as error:
        VllmPolicy(**setting)
    assert str(error.value) == message


def test_policies_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        VllmPolicy().watermark = 0.5  # type: ignore[misc]  # the point of the test


def test_rules_of_the_policies() -> None:
    assert VllmPolicy().rules == Rules()
    assert VllmPolicy(scheduling_policy="priority", prefix_caching=False, chunked_prefill=False).rules == Rules(
        waiting_order="priority", prefix_caching=False, chunked_prefill=False
    )
    assert NanoVllmPolicy().rules == Rules(register_when="computed", keep_duplicates=False, reuse_unkeyed_first=False)


class _SelectOnly:
    def select(self, view: View) -> None:
        """Do nothing."""


def test_policy_without_rules_has_the_defaults() -> None:
    assert rules_of(_SelectOnly()) == Rules(
        waiting_order="arrival",
        prefix_caching=True,
        register_when="scheduled",
        keep_duplicates=True,
        reuse_unkeyed_first=True,
        chunked_prefill=True,
    )


@pytest.mark.parametrize(("watermark", "num_admitted"), [(0.0, 2), (0.19, 2), (0.2, 1), (0.99, 1)])
def test_watermark_leaves_blocks_free_unless_nobody_runs(watermark: float, num_admitted: int) -> None:
    # a takes 3 of the 9 blocks, whatever the watermark. b needs 5 of the 6 left: 1 may be reserved. A pool of 9
    # counts as 10, so that 0.2 reserves 2.
    driver = Driver(VllmPolicy(watermark=watermark), limits(), num_blocks=9)
    driver.add(request("a", 9, max_tokens=2), request("b", 20, max_tokens=2))

    assert len(driver.step().admitted) == num_admitted


def test_priority_decides_who_is_admitted_first_and_who_is_preempted() -> None:
    driver = Driver(VllmPolicy(scheduling_policy="priority"), limits(), num_blocks=6)
    driver.add(
        request("late", 8, max_tokens=5, priority=1),
        request("least", 8, max_tokens=5, priority=2),
        request("most", 8, max_tokens=5, priority=0),
    )

    steps = driver.finish()

    assert steps[0].admitted == [("most", 0), ("late", 0), ("least", 0)]
    assert next(step.preempted for step in steps if step.preempted) == ["least"]
    assert [end for step in steps for end, _ in step.ended] == ["most", "late", "least"]


def test_sequence_preempted_after_its_turn_does_not_cost_another_its_turn() -> None:
    driver = Driver(VllmPolicy(scheduling_policy="priority"), limits(), num_blocks=6)
    driver.add(request("low", 5, max_tokens=9, priority=5))
    driver.step()
    driver.add(request("m1", 8, max_tokens=9), request("m2", 8, max_tokens=9))
    driver.step()

    step = driver.step()

    # "low" is scheduled first and gives way to "m1"; what it leaves suffices for "m2" too.
    assert (step.rows, step.preempted) == ([("m1", 1), ("m2", 1)], ["low"])


@pytest.mark.parametrize("policy", [VllmPolicy(), VllmPolicy(scheduling_policy="priority")])
def test_no_more_sequences_run_than_the_budget_can_decode(policy: VllmPolicy) -> None:
    driver = Driver(policy, limits(max_num_batched_tokens=2), num_blocks=16)
    driver.add(*[request(name, 1, max_tokens=3) for name in "abc"])

    assert [step.rows for step in driver.finish()] == [
        [("a", 1), ("b", 1)],
        [("a", 1), ("b", 1)],
        [("a", 1), ("b", 1)],
        [("c", 1)],
        [("c", 1)],
        [("c", 1)],
    ]


def test_equal_priorities_keep_the_order_of_arrival() -> None:
    driver = Driver(VllmPolicy(scheduling_policy="priority"), limits(), num_blocks=6)
    driver.add(*[request(name, 3, priority=7) for name in "cab"])

    assert [name for name, _ in driver.step().rows] == ["c", "a", "b"]


def test_preempted_sequences_go_back_to_the_head_in_their_order() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=6)
    driver.add(*[request(name, 8, max_tokens=9) for name in "abc"], request("new", 3))

    steps = driver.steps(6)

    assert steps[1].preempted == ["c"]
    assert steps[5].preempted == ["b"]
    assert steps[5].rows == [("a", 1)]
    # b, then c, then the new arrival, though it would fit.
    assert [name for step in driver.finish() for name, _ in step.admitted] == ["b", "c", "new"]


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"register_when": "shceduled"}, "register_when is 'shceduled'; known: scheduled, computed."),
        ({"waiting_order": "fcfs"}, "waiting_order is 'fcfs'; known: arrival, priority."),
    ],
)
def test_rule_that_does_not_exist_is_refused(rules: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError) as error:
        Rules(**rules)

    assert str(error.value) == sentence
