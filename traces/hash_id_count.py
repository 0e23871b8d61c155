"""How many content ids a prompt has: one for a partial last block (ceil), or none (floor)."""

from collections.abc import Iterable, Sequence
from typing import Literal

from traces.errors import TraceError
from traces.trace_request import TraceRequest

HashIdCount = Literal["ceil", "floor"]
Interval = tuple[int, int | None]  # lowest and highest block size, None without a highest


def hash_id_count(requests: Sequence[TraceRequest], block_size: int, where: str) -> HashIdCount | None:
    """Return the rule by which all requests count their ids.

    Args:
        requests: in the order of the file; those without ids do not matter.
        block_size: prompt tokens that one id stands for.
        where: file or trace that the error names.

    Returns:
        The rule; "ceil" where each prompt is a multiple of the block size, so that both hold; None if no request has
        ids.

    Raises:
        TraceError: a count fits neither rule, or two requests count by different rules.
    """
    rule: HashIdCount | None = None
    rule_line = 0
    for index, request in enumerate(requests):
        counted = counted_by(request, block_size)
        if counted is None:
            misfit = _misfit(requests[: index + 1], block_size)
            raise TraceError(f"{where} line {request.line}: {misfit}", request.line)
        if counted == "any":
            continue
        if rule is None:
            rule, rule_line = counted, request.line
        elif rule != counted:
            mixed = f"hash_ids are counted by {counted} here, but by {rule} in line {rule_line}"
            remedy = _remedy(requests[: index + 1])
            raise TraceError(f"{where} line {request.line}: {mixed}. {remedy}", request.line)
    return rule or ("ceil" if any(request.hash_ids for request in requests) else None)


def counted_by(request: TraceRequest, block_size: int) -> HashIdCount | Literal["any"] | None:
    """Return the rule by which one request counts its ids: any if both hold or it has none, None if neither does."""
    if request.hash_ids is None:
        return "any"
    num_full, rest = divmod(request.input_length, block_size)
    surplus = len(request.hash_ids) - num_full
    if rest == 0:
        return "any" if surplus == 0 else None
    if surplus == 1:
        return "ceil"
    return "floor" if surplus == 0 else None


def _misfit(requests: Sequence[TraceRequest], block_size: int) -> str:
    request = requests[-1]
    num_full, rest = divmod(request.input_length, block_size)
    expected = f"{num_full + 1} (ceil) or {num_full} (floor)" if rest else f"{num_full}"
    num_ids = len(request.hash_ids or ())
    return (
        f"hash_ids has {num_ids} ids, but {request.input_length} tokens in blocks of {block_size} make {expected}. "
        f"{_remedy(requests)}"
    )


def _remedy(requests: Sequence[TraceRequest]) -> str:
    so_far = _fitting_sizes(requests)
    if so_far:
        return f"Block sizes that fit every row up to this one: {so_far}; give it as the trace block size."
    alone = _fitting_sizes(requests[-1:]) or "none"
    return f"No block size fits every row up to this one; this row alone fits: {alone}."


def _fitting_sizes(requests: Sequence[TraceRequest]) -> str:
    counts = [(request.input_length, len(request.hash_ids)) for request in requests if request.hash_ids is not None]
    by_ceil = _intersection(_sizes_by_ceil(*count) for count in counts)
    by_floor = _intersection(_sizes_by_floor(*count) for count in counts)
    named = [(by_ceil, "ceil"), (by_floor, "floor")]
    return " or ".join(f"{_show(interval)} ({rule})" for interval, rule in named if interval is not None)


def _sizes_by_ceil(num_tokens: int, num_ids: int) -> Interval | None:
    """Sizes b with (num_ids - 1) * b < num_tokens <= num_ids * b."""
    if num_ids == 0:
        return None
    lowest = -(-num_tokens // num_ids)
    return lowest, ((num_tokens - 1) // (num_ids - 1) if num_ids > 1 else None)


def _sizes_by_floor(num_tokens: int, num_ids: int) -> Interval | None:
    """Sizes b with num_ids * b <= num_tokens < (num_ids + 1) * b."""
    return num_tokens // (num_ids + 1) + 1, (num_tokens // num_ids if num_ids else None)


def _intersection(intervals: Iterable[Interval | None]) -> Interval | None:
    lowest, highest = 1, None
    for interval in intervals:
        if interval is None:
            return None
        lowest = max(lowest, interval[0])
        highest = min((size for size in (highest, interval[1]) if size is not None), default=None)
    return (lowest, highest) if highest is None or lowest <= highest else None


def _show(interval: Interval) -> str:
    lowest, highest = interval
    if highest is None:
        return f"{lowest} or more"
    return f"{lowest}" if lowest == highest else f"{lowest} to {highest}"
