"""Steps that are run before the first real one: to compile kernels, and to see the most memory that a step takes."""

from collections.abc import Callable
from dataclasses import replace

import torch

from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.sampler import Sampler
from backends.qwen3.sampling_inputs import SamplingInputs

_SPECIAL_SIZES = (1, 2, 16)
"""Triton compiles a kernel anew for sizes that are 1, or multiples of 16, or neither."""


def prefill_inputs(settings: BackendSettings, num_tokens: int, device: torch.device) -> ForwardInputs:
    """Chunks that start at position 0, as many tokens in all as asked for, with as many logits as a step may want.

    All of them read block 0, and write nothing, so that a cache of one block is enough.
    """
    longest = min(num_tokens, settings.max_model_len)
    lengths = [longest] * (num_tokens // longest) + [num_tokens % longest] * (num_tokens % longest > 0)
    starts = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
    num_wanted = min(settings.max_num_seqs, num_tokens)
    return ForwardInputs(
        token_ids=torch.zeros(num_tokens, dtype=torch.int64, device=device),
        positions=torch.cat([torch.arange(length) for length in lengths]).to(device),
        slots=torch.full((num_tokens,), -1, dtype=torch.int64, device=device),
        num_decodes=0,
        decode_block_tables=torch.zeros((0, 0), dtype=torch.int32, device=device),
        decode_context_lens=torch.zeros(0, dtype=torch.int32, device=device),
        chunk_query_starts=starts,
        chunk_key_starts=starts,
        chunk_context_lens=torch.tensor(lengths, dtype=torch.int32, device=device),
        chunk_block_tables=torch.zeros(
            (len(lengths), -(-longest // settings.block_size)), dtype=torch.int32, device=device
        ),
        max_query=longest,
        max_context=longest,
        logits_rows=torch.arange(num_wanted, device=device),
    )


def decode_inputs(settings: BackendSettings, num_rows: int, device: torch.device) -> ForwardInputs:
    """Decode rows at position 0, with block tables of full width; they read block 0 and write nothing."""
    empty = torch.zeros(0, dtype=torch.int32, device=device)
    return ForwardInputs(
        token_ids=torch.zeros(num_rows, dtype=torch.int64, device=device),
        positions=torch.zeros(num_rows, dtype=torch.int64, device=device),
        slots=torch.full((num_rows,), -1, dtype=torch.int64, device=device),
        num_decodes=num_rows,
        decode_block_tables=torch.zeros((num_rows, settings.blocks_per_sequence), dtype=torch.int32, device=device),
        decode_context_lens=torch.ones(num_rows, dtype=torch.int32, device=device),
        chunk_query_starts=empty.new_zeros(1),
        chunk_key_starts=empty.new_zeros(1),
        chunk_context_lens=empty,
        chunk_block_tables=empty.view(0, 0),
        max_query=0,
        max_context=0,
    )


def sampling_inputs(num_rows: int, vocab_size: int, device: torch.device, *, has_filter: bool) -> SamplingInputs:
    """Rows that use every part of the sampler."""
    return SamplingInputs(
        temperatures=torch.ones(num_rows, device=device),
        top_ks=torch.full((num_rows,), min(20, vocab_size), dtype=torch.int32, device=device),
        top_ps=torch.full((num_rows,), 0.95, device=device),
        keys=torch.zeros(num_rows, dtype=torch.int64, device=device),
        positions=torch.zeros(num_rows, dtype=torch.int64, device=device),
        has_filter=has_filter,
    )


class WarmUp:
    """Steps at the limits, and at the sizes that kernels are compiled for.

    Args:
        settings: the limits.
        device: of the model.
        forward: the model up to the final hidden states.
        logits: from there to the logits.
    """

    def __init__(
        self,
        settings: BackendSettings,
        device: torch.device,
        forward: Callable[[ForwardInputs], torch.Tensor],
        logits: Callable[[torch.Tensor], torch.Tensor],
    ) -> None:
        self._settings = settings
        self._device = device
        self._forward = forward
        self._logits = logits
        self._sampler = Sampler()

    def largest_step(self) -> None:
        """A prefill of the whole token budget that samples as many rows as a batch may have."""
        self._sample(self._forward(prefill_inputs(self._settings, self._settings.max_num_batched_tokens, self._device)))

    def largest_graphs(self) -> None:
        """Steps of the largest sizes that are captured, with decode rows alone and with chunks."""
        settings, device = self._settings, self._device
        if settings.graph_sizes:
            self._forward(decode_inputs(settings, max(settings.graph_sizes), device))
        if settings.graph_sizes and settings.mixed_graph_sizes:
            inputs = prefill_inputs(settings, max(settings.mixed_graph_sizes), device)
            self._forward(replace(inputs, logits_rows=None))

    def special_sizes(self) -> None:
        """Small steps of each kind that compiles kernels of its own."""
        for size in _SPECIAL_SIZES:
            self._sample(self._forward(decode_inputs(self._settings, size, self._device)))
            self._forward(prefill_inputs(self._settings, min(size + 16, self._settings.max_model_len), self._device))

    def _sample(self, hidden: torch.Tensor) -> None:
        logits = self._logits(hidden)
        for has_filter in (False, True):
            rows = sampling_inputs(logits.shape[0], logits.shape[1], self._device, has_filter=has_filter)
            self._sampler(logits, rows)
