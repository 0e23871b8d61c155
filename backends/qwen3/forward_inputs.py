"""Everything one forward pass reads besides weights and cache."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardInputs:
    """Token rows of one step on the model's device: first `num_decodes` decode tokens, then the tokens of C chunks.

    N counts tokens, D = `num_decodes`, C chunks, S rows whose logits are wanted. A chunk is a run of tokens of one
    sequence; its last token attends to `context` tokens, itself and everything before it, whether computed in this
    step or earlier (so a key length is the end of the chunk, never the length of the whole prompt).

    Padding, needed by captured graphs only, is made of decode rows: token id 0, position 0, slot -1 (nothing is
    written), context length 0 (nothing is read, attention yields zeros), block table entries any valid block id. Table
    entries past a row's context may be any valid block id too; they are never used.

    A captured step with chunks does not know D when it is captured. There the decode kernel gets the first D rows all
    the same, D being as many as there may be; those that are no decode rows in truth have context length 0, and what
    the chunk kernel gives for them counts (`is_split_on_device`):

        rows 0 .. N     | decode rows | chunk tokens           | padding |
        decode kernel   | 5 7 9 3 ... | 0 0 0 0 |                          context lengths, D of them
        chunk kernel                  | starts count from row 0 of N |

    Attributes:
        token_ids: int64 [N].
        positions: int64 [N], from 0.
        slots: int64 [N], block id x block size + offset in the block; negative = do not store.
        num_decodes: D, rows of one query token handled by the decode kernel.
        decode_block_tables: int32 [D, W].
        decode_context_lens: int32 [D].
        chunk_query_starts: int32 [C + 1], cumulated query tokens from 0, within the chunk tokens (0 = row D of N).
        chunk_key_starts: int32 [C + 1], cumulated context lengths from 0.
        chunk_context_lens: int32 [C].
        chunk_block_tables: int32 [C, W'].
        max_query: most query tokens of one chunk; 0 without chunks.
        max_context: largest context of one chunk; 0 without chunks.
        logits_rows: int64 [S], rows of N in the order in which logits are wanted; None = all N rows, in order.
        is_split_on_device: whether context lengths alone tell decode rows from others; chunk starts count from row 0.
    """

    token_ids: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor
    num_decodes: int
    decode_block_tables: torch.Tensor
    decode_context_lens: torch.Tensor
    chunk_query_starts: torch.Tensor
    chunk_key_starts: torch.Tensor
    chunk_context_lens: torch.Tensor
    chunk_block_tables: torch.Tensor
    max_query: int
    max_context: int
    logits_rows: torch.Tensor | None = None
    is_split_on_device: bool = False

    @property
    def num_tokens(self) -> int:
        """N, padding included."""
        return self.token_ids.shape[0]

    @property
    def num_chunks(self) -> int:
        """C, read from a shape, never from the device."""
        return self.chunk_context_lens.shape[0]
