import json
from pathlib import Path

import pytest
import torch

from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError

GIVEN = {
    "model_type": "qwen3",
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1000000,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": True,
    "attention_bias": False,
    "hidden_act": "silu",
}


def read(folder: Path, **changes):
    """Config of a folder whose config.json is GIVEN with changes; None removes a key."""
    values = {key: value for key, value in (GIVEN | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(values))
    return Qwen3Config.from_folder(folder)


def test_old_style(tmp_path):
    config = read(tmp_path, rope_scaling=None)
    assert config == Qwen3Config(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=512,
        rms_norm_eps=1e-6,
        rope_theta=1e6,
        tie_word_embeddings=True,
        dtype=torch.bfloat16,
    )


def test_new_style_is_the_same(tmp_path):
    old = read(tmp_path)
    rope = {"rope_type": "default", "rope_theta": 1000000}
    layers = ["full_attention"] * 2
    assert (
        read(tmp_path, torch_dtype=None, dtype="bfloat16", rope_theta=None, rope_parameters=rope, layer_types=layers)
        == old
    )


def test_defaults_are_those_of_the_family(tmp_path):
    config = read(tmp_path, head_dim=None, tie_word_embeddings=None)
    assert (config.head_dim, config.tie_word_embeddings) == (128, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "rope_scaling asks for 'yarn' scaling"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling asks for 'linear' scaling"),
        ({"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e6}}, "rope_parameters asks for 'llama3'"),
        ({"rope_parameters": {"rope_theta": 1e6, "factor": 2}}, r"rope_parameters holds \['factor'\]"),
        ({"rope_parameters": {"rope_theta": 1e6, "partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5"),
        ({"rope_parameters": {"rope_theta": 5e5}}, "rope_theta is 1000000 but rope_parameters says 500000.0"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
        ({"rope_parameters": "yarn"}, "rope_parameters is 'yarn'; it must be an object"),
        ({"rope_scaling": ["yarn"]}, r"rope_scaling is \['yarn'\]; it must be an object"),
        ({"rope_theta": None}, "rope_theta is missing"),
        ({"rope_theta": "1e6"}, "rope_theta is '1e6'; it must be a number above 0"),
        ({"rope_theta": 0}, "rope_theta is 0; it must be a number above 0"),
        ({"rope_theta": 10**400}, "rope_theta is 1000"),
        ({"rope_theta": True}, "rope_theta is True; it must be a number above 0"),
        ({"rope_theta": float("nan")}, "rope_theta is nan; it must be a number above 0"),
        ({"rms_norm_eps": -1e-6}, "rms_norm_eps is -1e-06; it must be a number above 0"),
        ({"rms_norm_eps": "1e-6"}, "rms_norm_eps is '1e-6'; it must be a number above 0"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings is 'no'; it must be true or false"),
        ({"torch_dtype": None}, r"dtype \(or torch_dtype\) is None"),
        ({"torch_dtype": "float8"}, "is 'float8'; it must be one of bfloat16"),
        ({"torch_dtype": ["bfloat16"]}, r"is \['bfloat16'\]; it must be one of bfloat16"),
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        ({"attention_bias": True}, "attention_bias is True"),
        ({"use_sliding_window": True}, "use_sliding_window is True"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding_attention"),
        ({"layer_types": 5}, "layer_types is 5; only a list of 'full_attention'"),
        ({"layer_types": [["full_attention"]]}, "only a list of 'full_attention'"),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantization_config is"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"hidden_size": "32"}, "hidden_size is '32'; it must be a whole number"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"num_key_value_heads": 3}, "num_attention_heads 4 is not a multiple of num_key_value_heads 3"),
        ({"head_dim": 15}, "head_dim is 15"),
    ],
)
def test_refused_with_file_and_key(tmp_path, changes, message):
    with pytest.raises(ModelError, match=message) as error:
        read(tmp_path, **changes)
    assert str(error.value).startswith(f"{tmp_path / 'config.json'}: ")


@pytest.mark.parametrize(
    ("text", "message"), [(None, "cannot be read"), ('{"a": ', "not valid JSON"), ("[]", "no JSON object")]
)
def test_unreadable_file_is_named(tmp_path, text, message):
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError, match=f"{tmp_path / 'config.json'}.* {message}"):
        Qwen3Config.from_folder(tmp_path)


def test_kv_block_bytes_counts_replicated_heads(tmp_path):
    config = read(tmp_path)
    assert config.kv_block_bytes(16, 1) == 2 * 2 * 16 * 2 * 16 * 2  # K and V, layers, tokens, heads, size, bytes
    assert config.kv_block_bytes(16, 2) == config.kv_block_bytes(16, 4) == config.kv_block_bytes(16, 1) // 2
