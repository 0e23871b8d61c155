"""How to run a model: the value that every rank builds its runner from."""

from dataclasses import dataclass
from pathlib import Path

from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSettings:
    """Model and sizes.

    Attributes:
        config: shapes of the model.
        folder: where its weights are; None = random weights.
        block_size: tokens in a KV block.
        num_blocks: KV blocks; None = as many as fit.
        memory_utilization: share of each GPU's memory that may be used when `num_blocks` is None.
        max_num_seqs: most rows of a batch.
        max_num_batched_tokens: most tokens of a batch.
        max_model_len: most tokens of a sequence, outputs included.
        attention: name of the attention; None = chosen by block size and hardware.
        graph_sizes: decode batch sizes to capture as CUDA graphs; none = all steps eager.
        mixed_graph_sizes: numbers of tokens to capture for steps with chunks; none = all such steps eager.
        seed: of random weights, and of the samples of requests without a seed of their own.

    Raises:
        ModelError: a size is below 1, or sequences may be longer than the model's positions.
    """

    config: Qwen3Config
    folder: Path | None
    block_size: int
    num_blocks: int | None
    memory_utilization: float
    max_num_seqs: int
    max_num_batched_tokens: int
    max_model_len: int
    attention: str | None
    graph_sizes: tuple[int, ...]
    mixed_graph_sizes: tuple[int, ...]
    seed: int

    def __post_init__(self) -> None:
        for name in ("block_size", "num_blocks", "max_num_seqs", "max_num_batched_tokens", "max_model_len"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"{name} is {value}; it must be at least 1.")
        for name in ("graph_sizes", "mixed_graph_sizes"):
            for size in getattr(self, name):
                if size < 1:
                    raise ModelError(f"{name} holds {size}; each must be at least 1.")
        if not 0 < self.memory_utilization <= 1:
            raise ModelError(f"memory_utilization is {self.memory_utilization}; it must be above 0 and at most 1.")
        if self.max_model_len > self.config.max_position_embeddings:
            raise ModelError(
                f"max_model_len is {self.max_model_len}, but the model knows {self.config.max_position_embeddings} "
                f"positions; lower max_model_len to that."
            )

    @property
    def blocks_per_sequence(self) -> int:
        """Blocks of the longest sequence."""
        return -(-self.max_model_len // self.block_size)
