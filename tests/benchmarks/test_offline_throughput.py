import pytest

from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from benchmarks.offline_throughput import Round, run_round, summary
from benchmarks.offline_workload import tiny_workload
from benchmarks.qwen3_engine import POLICIES, TINY
from benchmarks.step_totals import StepTotals
from engine import LLM


def engine(num_blocks: int, policy: str = "vllm") -> LLM:
    cost_model = RooflineModel(load_model_sheet(TINY), load_gpu_sheet("H200"), 1)
    return LLM(
        SimulatedBackend(cost_model, num_blocks=num_blocks, graph_sizes=(), vocab_size=500), policy=POLICIES[policy]
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_rounds_generate_all_tokens_and_hit_nothing(policy: str) -> None:
    workload, llm = tiny_workload(509), engine(1000, policy)
    for number in range(3):
        each = run_round(llm, workload, number)
        assert each.num_output_tokens == workload.num_output_tokens
        assert each.totals.num_hit_tokens == 0
        assert each.tokens_per_s == each.num_output_tokens / each.wall_s


def test_outputs_that_are_cut_short_are_no_result() -> None:
    with pytest.raises(AssertionError, match="shorter than asked for"):
        run_round(engine(3), tiny_workload(509), 0)


def test_best_and_median() -> None:
    rounds = [Round(wall_s, 100, StepTotals()) for wall_s in (10.0, 4.0, 5.0)]
    assert summary(rounds) == {"best_tokens_per_s": 25.0, "median_tokens_per_s": 20.0}
