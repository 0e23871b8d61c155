"""Small universes: blocks of 4, a few blocks, prompts that often share a prefix."""

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engine import (
    HashedPrompt,
    Limits,
    NanoVllmPolicy,
    Policy,
    Prompt,
    Request,
    SamplingParams,
    TokenPrompt,
    VllmPolicy,
)
from tests.machines.any_legal_policy import AnyLegalPolicy

BLOCK_SIZE = 4
CONTENT_BLOCK_SIZE = 6  # neither divides the other
STOP_IDS = frozenset(range(6))

thresholds = st.sampled_from([0, 0, 3, 4, 8])
POLICIES: dict[str, SearchStrategy[Policy]] = {
    "nano": st.just(NanoVllmPolicy()),
    "vllm": st.just(VllmPolicy()),
    "vllm-priority": st.builds(
        VllmPolicy, scheduling_policy=st.just("priority"), long_prefill_token_threshold=thresholds
    ),
    "vllm-priority-0.25": st.builds(
        VllmPolicy,
        scheduling_policy=st.just("priority"),
        long_prefill_token_threshold=thresholds,
        vllm_version=st.just("0.25"),
    ),
    "vllm-no-chunks": st.just(VllmPolicy(chunked_prefill=False)),
    "vllm-threshold": st.builds(VllmPolicy, long_prefill_token_threshold=st.integers(1, 9)),
    "vllm-threshold-0.25": st.builds(
        VllmPolicy, long_prefill_token_threshold=st.integers(1, 9), vllm_version=st.just("0.25")
    ),
    "vllm-watermark": st.builds(VllmPolicy, watermark=st.sampled_from([0.1, 0.25, 0.5, 0.9])),
    "vllm-no-reserve": st.just(VllmPolicy(reserve_full_prompt=False)),
    "vllm-no-cache": st.just(VllmPolicy(prefix_caching=False)),
    "vllm-any": st.builds(
        VllmPolicy,
        scheduling_policy=st.sampled_from(["fcfs", "priority"]),
        chunked_prefill=st.booleans(),
        prefix_caching=st.sampled_from([True, True, False]),
        long_prefill_token_threshold=thresholds,
        watermark=st.sampled_from([0.0, 0.0, 0.25, 0.5]),
        reserve_full_prompt=st.booleans(),
        vllm_version=st.sampled_from(["0.25", "0.33"]),
    ),
    "any-legal": st.builds(AnyLegalPolicy, seed=st.integers(0, 2**32)),
}


@dataclass(frozen=True, slots=True)
class Universe:
    """What a scheduler is made from."""

    policy: Policy
    limits: Limits
    num_blocks: int


@st.composite
def universes(draw: st.DrawFn, policies: SearchStrategy[Policy]) -> Universe:
    """A policy with limits that it accepts."""
    policy = draw(policies)
    max_model_len = draw(st.sampled_from([14, 24, 32, 48]))
    may_chunk = not isinstance(policy, VllmPolicy) or policy.chunked_prefill
    limits = Limits(
        block_size=BLOCK_SIZE,
        max_num_batched_tokens=draw(st.sampled_from([1, 2, 5, 8, 13, 16, 24, 32, 48]))
        if may_chunk
        else draw(st.integers(max_model_len, 64)),
        max_num_seqs=draw(st.sampled_from([1, 2, 3, 4, 5, 6])),
        max_model_len=max_model_len,
    )
    return Universe(policy, limits, draw(st.sampled_from([1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 10, 11, 12])))


@st.composite
def token_prompts(draw: st.DrawFn) -> Prompt:
    """The beginning of one of two texts, and perhaps a few tokens more."""
    text, length = draw(st.sampled_from([0, 0, 1])), draw(st.sampled_from([1, 3, 4, 5, 7, 8, 9, 12, 13]))
    tail = draw(st.lists(st.integers(1, 2), max_size=4))
    return TokenPrompt([*range(100 * (text + 1), 100 * (text + 1) + length), *tail])


@st.composite
def hashed_prompts(draw: st.DrawFn) -> Prompt:
    """A few content blocks of which only the ids are known, and perhaps a tail that is the request's own."""
    content_ids = draw(st.lists(st.integers(0, 1), max_size=4))
    shortest = max(1, (len(content_ids) - 1) * CONTENT_BLOCK_SIZE + 1)
    num_tokens = draw(st.integers(shortest, len(content_ids) * CONTENT_BLOCK_SIZE + 5))
    return HashedPrompt(num_tokens, content_ids, CONTENT_BLOCK_SIZE, unique_id=draw(st.integers(1000, 1003)))


prompts = token_prompts() | hashed_prompts()

sampling_params = st.builds(
    SamplingParams,
    max_tokens=st.sampled_from([1, 2, 4, 6, 9, 14]),
    stop_token_ids=st.sampled_from([frozenset[int](), frozenset[int](), STOP_IDS]),
)


@st.composite
def workloads(draw: st.DrawFn, max_size: int = 6) -> list[Request]:
    """Requests r0, r1, ... that arrive together."""
    drawn = st.lists(
        st.tuples(prompts, sampling_params, st.integers(0, 2)), min_size=min(3, max_size), max_size=max_size
    )
    return [Request(f"r{i}", *each) for i, each in enumerate(draw(drawn))]
