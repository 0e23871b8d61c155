"""A model with its weights: from a folder, strictly, or random ones for timing."""

import hashlib
import warnings
from dataclasses import replace
from pathlib import Path

import torch

from backends.qwen3.checkpoint import Checkpoint
from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError
from backends.qwen3.group import Group
from backends.qwen3.model import Qwen3Model
from backends.qwen3.ops import Ops
from backends.qwen3.placement import Placement

_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"
_COMPARED_ROWS = 8192  # of embedding and head at a time: a few tens of MB
_SPREAD = 0.02  # of random weights; the residual stream stays finite in any dtype


def load_model(
    folder: Path, group: Group, *, device: torch.device, dtype: torch.dtype | None = None, ops: Ops | None = None
) -> Qwen3Model:
    """This rank's part of the model in `folder`.

    Args:
        folder: a Hugging Face folder: config.json and safetensors.
        group: ranks that share the model; each reads only its slices.
        device: where the model goes.
        dtype: in place of the config's.
        ops: fused operations; None = those of the device.

    Raises:
        ModelError: config or weights are missing, broken, of another shape, too many or too few.
    """
    config = Qwen3Config.from_folder(folder)
    config = replace(config, dtype=dtype or config.dtype)
    with Checkpoint(folder) as checkpoint:
        config = replace(config, tie_word_embeddings=_is_tied(config, checkpoint, folder, group))
        model = Qwen3Model(config, group, device=device, ops=ops)
        _fill(model, checkpoint, folder)
    return model


def random_model(
    config: Qwen3Config, group: Group, *, device: torch.device, seed: int = 0, ops: Ops | None = None
) -> Qwen3Model:
    """A model with random weights, for timing; on one kind of device the same whatever the number of ranks."""
    model = Qwen3Model(config, group, device=device, ops=ops)
    placements = list(model.placements())
    model.assert_filled_by(placements)
    for placement in placements:
        placement.target.copy_(_random_slice(placement, seed, config.dtype, device))
    return model


def _random_slice(placement: Placement, seed: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """This rank's slice of the whole random tensor; a vector is the scale of a norm, so it lies around 1."""
    digest = hashlib.blake2b(f"{seed}:{placement.key}".encode(), digest_size=7).digest()
    generator = torch.Generator(device).manual_seed(int.from_bytes(digest))
    tensor = torch.randn(placement.shape, generator=generator, dtype=dtype, device=device).mul_(_SPREAD)
    if tensor.dim() == 1:
        tensor.add_(1)
    return tensor.narrow(placement.dim, placement.start, placement.length)


def _fill(model: Qwen3Model, checkpoint: Checkpoint, folder: Path) -> None:
    placements = list(model.placements())
    model.assert_filled_by(placements)
    _check_keys({placement.key for placement in placements}, checkpoint, folder)
    for p in placements:
        p.target.copy_(checkpoint.read(p.key, p.shape, p.dim, p.start, p.length))


def _check_keys(expected: set[str], checkpoint: Checkpoint, folder: Path) -> None:
    for key in sorted(expected - checkpoint.names()):
        raise ModelError(
            f"{folder}: no safetensors file holds tensor {key}, which config.json asks for; config and weights must "
            f"be of the same model, and all files must be there."
        )
    for key in sorted(checkpoint.names() - expected - {_HEAD}):
        raise ModelError(
            f"{checkpoint.name_of_file(key)}: tensor {key} is not part of the dense Qwen3 that config.json describes; "
            f"config and weights must be of the same model."
        )


def _is_tied(config: Qwen3Config, checkpoint: Checkpoint, folder: Path, group: Group) -> bool:
    """Whether the head is the embedding: the tensors decide, a config that says otherwise is reported."""
    claimed, names = config.tie_word_embeddings, checkpoint.names()
    if _HEAD not in names:
        tied, reason = True, f"there is no {_HEAD}"
    elif not claimed or _EMBEDDING not in names:
        return claimed  # a head that happens to equal the embedding may stay apart; a missing embedding fails later
    else:
        tied, reason = _is_head_equal(config, checkpoint, group), f"{_HEAD} differs from {_EMBEDDING}"
    if tied != claimed and group.rank == 0:
        warnings.warn(
            f"{folder / 'config.json'} says tie_word_embeddings={claimed}, but {reason}; the weights are believed.",
            stacklevel=3,
        )
    return tied


def _is_head_equal(config: Qwen3Config, checkpoint: Checkpoint, group: Group) -> bool:
    """Compare head and embedding, each rank its share of the rows."""
    shape = (config.vocab_size, config.hidden_size)
    first, end = (config.vocab_size * rank // group.size for rank in (group.rank, group.rank + 1))
    starts = range(first, end, _COMPARED_ROWS)
    pieces = ((start, min(_COMPARED_ROWS, end - start)) for start in starts)
    is_equal = all(
        torch.equal(*(checkpoint.read(key, shape, 0, start, length) for key in (_EMBEDDING, _HEAD)))
        for start, length in pieces
    )
    return bool(group.minimum(is_equal))
