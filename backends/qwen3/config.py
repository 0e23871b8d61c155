"""What config.json says about a dense Qwen3."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from backends.qwen3.errors import ModelError

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}

# What a dense Qwen3 folder may say and we compute; any other value changes the result, so it is refused.
_ONLY = {
    "model_type": "qwen3",
    "hidden_act": "silu",
    "attention_bias": False,
    "use_sliding_window": False,
    "quantization_config": None,
    "partial_rotary_factor": 1.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen3Config:
    """Shapes and constants of one model, named as in config.json.

    Attributes:
        vocab_size: tokens that can be embedded and sampled.
        hidden_size: width of the residual stream.
        intermediate_size: width inside the MLP.
        num_hidden_layers: decoder layers.
        num_attention_heads: query heads.
        num_key_value_heads: key/value heads; divides `num_attention_heads`.
        head_dim: size of a head; even, and not tied to `hidden_size`.
        max_position_embeddings: positions that RoPE is prepared for.
        rms_norm_eps: added to the variance in every RMSNorm.
        rope_theta: base of the RoPE frequencies.
        tie_word_embeddings: whether the head is the embedding.
        dtype: of weights, activations and KV cache.

    Raises:
        ModelError: a size is below 1, sizes do not divide, or a value is of a kind that it cannot be.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int = 128
    max_position_embeddings: int = 40960
    rms_norm_eps: float = 1e-6
    rope_theta: float = 1e6
    tie_word_embeddings: bool = False
    dtype: torch.dtype = torch.bfloat16

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (type(value) is not int or value < 1):
                raise ModelError(f"{field.name} is {value!r}; it must be a whole number, at least 1.")
            if field.type is float and not _is_positive(value):
                raise ModelError(f"{field.name} is {value!r}; it must be a number above 0.")
            if field.type is bool and not isinstance(value, bool):
                raise ModelError(f"{field.name} is {value!r}; it must be true or false.")
        if self.num_attention_heads % self.num_key_value_heads:
            raise ModelError(
                f"num_attention_heads {self.num_attention_heads} is not a multiple of num_key_value_heads "
                f"{self.num_key_value_heads}; each key/value head must serve the same number of query heads."
            )
        if self.head_dim % 2:
            raise ModelError(f"head_dim is {self.head_dim}; RoPE rotates pairs, so it must be even.")

    @classmethod
    def from_folder(cls, folder: Path) -> "Qwen3Config":
        """Read `folder`/config.json.

        Raises:
            ModelError: the file is missing or broken, lacks a key, or asks for what is not computed here.
        """
        path = folder / "config.json"
        values = _read_json(path)
        try:
            _refuse_other_models(values)
            return cls(
                **{name: _need(values, name) for name in _REQUIRED},
                **{name: values[name] for name in _OPTIONAL if values.get(name) is not None},
                rope_theta=_rope_theta(values),
                dtype=_dtype(values),
            )
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    def num_kv_heads_on(self, num_ranks: int) -> int:
        """Key/value heads that one of `num_ranks` ranks holds; at least one, replicated if need be."""
        return max(1, self.num_key_value_heads // num_ranks)

    def layer_weights_on(self, num_ranks: int) -> int:
        """Weights that the matrices of one layer have on one rank."""
        heads, kv_heads = self.num_attention_heads // num_ranks, self.num_kv_heads_on(num_ranks)
        attention = 2 * (heads + kv_heads) * self.head_dim
        return self.hidden_size * max(1, attention + 3 * (self.intermediate_size // num_ranks))

    def kv_block_bytes(self, block_size: int, num_ranks: int) -> int:
        """Bytes that one KV block of `block_size` tokens takes on one rank, all layers, keys and values."""
        token_numbers = 2 * self.num_hidden_layers * self.num_kv_heads_on(num_ranks) * self.head_dim
        return token_numbers * block_size * self.dtype.itemsize


_REQUIRED = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "max_position_embeddings",
    "rms_norm_eps",
)
_OPTIONAL = ("head_dim", "tie_word_embeddings")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read ({error.strerror}); give the folder of a Hugging Face model."
        ) from None
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}); download it again.") from None
    if not isinstance(values, dict):
        raise ModelError(f"{path} holds no JSON object; download it again.")
    return values


def _need(values: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a JSON value; the dataclass checks it
    if values.get(name) is None:
        raise ModelError(f"{name} is missing; a dense Qwen3 needs it.")
    return values[name]


def _refuse_other_models(values: Mapping[str, Any]) -> None:
    for name, only in _ONLY.items():
        if values.get(name, only) != only:
            raise ModelError(f"{name} is {values[name]!r}; only dense Qwen3 with {only!r} is supported.")
    kinds = values.get("layer_types") or []
    if not isinstance(kinds, list) or any(kind != "full_attention" for kind in kinds):
        raise ModelError(f"layer_types is {kinds!r}; only a list of 'full_attention' is supported.")


def _is_positive(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= sys.float_info.max


def _rope_theta(values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a JSON value; the dataclass checks it
    """Base of RoPE from either config style; anything that would scale or cut the rotation is refused."""
    new, old = values.get("rope_parameters") or {}, values.get("rope_scaling") or {}
    for name, style in (("rope_parameters", new), ("rope_scaling", old)):
        _refuse_scaling(name, style)
    thetas = [theta for theta in (new.get("rope_theta"), values.get("rope_theta")) if theta is not None]
    if not thetas:
        raise ModelError("rope_theta is missing, at the top and in rope_parameters; a dense Qwen3 needs it.")
    if len(thetas) == 2 and thetas[0] != thetas[1]:
        raise ModelError(f"rope_theta is {thetas[-1]} but rope_parameters says {thetas[0]}; remove the wrong one.")
    return thetas[0]


def _refuse_scaling(name: str, style: Mapping[str, Any]) -> None:
    if not isinstance(style, Mapping):
        raise ModelError(f"{name} is {style!r}; it must be an object with rope_theta.")
    kind = style.get("rope_type", style.get("type", "default"))
    if kind != "default":
        raise ModelError(f"{name} asks for {kind!r} scaling; only 'default' (no scaling) is supported.")
    if style.get("partial_rotary_factor", 1.0) != 1.0:
        raise ModelError(f"{name}.partial_rotary_factor is {style['partial_rotary_factor']}; only 1.0 is supported.")
    others = set(style) - {"rope_theta", "rope_type", "type", "partial_rotary_factor"}
    if others:
        raise ModelError(f"{name} holds {sorted(others)}, which is not supported; only rope_theta is.")


def _dtype(values: Mapping[str, Any]) -> torch.dtype:
    name = values.get("dtype") or values.get("torch_dtype")
    if not isinstance(name, str) or name not in DTYPES:
        raise ModelError(f"dtype (or torch_dtype) is {name!r}; it must be one of {', '.join(DTYPES)}.")
    return DTYPES[name]
