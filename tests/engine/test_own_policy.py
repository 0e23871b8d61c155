"""The example of a policy of one's own, loaded as a user's file is."""

import ast
import importlib.util
import random
from pathlib import Path

import pytest

from engine import Policy
from engine.policy import rules_of
from tests.engine.driver import Driver, limits, request

EXAMPLE = Path(__file__).parents[2] / "examples" / "policies" / "shortest_prompt_first.py"


@pytest.fixture(scope="module")
def policy() -> Policy:
    spec = importlib.util.spec_from_file_location("a_users_file", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    policy: Policy = module.ShortestPromptFirst()
    return policy


def test_it_is_select_alone_with_the_default_rules(policy: Policy) -> None:
    assert [name for name in vars(type(policy)) if not name.startswith("_")] == ["select"]
    assert not hasattr(policy, "rules")
    assert rules_of(policy).chunked_prefill


def test_it_needs_nothing_but_the_engine() -> None:
    nodes = ast.walk(ast.parse(EXAMPLE.read_text()))

    assert [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)] == [
        "from engine import View"
    ]


def test_decisions_on_a_small_workload(policy: Policy) -> None:
    driver = Driver(policy, limits(max_num_batched_tokens=16, max_num_seqs=3), num_blocks=64)
    driver.add(
        request("long", 20, max_tokens=2),
        request("mid", 10, max_tokens=3),
        request("short", 3, max_tokens=2),
        request("same", 10, max_tokens=2),
    )

    # Shortest first, equal ones by arrival, the last one cut to the budget; "long" starts when a place is free.
    assert [step.rows for step in driver.finish()] == [
        [("short", 3), ("mid", 10), ("same", 3)],
        [("short", 1), ("mid", 1), ("same", 7)],
        [("mid", 1), ("same", 1), ("long", 14)],
        [("long", 6)],
        [("long", 1)],
    ]


def test_last_admitted_gives_way_when_blocks_run_out(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=5)
    driver.add(request("b", 8, max_tokens=5), request("a", 7, max_tokens=5))

    steps = driver.finish()

    assert [(step.rows, step.preempted) for step in steps[:4]] == [
        ([("a", 7), ("b", 8)], []),
        ([("a", 1), ("b", 1)], []),
        ([("a", 1)], ["b"]),
        ([("a", 1)], []),
    ]
    assert [end.output_ids for end in (driver.ended["a"], driver.ended["b"])] == [
        (1007, 1008, 1009, 1010, 1011),
        (1008, 1009, 1010, 1011, 1012),
    ]


def test_hits_are_used(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=16)
    driver.add(request("a", range(9)))
    driver.step()
    driver.add(request("b", range(10)))

    step = driver.step()

    assert step.admitted == [("b", 8)]
    assert step.rows == [("b", 2)]


def test_running_sequences_are_never_starved(policy: Policy) -> None:
    driver = Driver(policy, limits(max_num_batched_tokens=8), num_blocks=200)
    driver.add(request("long", 6, max_tokens=40))
    driver.step()

    for k in range(30):
        driver.add(request(f"{k}-short", 2, max_tokens=2))
        assert ("long", 1) in driver.step().rows


def test_request_that_outgrows_the_pool_fails_alone(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=2)
    driver.add(request("big", 7, max_tokens=10), request("bigger", 8, max_tokens=1))

    driver.finish()

    assert {name: end.status for name, end in driver.ended.items()} == {"big": "failed", "bigger": "finished"}


@pytest.mark.parametrize("seed", range(20))
def test_every_request_ends_once_and_every_block_is_free_in_the_end(policy: Policy, seed: int) -> None:
    rng = random.Random(seed)
    driver = Driver(policy, limits(max_num_batched_tokens=rng.randint(1, 12), max_num_seqs=rng.randint(1, 4)), 8)
    aborted = set()
    for k in range(60):
        if rng.random() < 0.5:
            driver.add(request(f"r{k}", range(rng.randint(1, 20)), max_tokens=rng.randint(1, 12)))
        if rng.random() < 0.2 and driver.scheduler.abort(victim := f"r{rng.randint(0, k)}"):
            aborted.add(victim)
        driver.step(fail_first=rng.random() < 0.1)
    num_added = driver.scheduler.num_waiting + driver.scheduler.num_running + len(driver.ended) + len(aborted)

    driver.finish()

    assert len(driver.ended) + len(aborted) == num_added
    assert not aborted & driver.ended.keys()
    assert driver.num_free == 8
