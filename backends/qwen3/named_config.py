"""Shapes of the published sizes of dense Qwen3, for models without weights."""

from dataclasses import replace

import torch

from backends.errors import SheetError
from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError
from backends.simulated.model_sheet import load_model_sheet

_DTYPES = {2: torch.bfloat16, 4: torch.float32}


def named_config(name: str, dtype: torch.dtype | None = None) -> Qwen3Config:
    """The config of a size such as "Qwen3-0.6B", from the same sheet that the simulated backend reads.

    Args:
        name: of a sheet, or the path of one.
        dtype: in place of the sheet's.

    Raises:
        ModelError: there is no such sheet, or it is not of a dense Qwen3.
    """
    try:
        sheet = load_model_sheet(name)
    except SheetError as error:
        raise ModelError(str(error)) from None
    if not sheet.has_qk_norm:
        raise ModelError(f"{sheet.name} is no dense Qwen3; use one of the Qwen3 sizes, such as Qwen3-0.6B.")
    config = Qwen3Config(
        vocab_size=sheet.vocab_size,
        hidden_size=sheet.hidden_size,
        intermediate_size=sheet.intermediate_size,
        num_hidden_layers=sheet.num_layers,
        num_attention_heads=sheet.num_heads,
        num_key_value_heads=sheet.num_kv_heads,
        head_dim=sheet.head_dim,
        max_position_embeddings=sheet.max_model_len,
        tie_word_embeddings=sheet.has_tied_embeddings,
        dtype=_DTYPES[sheet.dtype_bytes],
    )
    return replace(config, dtype=dtype) if dtype else config
