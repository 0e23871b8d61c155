"""Who gets to run, step after step: bounds on the running set, starvation, long prompts, full pools, standstill."""

import pytest

from engine import HashedPrompt, NanoVllmPolicy, NoProgressError, Policy, Scheduler, View, VllmPolicy
from tests.engine.driver import Driver, Step, limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


def test_vllm_bounds_the_running_set_by_max_num_seqs() -> None:  # nano-vllm#271
    driver = Driver(VllmPolicy(), limits(max_num_seqs=2), num_blocks=100)
    driver.add(*[request(name, 3, max_tokens=3) for name in "abcdef"])

    running = []
    for step in driver.run():
        running.append(driver.scheduler.num_running)
        assert len(step.rows) == 2

    assert running == [2, 2, 0, 2, 2, 0, 2, 2, 0]


def test_nano_vllm_bounds_the_batch_by_max_num_seqs_and_not_the_running_set() -> None:  # nano-vllm#271, as published
    driver = Driver(NanoVllmPolicy(), limits(max_num_seqs=2), num_blocks=100)
    driver.add(*[request(name, 3, max_tokens=3) for name in "abcdef"])

    assert [step.rows for step in driver.steps(3)] == [
        [("a", 3), ("b", 3)],
        [("c", 3), ("d", 3)],
        [("e", 3), ("f", 3)],
    ]
    assert driver.scheduler.num_running == 6
    # The tail waits with its blocks until the head has ended.
    assert [step.rows for step in driver.steps(4)] == [
        [("a", 1), ("b", 1)],
        [("a", 1), ("b", 1)],
        [("c", 1), ("d", 1)],
        [("c", 1), ("d", 1)],
    ]


def _decode_steps_under_constant_arrivals(policy: Policy) -> list[bool]:
    driver = Driver(policy, limits(max_num_batched_tokens=16), num_blocks=100)
    driver.add(request("decoding", 3, max_tokens=50))
    driver.step()
    has_decoded = []
    for k in range(5):
        driver.add(request(f"{k}-new", 12, max_tokens=50))
        has_decoded.append(("decoding", 1) in driver.step().rows)
    return has_decoded


def test_vllm_decodes_in_every_step_while_prompts_keep_arriving() -> None:  # sglang#32549
    assert _decode_steps_under_constant_arrivals(VllmPolicy()) == [True] * 5


def test_nano_vllm_does_not_decode_while_prompts_keep_arriving() -> None:  # sglang#32549; as published
    assert _decode_steps_under_constant_arrivals(NanoVllmPolicy()) == [False] * 5


@pytest.mark.parametrize(("threshold", "largest_gap", "num_steps"), [(0, 8192, 9), (512, 513, 128)])
def test_threshold_bounds_what_a_long_prompt_adds_to_the_time_between_two_tokens(
    threshold: int, largest_gap: int, num_steps: int
) -> None:  # local-inference-lab/vllm#541
    policy = VllmPolicy(long_prefill_token_threshold=threshold)
    driver = Driver(policy, limits(block_size=16, max_num_batched_tokens=8192, max_model_len=100_000), num_blocks=5000)
    driver.add(request("decoding", 3, max_tokens=1000))
    driver.step()
    driver.add(request("long", HashedPrompt(65536, (), 512, 1), max_tokens=10))

    steps: list[Step] = []
    while not steps or not driver.batches[-1].samples[-1]:
        steps.append(driver.step())

    assert all(step.rows[0] == ("decoding", 1) for step in steps)
    assert max(sum(tokens for _, tokens in step.rows) for step in steps) == largest_gap
    assert len(steps) == num_steps


def test_threshold_lets_several_prompts_advance_together() -> None:
    driver = Driver(VllmPolicy(long_prefill_token_threshold=5), limits(max_num_batched_tokens=12), num_blocks=100)
    driver.add(request("a", 12), request("b", 12), request("c", 2))

    assert [step.rows for step in driver.steps(3)] == [
        [("a", 5), ("b", 5), ("c", 2)],
        [("a", 5), ("b", 5)],
        [("a", 2), ("b", 2)],
    ]


@pytest.mark.parametrize(("version", "rows"), [("0.33", [[("a", 12)]]), ("0.25", [[("a", 5)], [("a", 5)], [("a", 2)]])])
def test_lone_request_keeps_to_the_threshold_only_in_the_older_version(
    version: str, rows: list[list[tuple[str, int]]]
) -> None:
    policy = VllmPolicy(long_prefill_token_threshold=5, vllm_version=version)  # type: ignore[arg-type]  # one of two
    driver = Driver(policy, limits(), num_blocks=100)
    driver.add(request("a", 12))

    assert [step.rows for step in driver.finish()] == rows


@pytest.mark.parametrize(
    ("policy", "num_steps", "num_preempted", "most_of_one", "num_computed"),
    [(VllmPolicy(), 104, 20, 4, 534), (NanoVllmPolicy(), 108, 26, 5, 556)],
    ids=["vllm", "nano_vllm"],
)
def test_full_pool_with_shared_prefixes_preempts_each_request_a_few_times_only(
    policy: Policy, num_steps: int, num_preempted: int, most_of_one: int, num_computed: int
) -> None:
    # inference-sim#963: a simulator looped on one request because freed blocks lost their content at once.
    driver = Driver(policy, limits(max_num_batched_tokens=32), num_blocks=24)
    prefix = list(range(24))
    driver.add(*[request(f"{k}", [*prefix, 100 + k], max_tokens=30) for k in range(12)])

    steps = driver.finish(max_steps=400)

    preempted = [name for step in steps for name in step.preempted]
    assert {end.status for end in driver.ended.values()} == {"finished"}
    assert len(steps) == num_steps
    assert len(preempted) == num_preempted
    assert max(preempted.count(f"{k}") for k in range(12)) == most_of_one
    assert sum(tokens for step in steps for _, tokens in step.rows) == num_computed
    assert driver.num_free == 24


@BOTH
def test_resumed_sequence_hits_its_own_blocks_that_nobody_has_reused(policy: Policy) -> None:  # inference-sim#1079
    driver = Driver(policy, limits(), num_blocks=5)
    driver.add(request("a", 8, max_tokens=5), request("b", 7, max_tokens=5))

    steps = driver.finish()

    # b needs a third block for its token at position 8 and gives up its two; a ends; b's full blocks are still there.
    assert [step.preempted for step in steps if step.preempted] == [["b"]]
    assert [step.admitted for step in steps if step.admitted] == [[("a", 0), ("b", 0)], [("b", 8)]]
    assert [end.output_ids for end in driver.ended.values()] == [
        (1008, 1009, 1010, 1011, 1012),
        (1007, 1008, 1009, 1010, 1011),
    ]


class Idle:
    """Never schedules anything."""

    def select(self, view: View) -> None:
        """Ask for nothing."""


def test_policy_that_schedules_nothing_is_told_apart_from_an_idle_engine() -> None:
    scheduler = Scheduler(limits(), 10, Idle())
    assert len(scheduler.schedule()) == 0
    scheduler.add(request("a", 3))

    with pytest.raises(NoProgressError) as error:
        scheduler.schedule()

    assert str(error.value) == (
        "The policy Idle scheduled nothing in step 1 with 0 running and 1 waiting requests and 10 of 10 blocks free; "
        "it would stay like this for ever."
    )
    assert scheduler.abort("a") is not None
    assert len(scheduler.schedule()) == 0


class AdmitsOnly:
    """Forgets about the running."""

    def select(self, view: View) -> None:
        """Admit what waits."""
        while view.waiting:
            seq = view.waiting.first()
            view.admit(seq, [], seq.num_tokens)


def test_policy_that_forgets_the_running_is_reported() -> None:
    driver = Driver(AdmitsOnly(), limits(), 10)
    driver.add(request("a", 3, max_tokens=2))
    driver.step()

    with pytest.raises(NoProgressError, match="scheduled nothing in step 1 with 1 running and 0 waiting requests"):
        driver.step()


def test_those_who_end_together_end_in_the_order_of_their_rows() -> None:
    """The first one's prompt takes two steps, so it has been decoding for a shorter time."""
    driver = Driver(VllmPolicy(long_prefill_token_threshold=4), limits(), num_blocks=16)
    driver.add(request("a", 8, max_tokens=2), request("b", 4, max_tokens=3))

    assert [step.ended for step in driver.steps(3)] == [[], [], [("a", "length"), ("b", "length")]]
