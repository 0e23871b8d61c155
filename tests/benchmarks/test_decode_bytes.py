from dataclasses import replace

from backends.simulated import load_model_sheet
from benchmarks.decode_bytes import decode_step_bytes

SHEET = load_model_sheet("Qwen3-0.6B")
KV_BYTES = 2 * 28 * 8 * 128 * 2  # keys and values of one token in all layers


def test_a_tied_model_reads_every_weight_once_and_every_context() -> None:
    assert decode_step_bytes(SHEET, [512, 100]) == 596_049_920 * 2 + 612 * KV_BYTES


def test_the_embedding_of_an_untied_model_is_not_read() -> None:
    untied = replace(SHEET, has_tied_embeddings=False)
    assert decode_step_bytes(untied, [1]) == decode_step_bytes(SHEET, [1])
