"""Several traces made into one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from traces.errors import TraceError
from traces.hash_id_count import HashIdCount
from traces.request_order import in_order
from traces.trace import Trace
from traces.trace_request import TraceRequest


def merge_traces(traces: Mapping[str, Trace], *, shared_prefixes: bool = False) -> Trace:
    """Return all requests of several traces on one clock, each at the time that it has.

    Args:
        traces: by a name that is put before the ids of their requests and sessions, so that no two are the same.
        shared_prefixes: whether equal hash ids of different traces mean the same content; else ids are given anew, so
            that nothing is shared between them.

    Raises:
        TraceError: their ids stand for blocks of different sizes.
    """
    block_size = _common_block_size(traces)
    rule, notices = _common_rule(traces)
    new_ids: Iterator[int] = iter(range(2**64))
    requests: list[TraceRequest] = []
    for name, trace in traces.items():
        known: dict[int, int] | None = None if shared_prefixes else {}
        for request in trace.requests:
            hash_ids = _without_partial(request, block_size) if rule == "floor" else request.hash_ids
            requests.append(_named(request, name, len(requests) + 1, _renamed(hash_ids, known, new_ids)))
    sources = "; ".join(f"{name}: {trace.num_requests:,} requests of {trace.name}" for name, trace in traces.items())
    shared = "equal hash ids mean the same content" if shared_prefixes else "no prefix is shared between them"
    notice = f"Merged, {shared}: {sources}."
    return Trace(
        name=" + ".join(traces), requests=in_order(requests), block_size=block_size, notices=(notice, *notices)
    )


def _common_block_size(traces: Mapping[str, Trace]) -> int:
    sizes = {trace.block_size: name for name, trace in traces.items() if trace.hash_id_count is not None}
    if len(sizes) > 1:
        (size, name), (other_size, other_name), *_ = sizes.items()
        raise TraceError(
            f"hash ids stand for {size} tokens in {name} and for {other_size} in {other_name}, but a trace has one "
            "block size; convert one of them without its hash ids (--drop hash_ids) first"
        )
    return next(iter(sizes), next(iter(traces.values())).block_size)


def _common_rule(traces: Mapping[str, Trace]) -> tuple[HashIdCount | None, tuple[str, ...]]:
    """Return how ids are counted in all traces: by floor if one of them does so, as what is not there cannot be."""
    rules = {trace.hash_id_count for trace in traces.values()} - {None}
    if len(rules) < 2:
        return next(iter(rules), None), ()
    return "floor", ("Partial last blocks have no id, as not all of the traces have one for them.",)


def _without_partial(request: TraceRequest, block_size: int) -> tuple[int, ...] | None:
    return None if request.hash_ids is None else request.hash_ids[: request.input_length // block_size]


def _renamed(
    hash_ids: Sequence[int] | None, known: dict[int, int] | None, new_ids: Iterator[int]
) -> tuple[int, ...] | None:
    """Return ids that no other trace has, consecutive as first seen; the same where ids are shared."""
    if hash_ids is None or known is None:
        return None if hash_ids is None else tuple(hash_ids)
    return tuple([known[each] if each in known else known.setdefault(each, next(new_ids)) for each in hash_ids])


def _named(request: TraceRequest, name: str, line: int, hash_ids: tuple[int, ...] | None) -> TraceRequest:
    return replace(
        request,
        request_id=f"{name}/{request.request_id}",
        # Lines order what arrives at one time: as the traces were given.
        line=line,
        session_id=None if request.session_id is None else f"{name}/{request.session_id}",
        hash_ids=hash_ids,
    )
