"""Dimensions from the config.json of a Hugging Face folder."""

import json
from pathlib import Path
from typing import Any

from backends.errors import SheetError

_DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}


def sheet_of_folder(folder: Path) -> dict[str, Any]:
    """The values of a model sheet, by name.

    Raises:
        SheetError: there is no config.json, or it lacks what a sheet needs.
    """
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
        return {
            "name": folder.resolve().name,
            "num_layers": config["num_hidden_layers"],
            "hidden_size": config["hidden_size"],
            "num_heads": config["num_attention_heads"],
            "num_kv_heads": config.get("num_key_value_heads", config["num_attention_heads"]),
            "head_dim": config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
            "intermediate_size": config["intermediate_size"],
            "vocab_size": config["vocab_size"],
            "max_model_len": config["max_position_embeddings"],
            "dtype_bytes": _DTYPE_BYTES[config.get("dtype") or config.get("torch_dtype", "bfloat16")],
            "has_tied_embeddings": bool(config.get("tie_word_embeddings", False)),
            "has_qk_norm": config.get("model_type") == "qwen3",
        }
    except OSError as error:
        raise SheetError(f"Cannot read {path}: {error.strerror}; name a model folder or a sheet.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SheetError(f"{path} does not describe a dense decoder: {type(error).__name__}: {error}.") from None
