import pytest

from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from benchmarks.mixed_steps import measure
from benchmarks.qwen3_engine import TINY
from engine import LLM, VllmPolicy

SHEET = load_model_sheet(TINY)


@pytest.mark.parametrize("num_decodes", [0, 3])
def test_steps_with_one_prompt_beside_decodes_are_timed(num_decodes: int) -> None:
    backend = SimulatedBackend(
        RooflineModel(SHEET, load_gpu_sheet("H200")),
        num_blocks=1000,
        graph_sizes=(4,),
        mixed_graph_sizes=(32,),
        vocab_size=500,
    )
    llm = LLM(backend, policy=VllmPolicy(prefix_caching=False), max_num_batched_tokens=128)
    small, large = measure(
        llm, vocab_size=500, num_decodes=num_decodes, context=20, prompt_lengths=[10, 60], num_steps=2
    )
    assert (small.num_chunk_tokens, small.graph_size, large.num_chunk_tokens, large.graph_size) == (10, 32, 60, None)
    assert small.num_decodes == large.num_decodes == num_decodes
    assert small.step_ms > 0
    assert 0 < small.device_ms < large.device_ms
    assert not llm.has_unfinished
