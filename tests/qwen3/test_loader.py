"""Weights are placed exactly once; whatever is wrong with the files is one sentence that names file and key."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.checkpoint import Checkpoint
from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError
from backends.qwen3.group import SingleRank
from backends.qwen3.loader import load_model, random_model
from tests.qwen3.tiny_model import CPU, Row, make_inputs, poisoned_cache, save_tiny

FILE = "model.safetensors"
EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"
A_KEY = "model.layers.1.self_attn.k_proj.weight"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untied")
    save_tiny(folder)
    return folder


@pytest.fixture(scope="module")
def saved_in_parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    save_tiny(folder, max_shard_size="40KB")
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def parts(saved_in_parts, tmp_path):
    """A copy in several files, to spoil."""
    return shutil.copytree(saved_in_parts, tmp_path / "parts")


def load(folder):
    return load_model(folder, SingleRank(), device=CPU)


def change(folder, **changes):
    """Rewrite the weights; keys with "/" for "."; None removes one."""
    tensors = load_file(folder / FILE)
    for key, tensor in changes.items():
        tensors[key.replace("/", ".")] = tensor
    save_file({key: tensor for key, tensor in tensors.items() if tensor is not None}, folder / FILE)


def set_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(folder, *parts):
    with pytest.raises(ModelError) as error:
        load(folder)
    for part in parts:
        assert str(part) in str(error.value)
    assert "\n" not in str(error.value)


def test_parameters_equal_the_files(folder):
    model, tensors = load(folder), load_file(folder / FILE)
    layer = model.layers[1]
    names = "model.layers.1.self_attn.{}_proj.weight"
    assert torch.equal(layer.attention.qkv.weight, torch.cat([tensors[names.format(name)] for name in "qkv"]))
    names = "model.layers.1.mlp.{}_proj.weight"
    assert torch.equal(layer.mlp.gate_up.weight, torch.cat([tensors[names.format(name)] for name in ("gate", "up")]))
    assert torch.equal(layer.mlp.down.weight, tensors[names.format("down")])
    assert torch.equal(model.head.weight, tensors[HEAD])


def test_every_number_is_set_once(folder):
    model = load(folder)
    targets = [placement.target for placement in model.placements()]
    for parameter in model.parameters():
        parameter.zero_()
    for target in targets:
        target.add_(1)  # a number in two targets would become 2, one in none would stay 0
    assert all((parameter == 1).all() for parameter in model.parameters())


def test_files_with_index_equal_one_file(folder, parts):
    assert len(list(parts.glob("*.safetensors"))) > 3
    state, other = load(folder).state_dict(), load(parts).state_dict()
    assert all(torch.equal(state[name], other[name]) for name in state)


def test_dtype_of_the_config_wins_over_the_files(folder):
    set_config(folder, dtype="bfloat16")
    assert load(folder).norm.weight.dtype == torch.bfloat16


def test_asked_dtype_wins_over_the_config(folder):
    model = load_model(folder, SingleRank(), device=CPU, dtype=torch.float16)
    assert model.config.dtype == model.norm.weight.dtype == torch.float16


def test_tied_without_a_head(tmp_path):
    save_tiny(tmp_path, tied=True)
    assert HEAD not in load_file(tmp_path / FILE)
    model = load(tmp_path)
    assert model.head is model.embedding
    assert model.config.tie_word_embeddings


def test_tied_with_an_equal_head_is_silent(folder):
    change(folder, **{"lm_head/weight": load_file(folder / FILE)[EMBEDDING].clone()})
    set_config(folder, tie_word_embeddings=True)
    model = load(folder)
    assert model.head is model.embedding


def test_config_tied_but_head_differs(folder):
    set_config(folder, tie_word_embeddings=True)
    with pytest.warns(UserWarning, match="tie_word_embeddings=True, but lm_head.weight differs from"):
        model = load(folder)
    assert not model.config.tie_word_embeddings
    assert torch.equal(model.head.weight, load_file(folder / FILE)[HEAD])


def test_config_untied_but_no_head(folder):
    change(folder, **{"lm_head/weight": None})
    with pytest.warns(UserWarning, match=r"tie_word_embeddings=False, but there is no lm_head.weight"):
        model = load(folder)
    assert model.head is model.embedding


def test_no_weights(folder):
    (folder / FILE).unlink()
    refused(folder, folder, "holds no *.safetensors file")


def test_cut_file(folder):
    data = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(data[: len(data) // 2])
    refused(folder, folder / FILE, "is cut or no safetensors file")


def test_file_that_is_no_safetensors(folder):
    (folder / FILE).write_bytes(b"<html>404</html>")
    refused(folder, folder / FILE, "is cut or no safetensors file")


def test_missing_tensor(folder):
    change(folder, **{A_KEY.replace(".", "/"): None})
    refused(folder, folder, A_KEY, "no safetensors file holds")


def test_missing_embedding(folder):
    change(folder, **{EMBEDDING.replace(".", "/"): None})
    refused(folder, folder, EMBEDDING)


def test_unknown_tensor(folder):
    change(folder, **{"model/layers/1/self_attn/q_proj/bias": torch.zeros(64)})
    refused(folder, folder / FILE, "model.layers.1.self_attn.q_proj.bias", "not part of the dense Qwen3")


def test_layer_that_the_config_does_not_count(folder):
    set_config(folder, num_hidden_layers=2, layer_types=None)
    refused(folder, folder / FILE, "model.layers.2.")


@pytest.mark.parametrize("shape", [(31, 40), (32, 41), (32,), (32, 40, 1)])
def test_wrong_shape(folder, shape):
    change(folder, **{A_KEY.replace(".", "/"): torch.zeros(shape)})
    refused(folder, folder / FILE, A_KEY, f"has shape {shape}, but config.json asks for (32, 40)")


def test_wrong_vocabulary(folder):
    set_config(folder, vocab_size=98)
    refused(folder, folder / FILE, EMBEDDING, "has shape (97, 40), but config.json asks for (98, 40)")


def test_weights_that_are_no_plain_floats(folder):
    change(folder, **{A_KEY.replace(".", "/"): torch.zeros(32, 40, dtype=torch.int8)})
    refused(folder, folder / FILE, A_KEY, "has type I8; only BF16, F16, F32")


def test_part_missing(parts):
    victim = sorted(parts.glob("*.safetensors"))[1]
    victim.unlink()
    refused(parts, victim, "is missing, though model.safetensors.index.json names it")


def test_a_link_to_nowhere(folder):
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(folder / "cleaned-up")
    refused(folder, folder / FILE, "is a broken link or a folder; download it again")


def test_part_cut(parts):
    victim = sorted(parts.glob("*.safetensors"))[1]
    victim.write_bytes(victim.read_bytes()[:-1])
    refused(parts, victim, "is cut")


def test_index_without_map(parts):
    (parts / "model.safetensors.index.json").write_text("{}")
    refused(parts, "model.safetensors.index.json has no readable weight_map")


def edit_index(parts, edit):
    path = parts / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    edit(index["weight_map"])
    path.write_text(json.dumps(index))


def test_index_names_the_wrong_part(parts):
    names = sorted(path.name for path in parts.glob("*.safetensors"))
    edit_index(parts, lambda weight_map: weight_map.update({A_KEY: next(n for n in names if n != weight_map[A_KEY])}))
    refused(parts, f"says that tensor {A_KEY} is in")


def test_tensor_that_the_index_does_not_name(parts):
    edit_index(parts, lambda weight_map: weight_map.pop(A_KEY))
    refused(parts, A_KEY, "is not in model.safetensors.index.json")


def test_tensor_in_two_files(folder):
    save_file({A_KEY: torch.zeros(1)}, folder / "extra.safetensors")
    refused(folder, A_KEY, f"is also in {folder / 'extra.safetensors'}", "remove one")


def test_slices_are_read_alone(folder):
    whole = load_file(folder / FILE)[A_KEY]
    with Checkpoint(folder) as checkpoint:
        assert torch.equal(checkpoint.read(A_KEY, (32, 40), 0, 8, 4), whole[8:12])
        assert torch.equal(checkpoint.read(A_KEY, (32, 40), 1, 8, 4), whole[:, 8:12])


CONFIG = Qwen3Config(
    vocab_size=51,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=64,
    dtype=torch.bfloat16,
)


class Rank:
    """Place of a rank in a group that never speaks."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


def test_random_weights_are_finite_seeded_and_varied():
    one, same, other = (random_model(CONFIG, SingleRank(), device=CPU, seed=seed) for seed in (4, 4, 5))
    inputs = make_inputs([Row(list(range(20)), 0, 20, [0, 1])], 16)
    cache = poisoned_cache(CONFIG, num_blocks=2, block_size=16)
    attention = PagedAttention(TorchKernels())
    logits = [model.logits(model(inputs, cache, attention)) for model in (one, same, other)]
    assert logits[0].isfinite().all()
    assert logits[0].argmax(-1).unique().numel() > 5
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[0], logits[2])


def test_random_weights_do_not_depend_on_the_number_of_ranks():
    whole = random_model(CONFIG, SingleRank(), device=CPU)
    ranks = [random_model(CONFIG, Rank(rank, 2), device=CPU) for rank in range(2)]
    assert torch.equal(torch.cat([model.embedding.weight for model in ranks])[:51], whole.embedding.weight)
    assert (ranks[1].embedding.weight[25:] == 0).all()  # padding of the vocabulary
    down = torch.cat([model.layers[0].mlp.down.weight for model in ranks], dim=1)
    assert torch.equal(down, whole.layers[0].mlp.down.weight)
    key = torch.cat([model.layers[1].attention.qkv.weight[32:48] for model in ranks])
    assert torch.equal(key, whole.layers[1].attention.qkv.weight[64:96])
