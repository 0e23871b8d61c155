import pytest

from backends.errors import SheetError
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import load_model_sheet

# As published with the checkpoints.
NUM_PARAMETERS = {
    "Qwen3-0.6B": 596_049_920,
    "Qwen3-1.7B": 1_720_574_976,
    "Qwen3-4B": 4_022_468_096,
    "Qwen3-8B": 8_190_735_360,
    "Qwen3-14B": 14_768_307_200,
    "Qwen3-32B": 32_762_123_264,
    "Llama-3.1-8B": 8_030_261_248,
}


@pytest.mark.parametrize(("name", "num_parameters"), NUM_PARAMETERS.items())
def test_sheets_have_exactly_the_published_parameters(name: str, num_parameters: int) -> None:
    model = load_model_sheet(name)
    assert model.name == name
    assert model.num_parameters == num_parameters
    assert ModelShard(model, 1).weight_bytes == 2 * num_parameters


def test_qwen3_8b_dimensions() -> None:
    model = load_model_sheet("qwen3-8b")
    assert (model.num_layers, model.hidden_size, model.num_heads, model.num_kv_heads) == (36, 4096, 32, 8)
    assert (model.head_dim, model.intermediate_size, model.vocab_size) == (128, 12288, 151936)
    assert (model.max_model_len, model.dtype_bytes) == (40960, 2)
    assert not model.has_tied_embeddings
    assert model.has_qk_norm


@pytest.mark.parametrize("name", ["Qwen/Qwen3-0.6B", "QWEN3-0.6B", "qwen3 0.6b", "qwen3_0.6b"])
def test_names_are_read_as_people_write_them(name: str) -> None:
    assert load_model_sheet(name).name == "Qwen3-0.6B"


def test_an_unknown_model_lists_the_known_ones() -> None:
    with pytest.raises(
        SheetError,
        match=r"^Unknown model 'Qwen3-9B'; known are Llama-3\.1-8B, Qwen3-0\.6B, Qwen3-1\.7B, Qwen3-14B, Qwen3-32B, "
        r"Qwen3-4B, Qwen3-8B, or give a sheet file \(NAME\.toml\)\.$",
    ):
        load_model_sheet("Qwen3-9B")


@pytest.mark.parametrize("name", ["", "/", "Qwen3", "llama"])
def test_half_a_name_is_not_a_name(name: str) -> None:
    with pytest.raises(SheetError, match="Unknown model"):
        load_model_sheet(name)
