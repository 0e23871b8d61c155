import json
from pathlib import Path

import pytest

from backends.errors import SheetError
from backends.simulated.model_sheet import load_model_sheet

CONFIG = {
    "model_type": "qwen3",
    "num_hidden_layers": 28,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 3072,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": True,
}


def folder_with(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "config.json").write_text(text)
    return path


def test_folder_of_a_known_model_gives_the_dimensions_of_its_sheet(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "mine", json.dumps(CONFIG))

    sheet, known = load_model_sheet(str(folder)), load_model_sheet("Qwen3-0.6B")

    assert sheet.name == "mine"
    for name in ("num_layers", "hidden_size", "num_kv_heads", "head_dim", "vocab_size", "dtype_bytes", "has_qk_norm"):
        assert getattr(sheet, name) == getattr(known, name), name
    assert sheet.num_parameters == known.num_parameters


def test_what_the_config_leaves_out_follows_from_the_rest(tmp_path: Path) -> None:
    left_out = ("head_dim", "num_key_value_heads", "tie_word_embeddings", "torch_dtype", "model_type")
    config = {name: value for name, value in CONFIG.items() if name not in left_out}
    sheet = load_model_sheet(folder_with(tmp_path / "plain", json.dumps(config)))

    assert (sheet.head_dim, sheet.num_kv_heads, sheet.has_tied_embeddings, sheet.dtype_bytes) == (64, 16, False, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"num_hidden_layers": 2}', "KeyError: 'hidden_size'"),
        (json.dumps(CONFIG | {"torch_dtype": "int4"}), "KeyError: 'int4'"),
        (json.dumps(CONFIG | {"hidden_size": "wide"}), "hidden_size is 'wide'; it must be a whole number"),
    ],
)
def test_config_that_is_none_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SheetError, match=reason):
        load_model_sheet(folder_with(tmp_path / "broken", text))
