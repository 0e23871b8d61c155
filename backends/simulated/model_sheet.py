"""Dimensions of a dense decoder-only transformer."""

from dataclasses import dataclass
from pathlib import Path

from backends.errors import SheetError
from backends.simulated.model_folder import sheet_of_folder
from backends.simulated.sheet_file import build_sheet, load_sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSheet:
    """What of a model decides sizes and times: a Llama-like block (RMSNorm, grouped-query attention, gated MLP).

    Attributes:
        name: how people call it.
        num_layers: transformer blocks.
        hidden_size: width of the residual stream.
        num_heads: query heads of a layer.
        num_kv_heads: key/value heads of a layer; divides `num_heads`.
        head_dim: width of a head.
        intermediate_size: width of the gated MLP.
        vocab_size: tokens in the vocabulary.
        max_model_len: longest sequence, prompt and output together, in tokens.
        dtype_bytes: bytes of a weight, an activation and a cached key or value.
        has_tied_embeddings: whether the head uses the embedding matrix.
        has_qk_norm: whether queries and keys are normalised for each head.

    Raises:
        SheetError: the dimensions do not fit each other.
    """

    name: str
    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    max_model_len: int
    dtype_bytes: int
    has_tied_embeddings: bool
    has_qk_norm: bool

    def __post_init__(self) -> None:
        if self.num_heads % self.num_kv_heads:
            raise SheetError(
                f"num_heads is {self.num_heads}; it must be a multiple of num_kv_heads, {self.num_kv_heads}."
            )

    @property
    def num_parameters(self) -> int:
        """Weights of the whole model; tied embeddings count once."""
        heads = self.num_heads + 2 * self.num_kv_heads
        attention = self.hidden_size * self.head_dim * (heads + self.num_heads)
        norms = 2 * self.hidden_size + (2 * self.head_dim if self.has_qk_norm else 0)
        layer = attention + 3 * self.hidden_size * self.intermediate_size + norms
        vocab = self.vocab_size * self.hidden_size
        return self.num_layers * layer + self.hidden_size + (vocab if self.has_tied_embeddings else 2 * vocab)


def load_model_sheet(name_or_path: str | Path) -> ModelSheet:
    """The sheet of a known model (in any case, with or without organisation), sheet file (NAME.toml) or model folder.

    Raises:
        SheetError: unknown name, unreadable file, or a key or value that cannot be.
    """
    if name_or_path and (Path(name_or_path) / "config.json").is_file():
        return build_sheet(ModelSheet, sheet_of_folder(Path(name_or_path)), str(name_or_path))
    return load_sheet(ModelSheet, "model", name_or_path)
