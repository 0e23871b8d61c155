"""Steps taken many at a time leave exactly what steps taken one by one leave."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cost_model import CostModel
from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from engine import Ended, Limits, NanoVllmPolicy, Policy, Scheduler, Stretch, VllmPolicy
from sim.arrivals import Arrivals
from sim.cost_source import cost_source
from sim.decision_digest import DecisionDigest
from sim.interrupt import Interrupt
from sim.one_by_one import OneByOne
from sim.pace import VirtualPace
from sim.prompt_maker import PromptMaker
from sim.recorder import Recorder
from sim.replay_settings import ReplaySettings
from sim.replica import Replica
from sim.serving import Serving
from sim.step_clock import PredictedClock
from sim.stretches import Stretches
from tests.sim.small_world import Log, ask
from traces import TraceRequest
from traces.request_order import in_order

MODEL, GPU = load_model_sheet("Qwen3-0.6B"), load_gpu_sheet("H200")
ROOFLINE = RooflineModel(MODEL, GPU)
CALIBRATED = cost_source(ReplaySettings(model="Qwen3-0.6B", block_size=256), MODEL, GPU)
STEP_S = 2.0**-9  # about what a step of this model takes
CONTENT_BLOCK = 4
POLICIES: tuple[Policy, ...] = (
    VllmPolicy(),
    VllmPolicy(watermark=0.2, long_prefill_token_threshold=5),
    VllmPolicy(scheduling_policy="priority"),
    VllmPolicy(prefix_caching=False),
    VllmPolicy(reserve_full_prompt=False, vllm_version="0.25"),
    NanoVllmPolicy(),
)


class CountingBackend(SimulatedBackend):
    """Counts the steps that it was asked for many at a time."""

    num_many = 0

    def sample(self, stretch: Stretch, num_steps: int) -> list[list[int]]:
        self.num_many += num_steps
        return super().sample(stretch, num_steps)


@dataclass(frozen=True)
class Served:
    """All that a run leaves."""

    log: Log
    ends: list[Ended]
    free_blocks: list[int]
    num_many: int

    @property
    def record(self) -> dict[str, Any]:
        """What must not depend on how the steps were taken."""
        log = self.log
        return {
            "steps": log.step_rows,
            "events": log.event_rows,
            "requests": log.request_rows,
            "digest": log.digest,
            "outputs": self.ends,
            "free blocks": self.free_blocks,
        }


@dataclass(frozen=True)
class World:
    """A trace and what serves it. Tokens are 0 or 1, so that prompts often go on as outputs of others do."""

    requests: tuple[TraceRequest, ...]
    token_ids: dict[str, tuple[int, ...]]
    block_size: int = 4
    num_blocks: int = 100
    tokens: int = 64
    seqs: int = 8
    policy: Policy = POLICIES[0]
    cost_model: CostModel = ROOFLINE

    def serve(self, *, many: bool) -> Served:
        limits = Limits(
            block_size=self.block_size, max_num_batched_tokens=self.tokens, max_num_seqs=self.seqs, max_model_len=400
        )
        backend = CountingBackend(self.cost_model, num_blocks=self.num_blocks, graph_sizes=(1, 4), vocab_size=2)
        log, digest, arrivals, ends = Log(), DecisionDigest(), Arrivals(self.requests), list[Ended]()
        recorder = Recorder(log, self.block_size, digest, lambda _, __: None, ends.append)
        scheduler = Scheduler(limits, self.num_blocks, self.policy)
        pace, clock, prompts = VirtualPace(), PredictedClock(), PromptMaker(CONTENT_BLOCK, 0, self.token_ids)
        serving = Serving(pace.environment, arrivals, scheduler, recorder, Interrupt())
        one_by_one = OneByOne(serving, backend, clock)
        stepper = Stretches(serving, backend, one_by_one) if many else one_by_one
        replica = Replica(serving, pace, prompts, stepper, clock)
        pace.environment.run(pace.environment.process(replica.serve()))
        recorder.finish(arrivals.left())
        log.digest = digest.hexdigest()
        free = scheduler.block_manager._free  # the order in which blocks would be handed out next
        return Served(log, ends, list(free), backend.num_many)


@st.composite
def _requests(draw: st.DrawFn) -> tuple[tuple[TraceRequest, ...], dict[str, tuple[int, ...]]]:
    requests: list[TraceRequest] = []
    token_ids: dict[str, tuple[int, ...]] = {}
    times = st.integers(0, 200).map(lambda number: number * STEP_S / 4)
    for session in range(draw(st.integers(1, 6))):
        for turn in range(draw(st.integers(1, 2))):
            name, length = f"{session}.{turn}", draw(st.integers(1, 40))
            content = draw(st.sampled_from(["unique", "ids", "tokens"]))
            num_ids = -(-length // CONTENT_BLOCK)
            ids = st.lists(st.integers(0, 1), min_size=num_ids, max_size=num_ids)
            if content == "tokens":
                tokens = st.lists(st.integers(0, 1), min_size=length, max_size=length)
                token_ids[name] = tuple(draw(tokens | st.just([0] * length)))
            requests.append(
                ask(
                    name,
                    draw(times),
                    prompt=length,
                    output=draw(st.integers(1, 80)),
                    line=len(requests) + 1,
                    session=f"s{session}",
                    delay_s=draw(times) if turn else None,
                    hash_ids=tuple(draw(ids)) if content == "ids" else None,
                    priority=draw(st.integers(0, 2)),
                )
            )
    return in_order(requests), token_ids


@st.composite
def _worlds(draw: st.DrawFn) -> World:
    requests, token_ids = draw(_requests())
    block_size = draw(st.sampled_from([1, 2, 3, 4, 8, 16]))
    return World(
        requests,
        token_ids,
        block_size,
        num_blocks=draw(st.integers(20, 400)) // block_size,
        tokens=draw(st.sampled_from([3, 8, 64])),
        seqs=draw(st.sampled_from([1, 3, 8])),
        policy=draw(st.sampled_from(POLICIES)),
        cost_model=draw(st.sampled_from([ROOFLINE, CALIBRATED.model])),
    )


@given(_worlds())
@settings(max_examples=150)
def test_many_at_a_time_is_one_by_one(world: World) -> None:
    assert world.serve(many=True).record == world.serve(many=False).record


def test_the_calibrated_model_is_one() -> None:
    assert CALIBRATED.kind == "fitted"


def test_most_steps_of_a_long_answer_are_taken_at_a_stretch() -> None:
    served = World((ask("a", prompt=9, output=100),), {}).serve(many=True)

    assert len(served.log.step_rows) == 100
    assert served.num_many == 99


def test_a_stretch_ends_with_the_step_in_which_a_request_comes() -> None:
    alone = World((ask("a", prompt=9, output=100),), {}).serve(many=True).log
    start_s, duration_s = alone.steps[50]
    both = World((ask("a", prompt=9, output=100), ask("b", start_s + duration_s / 2, line=2)), {}).serve(many=True).log

    assert both.events_of("admitted") == [(0, "a", "admitted", 0), (51, "b", "admitted", 0)]
    assert both.requests["b"].submit_s == start_s + duration_s


def test_what_waits_without_room_does_not_end_a_stretch() -> None:
    """b needs 5 blocks; a holds 5 of the 8 from the first decode on, and 6 later."""
    world = World((ask("a", prompt=16, output=8), ask("b", prompt=17, output=2, line=2)), {}, num_blocks=8)
    served = world.serve(many=True)

    assert served.num_many == 7 + 1
    assert served.log.events_of("admitted") == [(0, "a", "admitted", 0), (8, "b", "admitted", 0)]


@pytest.mark.parametrize(("policy", "step"), [(VllmPolicy(), 3), (NanoVllmPolicy(), 4)])
def test_what_waits_for_content_that_is_being_generated_is_looked_at_in_every_step(policy: Policy, step: int) -> None:
    """b's prompt is a's prompt and first outputs: there is room for it as soon as a has filled its second block."""
    alone = World((ask("a", prompt=5, output=12),), {"a": (0,) * 5}).serve(many=False)
    prompts = {"a": (0,) * 5, "b": (0,) * 5 + alone.ends[0].output_ids}
    requests = (ask("a", prompt=5, output=12), ask("b", prompt=17, output=1, line=2))
    world = World(requests, prompts, num_blocks=5, policy=policy)
    served = world.serve(many=True)

    assert served.record == world.serve(many=False).record
    assert served.log.events_of("admitted") == [(0, "a", "admitted", 0), (step, "b", "admitted", 8)]
