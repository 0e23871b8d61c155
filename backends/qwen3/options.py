"""What a user may say about how a model runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict

import torch

from backends.graph_sizes import graph_sizes, mixed_graph_sizes
from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.config import DTYPES, Qwen3Config
from backends.qwen3.errors import ModelError


class Options(TypedDict, total=False):
    """Keywords of `Qwen3Backend.from_folder` and `from_dims`.

    Attributes:
        device: "cuda", "cuda:1" or "cpu"; further ranks take the GPUs after it. "cuda" by default.
        tensor_parallel: ranks that share the model. 1 by default.
        dtype: "bfloat16", "float16" or "float32" in place of the config's.
        block_size: tokens in a KV block. 256 by default, which suits every attention.
        num_blocks: KV blocks; as many as fit by default.
        memory_utilization: share of a GPU's memory that may be used, 0.9 by default.
        max_num_seqs: most rows of a batch. 256 by default.
        max_num_batched_tokens: most tokens of a batch. 8192 by default.
        max_model_len: most tokens of a sequence; the model's positions by default.
        attention: a name, see `choose_attention`; "auto", the default, chooses.
        graphs: whether steps run as CUDA graphs where there is a GPU. True by default.
        graph_sizes: batch sizes of decode steps to capture, in place of those of `backends.graph_sizes`.
        mixed_graph_sizes: tokens of steps with chunks to capture, likewise.
        replay: return the tokens of `ReplayTokens` in place of the samples. False by default.
        seed: of random weights, and of requests without a seed of their own. 0 by default.
        meanwhile: called in each step when the device is busy and the host would only wait.
    """

    device: str
    tensor_parallel: int
    dtype: str | None
    block_size: int
    num_blocks: int | None
    memory_utilization: float
    max_num_seqs: int
    max_num_batched_tokens: int
    max_model_len: int | None
    attention: str
    graphs: bool
    graph_sizes: tuple[int, ...] | None
    mixed_graph_sizes: tuple[int, ...] | None
    replay: bool
    seed: int
    meanwhile: Callable[[], None]


def settings_of(config: Qwen3Config, folder: Path | None, options: Options) -> BackendSettings:
    """The settings of all ranks.

    Raises:
        ModelError: an option is unknown, or has a value that cannot work.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        raise ModelError(f"Unknown option {', '.join(unknown)}; known: {', '.join(Options.__annotations__)}.")
    max_num_seqs, max_num_tokens = options.get("max_num_seqs", 256), options.get("max_num_batched_tokens", 8192)
    attention = options.get("attention", "auto")
    layer_weights = config.layer_weights_on(num_ranks_of(options))
    return BackendSettings(
        config=_with_dtype(config, options.get("dtype")),
        folder=folder,
        block_size=options.get("block_size", 256),
        num_blocks=options.get("num_blocks"),
        memory_utilization=options.get("memory_utilization", 0.9),
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_tokens,
        max_model_len=options.get("max_model_len") or config.max_position_embeddings,
        attention=None if attention == "auto" else attention,
        graph_sizes=_sizes(options, "graph_sizes", lambda: graph_sizes(max(0, max_num_seqs))),
        mixed_graph_sizes=_sizes(
            options, "mixed_graph_sizes", lambda: mixed_graph_sizes(max(0, max_num_tokens), layer_weights)
        ),
        seed=options.get("seed", 0),
    )


def device_of(options: Options) -> torch.device:
    """The first rank's device.

    Raises:
        ModelError: its name is none.
    """
    name = options.get("device", "cuda")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ModelError(f"device is {name!r}; use cuda, cuda:N or cpu.") from None


def num_ranks_of(options: Options) -> int:
    """Ranks that share the model.

    Raises:
        ModelError: there are none.
    """
    num_ranks = options.get("tensor_parallel", 1)
    if num_ranks < 1:
        raise ModelError(f"tensor_parallel is {num_ranks}; it must be at least 1.")
    return num_ranks


def _with_dtype(config: Qwen3Config, name: str | None) -> Qwen3Config:
    if name is None:
        return config
    if name not in DTYPES:
        raise ModelError(f"dtype is {name!r}; it must be one of {', '.join(DTYPES)}.")
    return replace(config, dtype=DTYPES[name])


def _sizes(
    options: Options, name: Literal["graph_sizes", "mixed_graph_sizes"], usual: Callable[[], tuple[int, ...]]
) -> tuple[int, ...]:
    if not options.get("graphs", True):
        return ()
    chosen = options.get(name)
    return usual() if chosen is None else tuple(chosen)
