"""Logits equal those of transformers, in steps that cut the sequences up."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from random import Random

import torch

from backends.qwen3.config import DTYPES, Qwen3Config
from backends.qwen3.group import SingleRank
from backends.qwen3.loader import load_model
from backends.qwen3.named_config import named_config
from benchmarks.gpu_checks.attention_cases import attention_of
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case, Verdict
from benchmarks.gpu_checks.checkpoints import Reference, save_random
from benchmarks.gpu_checks.compare import relative_error
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row
from benchmarks.gpu_checks.stepper import Stepper

# Two whole prompts up to here, then a decode beside a chunk, then two decodes.
_STEPS = ((Row(0, 0, 270), Row(1, 0, 100)), (Row(0, 270, 271), Row(1, 100, 299)), (Row(0, 271, 272), Row(1, 299, 300)))


def cases(setup: Setup) -> Iterator[Case]:
    """Small and published sizes, tied and untied, in float32 and bfloat16."""
    small, published = small_config(setup), named_config(setup.model)
    for name, config in (("small", small), (setup.model.rpartition("/")[2], published)):
        for is_tied in (True, False):
            kind = f"{name} {'tied' if is_tied else 'untied'}"
            its = replace(config, tie_word_embeddings=is_tied)
            yield Case(f"{kind} float32", partial(equals_in_float32, setup, its, kind))
            yield Case(f"{kind} bfloat16", partial(close_in_bfloat16, setup, its, kind, setup.usual_attention))


def small_config(setup: Setup) -> Qwen3Config:
    """A model that is loaded in no time, with heads that every attention takes."""
    config = named_config(setup.model)
    return replace(config, num_hidden_layers=2, hidden_size=256, intermediate_size=320, vocab_size=509)


def equals_in_float32(setup: Setup, config: Qwen3Config, name: str) -> Verdict:
    """Largest difference of a logit against transformers, both in float32 and with plain attention."""
    kind = AttentionKind("torch", 16, "float32")
    ours, (exact,) = _logits(setup, config, name, kind, [torch.float32])
    scale, difference = max(1.0, float(exact.abs().max())), float((ours - exact).abs().max())
    return Verdict(difference <= 1e-4 * scale, {"difference": difference, "largest_logit": scale})


def close_in_bfloat16(setup: Setup, config: Qwen3Config, name: str, kind: AttentionKind) -> Verdict:
    """No farther from transformers in float32 than transformers in bfloat16 is, by error and by the top token."""
    ours, (exact, theirs) = _logits(setup, config, name, kind, [torch.float32, torch.bfloat16])
    error, their_error = relative_error(ours, exact), relative_error(theirs, exact)
    agreement, their_agreement = (float((x.argmax(-1) == exact.argmax(-1)).double().mean()) for x in (ours, theirs))
    numbers = {"error": error, "hf_error": their_error, "top1": agreement, "hf_top1": their_agreement}
    return Verdict(error <= 1.5 * their_error + 1e-3 and agreement >= their_agreement - 0.03, numbers)


def _logits(
    setup: Setup, config: Qwen3Config, name: str, kind: AttentionKind, dtypes: list[torch.dtype]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Ours in the dtype of `kind`, and those of transformers in each of `dtypes`: [tokens, vocabulary]."""
    attention = attention_of(setup, kind)
    stored = replace(config, dtype=torch.bfloat16)  # one checkpoint for all dtypes
    folder = save_random(setup.scratch / name.replace(" ", "-"), stored, setup.device)
    random = Random(5)
    sequences = [[random.randrange(config.vocab_size) for _ in range(length)] for length in (272, 300)]
    device = torch.device(setup.device)
    model = load_model(folder, SingleRank(), device=device, dtype=DTYPES[kind.dtype_name])
    stepper = Stepper(model, attention, sequences, block_size=kind.block_size, device=device)
    parts = {row: part for rows in _STEPS for row, part in zip(rows, stepper.logits(rows), strict=True)}
    ours = torch.cat([parts[row] for row in sorted(parts)])
    references = (Reference(folder, setup.device, dtype) for dtype in dtypes)
    return ours, [torch.cat([each.logits(tokens) for tokens in sequences]) for each in references]
