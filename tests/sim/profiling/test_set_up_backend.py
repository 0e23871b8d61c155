from engine import Limits, Request, SamplingParams, Scheduler, TokenPrompt, VllmPolicy
from sim.profiling.set_up_backend import last_tokens_of


def test_only_the_last_token_of_each_prompt_is_computed() -> None:
    scheduler = Scheduler(Limits(block_size=4), 20, VllmPolicy())
    for name, length in (("a", 9), ("b", 1)):
        scheduler.add(Request(name, TokenPrompt(range(length)), SamplingParams()))
    batch = scheduler.schedule()
    cut = last_tokens_of(batch)
    assert (cut.first_positions, cut.num_tokens, cut.samples) == ((8, 0), (1, 1), (True, True))
    assert (cut.admitted, cut.shape) == (batch.admitted, batch.shape)
