"""The backend under the engine's own scheduler, on a tiny model on the CPU."""

import json

import numpy as np
import pytest
import torch
from transformers import Qwen3ForCausalLM

from backends.qwen3.errors import ModelError
from backends.qwen3.qwen3_backend import Qwen3Backend
from backends.replay_tokens import ReplayTokens
from engine import LLM, BackendError, NanoVllmPolicy, SamplingParams, VllmPolicy
from tests.qwen3.commands import admission, batch
from tests.qwen3.tiny_model import VOCAB, save_tiny
from tests.qwen3.tiny_tokenizer import save_tokenizer

GREEDY = SamplingParams(temperature=0, max_tokens=12)
SHARED = list(range(40, 75))
PROMPTS = [[5, 6, 7], SHARED, [*SHARED, 3], [*SHARED, 4, 4], list(range(60)), [9] * 17]
OPTIONS = {"device": "cpu", "block_size": 16, "num_blocks": 60, "max_num_seqs": 4}
OPTIONS |= {"max_num_batched_tokens": 96, "max_model_len": 96}
LIMITS = {"block_size": 16, "max_num_seqs": 4, "max_num_batched_tokens": 96, "max_model_len": 96}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder)
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """Greedy outputs of transformers, each prompt alone."""
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    outputs = []
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=12,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        outputs.append(out[0, len(prompt) :].tolist())
    return outputs


def open_backend(folder, **options):
    return Qwen3Backend.from_folder(folder, **OPTIONS | options)[0]


def generate(folder, prompts, params, policy=None, limits=None, **options):
    with LLM(open_backend(folder, **options), policy=policy, **LIMITS | (limits or {})) as llm:
        outputs = llm.generate(prompts, params)
    assert [output.status for output in outputs] == ["finished"] * len(prompts)
    return [list(output.token_ids) for output in outputs]


@pytest.mark.parametrize(
    ("policy", "num_blocks", "budget"),
    [
        (VllmPolicy(), 60, 96),
        (VllmPolicy(), 9, 96),  # too few for all: some are preempted
        (VllmPolicy(), 60, 16),  # prompts in chunks
        (VllmPolicy(prefix_caching=False), 60, 96),
        (NanoVllmPolicy(), 60, 96),
        (NanoVllmPolicy(), 9, 64),
    ],
)
def test_greedy_output_equals_transformers_token_for_token(folder, expected, policy, num_blocks, budget):
    limits = {"max_num_batched_tokens": budget}
    assert generate(folder, PROMPTS, GREEDY, policy, limits, num_blocks=num_blocks) == expected


@pytest.mark.parametrize("block_size", [1, 64])
def test_any_block_size_gives_the_same_tokens(folder, expected, block_size):
    num_blocks = 600 // block_size
    limits = {"block_size": block_size}
    assert generate(folder, PROMPTS, GREEDY, None, limits, num_blocks=num_blocks, block_size=block_size) == expected


def test_a_seeded_request_gives_the_same_tokens_in_any_company(folder):
    params = SamplingParams(temperature=0.8, top_k=30, top_p=0.95, seed=11, max_tokens=10)
    (alone,) = generate(folder, [PROMPTS[3]], params)
    crowd = [SamplingParams(temperature=1.3, max_tokens=10)] * 6
    crowd[3] = params
    assert generate(folder, PROMPTS, crowd)[3] == alone
    tight = generate(folder, PROMPTS, crowd, num_blocks=9, seed=5)
    assert tight[3] == alone


def test_the_backends_seed_decides_the_other_samples(folder):
    params = SamplingParams(temperature=1.0, max_tokens=10)
    first, again, other = (generate(folder, PROMPTS[:3], params, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({tuple(tokens) for tokens in first}) == 3


def test_a_replay_gives_the_tokens_of_the_trace(folder):
    work = batch(
        [("a", 0, 3, True), ("b", 0, 2, False), ("c", 0, 1, True)],
        admitted=[admission("a", [1, 2, 3], [0]), admission("b", [1, 2, 3], [1]), admission("c", [7], [2])],
    )
    with open_backend(folder, replay=True) as backend:
        result = backend.execute(work)
        assert result.token_ids == ReplayTokens(VOCAB).sample(work)
        assert len(result.token_ids) == 2
        # The token that was returned is the one that the next step computes.
        backend.execute(batch([("a", 3, 1, True)]))
        assert backend._runner._rows.token_ids[0, 3] == result.token_ids[0]


def test_results_say_how_long_it_took(folder):
    with open_backend(folder) as backend:
        result = backend.execute(batch([("a", 0, 3, True)], admitted=[admission("a", [1, 2, 3], [0])]))
    assert 0 < result.device_s <= result.duration_s < 60
    assert result.graph_size is None
    assert result.failed == {}


def test_a_request_whose_logits_are_nan_fails_and_the_others_live(tmp_path, expected):
    model = save_tiny(tmp_path)
    with torch.no_grad():
        model.model.embed_tokens.weight[90] = torch.nan
    model.save_pretrained(tmp_path)
    with LLM(open_backend(tmp_path), **LIMITS) as llm:
        outputs = llm.generate([PROMPTS[0], [1, 90, 2], PROMPTS[1], [*SHARED, 90], PROMPTS[2]], GREEDY)
        again = llm.generate([PROMPTS[0]] * 4, GREEDY)  # on the blocks of the failed ones, too
    assert [output.status for output in outputs] == ["finished", "failed", "finished", "failed", "finished"]
    assert "not numbers" in outputs[1].finish_reason
    assert [list(output.token_ids) for output in (outputs[0], outputs[2], outputs[4])] == expected[:3]
    assert [list(output.token_ids) for output in again] == [expected[0]] * 4


def test_a_prompt_with_an_unknown_token_fails_alone(folder, expected):
    with LLM(open_backend(folder), **LIMITS) as llm:
        good, bad = llm.generate([PROMPTS[0], [1, VOCAB]], GREEDY)
    assert (good.status, list(good.token_ids)) == ("finished", expected[0])
    assert (bad.status, bad.finish_reason) == ("failed", "Its prompt has token id 97; the model knows 0 to 96.")


def test_a_step_without_memory_fails_and_the_backend_lives(folder, expected, monkeypatch):
    backend = open_backend(folder)
    launch, calls = backend._runner.launch, []

    def fail_once(command):
        calls.append(command)
        if len(calls) == 1:
            backend._runner._apply(command)
            raise torch.OutOfMemoryError("CUDA out of memory")
        return launch(command)

    monkeypatch.setattr(backend._runner, "launch", fail_once)
    with LLM(backend, **LIMITS) as llm:
        (failed,) = llm.generate([PROMPTS[1]], GREEDY)
        (good,) = llm.generate([PROMPTS[0]], GREEDY)
    assert failed.finish_reason == (
        "The GPU has run out of memory in a step of 35 tokens; lower memory_utilization, num_blocks or "
        "max_num_batched_tokens."
    )
    assert list(good.token_ids) == expected[0]


def test_an_error_of_torch_is_a_backend_error(folder, monkeypatch):
    backend = open_backend(folder)

    def fail(_):
        raise RuntimeError("CUDA error: device-side assert\nmany lines")

    monkeypatch.setattr(backend._runner, "launch", fail)
    with pytest.raises(BackendError, match=r"^CUDA error: device-side assert$"):
        backend.execute(batch([("a", 0, 1, True)], admitted=[admission("a", [1], [0])]))


def test_close_may_be_called_twice_and_ends_it(folder):
    backend = open_backend(folder)
    backend.close()
    backend.close()
    with pytest.raises(BackendError, match="has been closed"):
        backend.execute(batch([("a", 0, 1, True)], admitted=[admission("a", [1], [0])]))


def test_a_large_mixed_replay_needs_no_more_seats_than_live_sequences(folder):
    backend = open_backend(folder)
    with LLM(backend, **LIMITS) as llm:
        for _ in range(3):
            llm.generate(PROMPTS, SamplingParams(temperature=0, max_tokens=2))
        assert backend._runner._rows.token_ids.shape == (4, 96)


@pytest.fixture(scope="module")
def chat_folder(tmp_path_factory):
    """Config and tokenizer, no weights."""
    folder = tmp_path_factory.mktemp("chat")
    config = save_tiny(folder).config.to_dict() | {"vocab_size": 304}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").unlink()
    save_tokenizer(folder, end_ids=[0, 2])
    return folder


def test_text_in_text_out(chat_folder):
    backend, tokenizer = Qwen3Backend.from_folder(chat_folder, load_format="dummy", **OPTIONS)
    params = SamplingParams(temperature=0.9, seed=3, max_tokens=30, ignore_eos=True)
    with LLM(backend, tokenizer, **LIMITS) as llm:
        (output,) = llm.generate(["the cat €"], params)
        pieces = list(llm.stream("the cat €", params))
        answer = llm.chat([{"role": "user", "content": "the end"}], SamplingParams(temperature=0, max_tokens=3))
    assert output.prompt_token_ids == tuple(tokenizer.encode("the cat €"))
    assert output.text == tokenizer.decode(output.token_ids)
    assert "".join(pieces) == output.text
    assert answer.status == "finished"


def test_any_end_token_ends_an_output(chat_folder):
    backend, tokenizer = Qwen3Backend.from_folder(chat_folder, load_format="dummy", **OPTIONS)
    with LLM(backend, tokenizer, **LIMITS) as llm:
        outputs = llm.generate(["the cat"] * 12, SamplingParams(temperature=50.0, max_tokens=90))
    stopped = [output for output in outputs if output.finish_reason == "stop"]
    # Nearly even draws from 304 tokens, of which two end an output: about 45 of 100 outputs end within 90.
    assert stopped
    assert all(output.token_ids[-1] in (0, 2) for output in stopped)
    assert all(not {0, 2} & set(output.token_ids[:-1]) for output in outputs)


SHEET = """
name = "Tiny"
num_layers = 2
hidden_size = 32
num_heads = 4
num_kv_heads = 2
head_dim = 8
intermediate_size = 48
vocab_size = 64
max_model_len = 128
dtype_bytes = 2
has_tied_embeddings = true
has_qk_norm = true
"""


def test_a_named_size_runs_with_random_weights(tmp_path):
    sheet = tmp_path / "tiny.toml"
    sheet.write_text(SHEET)
    with LLM(Qwen3Backend.from_dims(str(sheet), **OPTIONS | {"dtype": "float32"}), **LIMITS) as llm:
        (output,) = llm.generate([[1, 2, 3]], GREEDY)
    assert len(output.token_ids) == 12


def test_a_size_that_is_not_qwen3_is_refused(tmp_path):
    sheet = tmp_path / "tiny.toml"
    sheet.write_text(SHEET.replace("has_qk_norm = true", "has_qk_norm = false"))
    with pytest.raises(ModelError, match="Tiny is no dense Qwen3"):
        Qwen3Backend.from_dims(str(sheet), **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load_format": "magic"}, "load_format is 'magic'; it must be 'auto' or 'dummy'."),
        ({"max_model_len": 641}, "max_model_len is 641, but the model knows 640 positions"),
        ({"num_blocks": 0}, "num_blocks is 0; it must be at least 1."),
        ({"block_size": -4}, "block_size is -4; it must be at least 1."),
        ({"memory_utilization": 90}, "memory_utilization is 90; it must be above 0 and at most 1."),
        ({"dtype": "int8"}, "dtype is 'int8'; it must be one of bfloat16, float16, float32."),
        ({"device": "cuda"}, "Device cuda was asked for, but torch sees no CUDA GPU"),
        ({"device": "meta"}, "Device meta is not supported; use cuda or cpu."),
        ({"device": "abacus"}, "device is 'abacus'; use cuda, cuda:N or cpu."),
        ({"attention": "magic"}, "attention 'magic' is unknown"),
        ({"attention": "flash2"}, "Attention flash2 cannot run here"),
        ({"tensor_parallel": 0}, "tensor_parallel is 0; it must be at least 1."),
        ({"graph_sizes": (1, 0)}, "graph_sizes holds 0; each must be at least 1."),
        ({"mixed_graph_sizes": (0,)}, "mixed_graph_sizes holds 0; each must be at least 1."),
        ({"max_seqs": 4}, "Unknown option max_seqs; known: "),
    ],
)
def test_what_cannot_work_is_one_sentence(folder, options, message):
    with pytest.raises(ModelError) as error:
        Qwen3Backend.from_folder(folder, **OPTIONS | options)
    assert str(error.value).startswith(message)


def test_graphs_can_be_switched_off(folder):
    for options, sizes, mixed_sizes in (
        ({"graphs": False}, (), ()),
        ({"graph_sizes": (), "mixed_graph_sizes": ()}, (), ()),
        ({"graph_sizes": (4, 2), "mixed_graph_sizes": (9,)}, (4, 2), (9,)),
        ({"max_num_batched_tokens": 70}, (1, 2, 4), (16, 32, 64, 70)),
    ):
        with open_backend(folder, **options) as backend:
            assert backend.settings.graph_sizes == sizes
            assert backend.settings.mixed_graph_sizes == mixed_sizes
            assert backend.graph_sizes == backend.mixed_graph_sizes == ()  # a CPU has none


def test_the_user_is_told_which_attention_runs(folder):
    with open_backend(folder) as backend:
        assert backend.notices[0].startswith("Attention torch on cpu")
        assert np.array(backend.num_blocks) == 60
