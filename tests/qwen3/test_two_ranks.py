"""Two ranks over gloo compute what one rank and Hugging Face compute. The two processes start once for all tests."""

import json

import pytest
import torch

from backends.qwen3.group import SingleRank
from backends.qwen3.loader import load_model
from tests.qwen3 import two_ranks
from tests.qwen3.tiny_model import CPU, VOCAB, reference_logits, save_tiny

SHAPES = {
    "gqa": {"num_heads": 4, "num_kv_heads": 2},
    "tied": {"num_heads": 4, "num_kv_heads": 4, "tied": True},
    "kv_head_on_both": {"num_heads": 4, "num_kv_heads": 1, "head_dim": 24},
    "odd_heads": {"num_heads": 3, "num_kv_heads": 1},  # cannot be shared
    "claims_tied": {"num_heads": 2, "num_kv_heads": 2},  # config and weights disagree
}
WORKING = [name for name in SHAPES if name != "odd_heads"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """(folders by name, models of Hugging Face by name), with what two ranks made of them in the folders."""
    root = tmp_path_factory.mktemp("two_ranks")
    folders = {name: root / name for name in SHAPES}
    models = {name: save_tiny(folders[name], **SHAPES[name]) for name in SHAPES}
    path = folders["claims_tied"] / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tie_word_embeddings": True}))
    two_ranks.start(root / "meeting_point", list(folders.values()))
    return folders, models


@pytest.mark.parametrize("name", WORKING)
def test_both_ranks_give_the_same_whole_logits(saved, name):
    first, second = (torch.load(saved[0][name] / f"rank{rank}.pt") for rank in range(2))
    assert [logits.shape for logits in first] == [(40, VOCAB), (2, VOCAB), (0, VOCAB), (1, VOCAB)]
    assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))


@pytest.mark.parametrize("name", WORKING)
def test_two_ranks_equal_hugging_face(saved, name):
    folders, models = saved
    ours = torch.load(folders[name] / "rank0.pt")
    a, b = two_ranks.A, two_ranks.B
    whole = [reference_logits(models[name], tokens) for tokens in (a, a[:16] + b, b)]
    expected = [whole[0][:40], torch.stack((whole[0][40], whole[1][49])), whole[2][:0], whole[2][20:21]]
    assert all((mine - theirs).abs().max() < 1e-4 for mine, theirs in zip(ours, expected, strict=True) if len(mine))


@pytest.mark.parametrize("name", ["gqa", "kv_head_on_both"])
def test_two_ranks_pick_the_tokens_of_one(saved, name):
    one = two_ranks.run_steps(load_model(saved[0][name], SingleRank(), device=CPU), 1)
    two = torch.load(saved[0][name] / "rank0.pt")
    assert all(torch.equal(*(logits.argmax(-1) for logits in pair)) for pair in zip(one, two, strict=True))


def test_heads_that_cannot_be_shared_are_an_error_on_each_rank(saved):
    for rank in range(2):
        error = torch.load(saved[0]["odd_heads"] / f"rank{rank}.pt")
        assert "q_proj has 3 heads, which 2 tensor-parallel ranks cannot share evenly" in error
