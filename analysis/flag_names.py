"""Names of settings in sentences for a person at the command line."""

import re

# Names of one word are left alone: as words they mean other things too.
_NAMES = re.compile(
    r"(?<![-\w])(max_num_seqs|max_num_batched_tokens|max_model_len|num_blocks|block_size|memory_utilization"
    r"|long_prefill_token_threshold|scheduling_policy|vllm_version)\b"
)


def with_flags(text: str) -> str:
    """Writes the names of settings in `text` as the flags that set them: max_num_seqs as --max-num-seqs."""
    return _NAMES.sub(lambda found: "--" + found[0].replace("_", "-"), text)
