"""What requests and sizes must be so that anything can be served."""

from engine.block_manager import BlockManager
from engine.errors import RequestError, SettingError
from engine.limits import Limits
from engine.request import Request


def check_request(request: Request, limits: Limits, blocks: BlockManager) -> None:
    """Check the length of its prompt.

    Raises:
        RequestError: it can never be served.
    """
    name, num_tokens = request.request_id, request.prompt.num_tokens
    num_needed, num_blocks = blocks.blocks_for(num_tokens), blocks.num_blocks
    if num_tokens < 1:
        raise RequestError(f"The prompt of {name!r} is empty; give it at least one token.")
    if num_tokens >= limits.max_model_len:
        raise RequestError(
            f"The prompt of {name!r} has {num_tokens} tokens; it must be shorter than max_model_len, "
            f"{limits.max_model_len}."
        )
    if num_needed > num_blocks:
        raise RequestError(
            f"The prompt of {name!r} has {num_tokens} tokens, which need {num_needed} blocks of "
            f"{limits.block_size}; the pool has {num_blocks} (num_blocks)."
        )


def check_sizes(limits: Limits, num_blocks: int, chunked_prefill: bool) -> None:
    """Check what holds for every request.

    Raises:
        SettingError: the sizes cannot work together.
    """
    if num_blocks < 1:
        raise SettingError(f"num_blocks is {num_blocks}; the pool must have at least 1 block.")
    if not chunked_prefill and limits.max_num_batched_tokens < limits.max_model_len:
        raise SettingError(
            f"Chunked prefill is off and max_num_batched_tokens is {limits.max_num_batched_tokens}, below "
            f"max_model_len {limits.max_model_len}: a long prompt could never run. Raise max_num_batched_tokens to "
            f"{limits.max_model_len}, lower max_model_len to {limits.max_num_batched_tokens}, or allow chunks."
        )
