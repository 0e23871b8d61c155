import random

from benchmarks.offline_workload import offline_workload, tiny_workload


def test_it_is_what_the_global_generator_draws_from_seed_0() -> None:
    workload = offline_workload()
    random.seed(0)
    prompts = [[random.randint(0, 10000) for _ in range(random.randint(100, 1024))] for _ in range(256)]
    lengths = [random.randint(100, 1024) for _ in range(256)]
    assert [list(prompt) for prompt in workload.prompts] == prompts
    assert list(workload.output_lengths) == lengths
    assert (workload.num_prompt_tokens, workload.num_output_tokens) == (142_827, 133_966)


def test_rounds_share_no_first_token_and_nothing_else_changes() -> None:
    workload = offline_workload()
    rounds = [workload.prompts_of_round(number) for number in range(4)]
    assert [list(prompt) for prompt in rounds[0]] == [list(prompt) for prompt in workload.prompts]
    for versions in zip(*rounds, strict=True):
        assert len({version[0] for version in versions}) == 4
        assert len({tuple(version[1:]) for version in versions}) == 1
        assert all(0 <= version[0] <= 10000 for version in versions)


def test_the_tiny_one_stays_inside_its_vocabulary() -> None:
    workload = tiny_workload(50)
    tokens = {token for number in range(60) for prompt in workload.prompts_of_round(number) for token in prompt}
    assert tokens <= set(range(50))
    assert len(workload.prompts) == len(workload.output_lengths) == 8
