"""What any backend must do, asked of the simulated and of the real one alike."""

import pytest

from backends.qwen3.qwen3_backend import Qwen3Backend
from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from engine import LLM, HashedPrompt, Limits, NanoVllmPolicy, Request, SamplingParams, Scheduler, VllmPolicy
from tests.qwen3.commands import admission, batch
from tests.qwen3.tiny_model import VOCAB, save_tiny

BLOCK, NUM_BLOCKS = 16, 9
LIMITS = {"block_size": BLOCK, "max_num_seqs": 4, "max_num_batched_tokens": 40, "max_model_len": 96}
SHARED = list(range(40, 75))
PROMPTS = [[5, 6, 7], SHARED, [*SHARED, 3], [*SHARED, 4, 4], list(range(60)), [9] * 17]


def simulated(_):
    roofline = RooflineModel(load_model_sheet("Qwen3-0.6B"), load_gpu_sheet("H200"))
    return SimulatedBackend(
        roofline, num_blocks=NUM_BLOCKS, graph_sizes=(1, 2, 4), mixed_graph_sizes=(16, 32), vocab_size=VOCAB
    )


def real(folder, **more):
    largest = LIMITS | {"max_num_batched_tokens": LIMITS["max_model_len"]}  # a prompt at once, which nano-vllm needs
    return Qwen3Backend.from_folder(folder, device="cpu", num_blocks=NUM_BLOCKS, **largest, **more)[0]


def replaying(folder):
    return real(folder, replay=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder)
    return folder


@pytest.fixture(params=[simulated, real, replaying], ids=lambda make: make.__name__)
def backend(request, folder):
    backend = request.param(folder)
    yield backend
    backend.close()


def assert_good(result, work):
    assert len(result.token_ids) == sum(work.samples)
    assert all(0 <= token < VOCAB for token in result.token_ids)
    assert 0 < result.device_s <= result.duration_s < 60
    assert result.graph_size is None or result.graph_size >= sum(work.num_tokens)
    assert result.failed == {}


MIXED = batch(
    [("a", 0, 3, True), ("b", 0, 20, False), ("c", 0, 1, True)],
    admitted=[admission("a", [1, 2, 3], [0]), admission("b", [9] * 30, [2, 1]), admission("c", [7], [3])],
)


def test_each_row_that_samples_gives_a_token_of_the_vocabulary_and_no_other(backend):
    assert_good(backend.execute(MIXED), MIXED)
    rows = [("c", 1, 1, True), ("b", 20, 10, True), ("a", 3, 1, True)]
    after = batch(rows, step=1)
    assert_good(backend.execute(after), after)


def test_a_step_may_sample_nothing(backend):
    work = batch([("a", 0, 3, False)], admitted=[admission("a", [1, 2, 3, 4], [0])])
    assert_good(backend.execute(work), work)


def test_an_id_may_leave_and_come_back_in_one_batch_with_its_outputs(backend):
    (first,) = backend.execute(batch([("a", 0, 3, True)], admitted=[admission("a", [1, 2, 3], [0])])).token_ids
    resumed = admission("a", [1, 2, 3], [4], outputs=[first])
    work = batch([("a", 0, 4, True)], released=["a"], admitted=[resumed], step=1)
    assert_good(backend.execute(work), work)


def test_blocks_come_after_the_admission_too(backend):
    backend.execute(batch([("a", 0, 16, True)], admitted=[admission("a", [3] * 16, [0])]))
    work = batch([("a", 16, 1, True)], new_blocks=[("a", (5,))], step=1)
    assert_good(backend.execute(work), work)


def test_close_may_be_called_twice(backend):
    assert backend.num_blocks == NUM_BLOCKS
    backend.close()
    backend.close()


@pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])
def test_all_are_served_though_the_pool_is_small(backend, policy):
    budget = {"max_num_batched_tokens": 96} if isinstance(policy, NanoVllmPolicy) else {}
    params = SamplingParams(max_tokens=12, temperature=0.8)
    outputs = LLM(backend, policy=policy, **LIMITS | budget).generate(PROMPTS, params)
    assert [(output.finish_reason, len(output.token_ids)) for output in outputs] == [("length", 12)] * len(PROMPTS)


def hashed(name, num_tokens, ids):
    prompt = HashedPrompt(num_tokens, ids, 24, sum(name.encode()))
    return Request(name, prompt, SamplingParams(max_tokens=14, ignore_eos=True))


REQUESTS = [hashed("a", 60, (1, 2)), hashed("b", 70, (1, 2, 3)), hashed("c", 20, ()), hashed("d", 60, (1, 2))]


def decisions_and_tokens(backend):
    """What the scheduler decided at each step, and the tokens that came back."""
    scheduler, log = Scheduler(Limits(**LIMITS), backend.num_blocks, VllmPolicy()), []
    for request in REQUESTS:
        scheduler.add(request)
    while scheduler.has_unfinished:
        work = scheduler.schedule()
        result = backend.execute(work)
        scheduler.update(work, result)
        admitted = [(each.request_id, each.block_table, each.num_hit_tokens, each.output_ids) for each in work.admitted]
        log.append((work.request_ids, work.first_positions, work.num_tokens, work.new_blocks, admitted))
        log.append((work.preempted, work.released, work.shape, result.token_ids))
    backend.close()
    return log


def test_a_replay_decides_and_answers_alike_on_both(folder):
    expected = decisions_and_tokens(simulated(folder))
    assert decisions_and_tokens(replaying(folder)) == expected
    assert any(preempted for preempted, *_ in expected[1::2])
    assert any(hit for *_, admitted in expected[::2] for _, _, hit, _ in admitted)
