import dataclasses

from analysis.flag_names import with_flags
from sim.replay_settings import ReplaySettings


def test_settings_become_flags() -> None:
    text = "it must be shorter than max_model_len, 512; the pool has 3 (num_blocks)."
    assert with_flags(text) == "it must be shorter than --max-model-len, 512; the pool has 3 (--num-blocks)."


def test_other_words_and_flags_stay() -> None:
    text = "num_blocks_free, --max-num-seqs, trace_block_size and max_tokens"
    assert with_flags(text) == text


def test_every_flag_named_is_one() -> None:
    names = [field.name for field in dataclasses.fields(ReplaySettings)]
    known = [name for name in names if with_flags(name) != name]
    assert {"max_num_seqs", "max_num_batched_tokens", "max_model_len", "num_blocks", "block_size"} <= set(known)
