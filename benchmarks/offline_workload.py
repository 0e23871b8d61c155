"""The offline workload that engines of this kind are compared on: 256 prompts and output lengths, from seed 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

_PROMPT_TOKENS, _OUTPUT_TOKENS = 142_827, 133_966
_LARGEST_ID = 10_000


@dataclass(frozen=True, slots=True)
class OfflineWorkload:
    """Prompts and how many tokens each must yield.

    Attributes:
        prompts: token ids of each request.
        output_lengths: tokens that each request generates, whatever they are.
        largest_id: token ids are 0 to this.
    """

    prompts: tuple[tuple[int, ...], ...]
    output_lengths: tuple[int, ...]
    largest_id: int

    @property
    def num_prompt_tokens(self) -> int:
        """Tokens of all prompts."""
        return sum(map(len, self.prompts))

    @property
    def num_output_tokens(self) -> int:
        """Tokens of all outputs."""
        return sum(self.output_lengths)

    def prompts_of_round(self, number: int) -> Sequence[Sequence[int]]:
        """The prompts, the first token of each changed, so that no round finds blocks of another in the cache."""
        return [((ids[0] + number) % (self.largest_id + 1), *ids[1:]) for ids in self.prompts]


def offline_workload() -> OfflineWorkload:
    """The whole workload: 100 to 1,024 tokens in and out, evenly spread."""
    workload = _draw(num_requests=256, shortest=100, longest=1024, largest_id=_LARGEST_ID)
    drawn = (workload.num_prompt_tokens, workload.num_output_tokens)
    assert drawn == (_PROMPT_TOKENS, _OUTPUT_TOKENS), f"{drawn} tokens; another generator than the published one"
    return workload


def tiny_workload(vocab_size: int) -> OfflineWorkload:
    """A few short requests, to try the program."""
    return _draw(num_requests=8, shortest=5, longest=40, largest_id=vocab_size - 1)


def _draw(*, num_requests: int, shortest: int, longest: int, largest_id: int) -> OfflineWorkload:
    # In this order: what is drawn depends on it.
    random = Random(0)
    prompts = [
        tuple([random.randint(0, largest_id) for _ in range(random.randint(shortest, longest))])
        for _ in range(num_requests)
    ]
    lengths = [random.randint(shortest, longest) for _ in range(num_requests)]
    return OfflineWorkload(tuple(prompts), tuple(lengths), largest_id)
