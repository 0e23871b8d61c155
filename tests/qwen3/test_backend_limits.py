"""An engine before a real backend works within the limits that the backend was made for."""

import pytest

from backends.qwen3.qwen3_backend import Qwen3Backend
from engine import LLM, Limits, SamplingParams, SettingError
from tests.qwen3.tiny_model import save_tiny

GREEDY = SamplingParams(temperature=0, max_tokens=8)
SHARED = list(range(40, 75))
PROMPTS = [[*SHARED, 3], [*SHARED, 4, 4], [5, 6, 7]]
OPTIONS = {"device": "cpu", "num_blocks": 40, "max_num_seqs": 4, "max_num_batched_tokens": 96, "max_model_len": 96}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder)
    return folder


def test_an_engine_without_limits_has_those_of_its_backend(folder):
    outputs = []
    for block_size in (16, 256):
        with LLM(Qwen3Backend.from_folder(folder, block_size=block_size, **OPTIONS)[0]) as llm:
            outputs.append([output.token_ids for output in llm.generate(PROMPTS, GREEDY)])

    assert outputs[0] == outputs[1]


def test_a_backend_says_what_its_memory_is_laid_out_for(folder):
    with Qwen3Backend.from_folder(folder, block_size=8, **OPTIONS)[0] as backend:
        assert backend.limits == Limits(block_size=8, max_num_batched_tokens=96, max_num_seqs=4, max_model_len=96)
        with pytest.raises(SettingError, match="block_size is 16, but the backend's blocks have 8 tokens"):
            LLM(backend, block_size=16)
