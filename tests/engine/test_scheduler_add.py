"""A request that can never be served is refused when it is added, with the numbers and the setting."""

import pytest

from engine import NanoVllmPolicy, Policy, RequestError, Scheduler, SettingError, VllmPolicy
from tests.engine.driver import limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


@BOTH
@pytest.mark.parametrize(
    ("num_tokens", "message"),
    [
        (0, "The prompt of 'a' is empty; give it at least one token."),
        (32, "The prompt of 'a' has 32 tokens; it must be shorter than max_model_len, 32."),
        (33, "The prompt of 'a' has 33 tokens; it must be shorter than max_model_len, 32."),
        (21, "The prompt of 'a' has 21 tokens, which need 6 blocks of 4; the pool has 5 (num_blocks)."),
    ],
)
def test_prompt_that_cannot_be_served_is_refused(policy: Policy, num_tokens: int, message: str) -> None:
    scheduler = Scheduler(limits(max_model_len=32), 5, policy)

    with pytest.raises(RequestError) as error:
        scheduler.add(request("a", num_tokens))

    assert str(error.value) == message
    assert not scheduler.has_unfinished
    assert scheduler.num_waiting == 0


@BOTH
@pytest.mark.parametrize(("num_tokens", "max_model_len"), [(20, 32), (19, 20), (1, 2)])
def test_prompt_at_the_edge_is_accepted(policy: Policy, num_tokens: int, max_model_len: int) -> None:
    scheduler = Scheduler(limits(max_model_len=max_model_len), 5, policy)

    scheduler.add(request("a", num_tokens, max_tokens=1000))

    assert scheduler.num_waiting == 1


@BOTH
def test_id_of_a_live_request_is_refused(policy: Policy) -> None:
    scheduler = Scheduler(limits(), 5, policy)
    scheduler.add(request("a", 3))

    with pytest.raises(RequestError) as error:
        scheduler.add(request("a", 4))

    assert str(error.value) == "Request id 'a' is in use; give each live request its own."
    assert scheduler.num_waiting == 1


def test_check_refuses_what_add_refuses_and_queues_nothing() -> None:
    scheduler = Scheduler(limits(), 5, VllmPolicy())

    scheduler.check(request("a", 3))
    with pytest.raises(RequestError):
        scheduler.check(request("b", 100))

    assert not scheduler.has_unfinished


@pytest.mark.parametrize("num_blocks", [0, -1])
def test_pool_without_blocks_is_refused(num_blocks: int) -> None:
    with pytest.raises(SettingError) as error:
        Scheduler(limits(), num_blocks, VllmPolicy())
    assert str(error.value) == f"num_blocks is {num_blocks}; the pool must have at least 1 block."


def test_refused_request_does_not_take_a_place_in_the_order_of_arrival() -> None:
    scheduler = Scheduler(limits(), 5, VllmPolicy(scheduling_policy="priority"))
    for num_tokens, name in ((3, "a"), (3, "b")):
        with pytest.raises(RequestError):
            scheduler.add(request("refused", 100))
        scheduler.add(request(name, num_tokens))

    assert scheduler.schedule().request_ids == ("a", "b")
