"""What a replay has chosen where nothing was asked for, and why."""

from collections.abc import Iterator, Sequence

from sim.parts import Parts
from sim.replay_settings import POLICY_SETTINGS, ReplaySettings
from traces import Trace

_MAX_SIZES = 4


def choices(asked: ReplaySettings, parts: Parts, trace: Trace) -> Iterator[str]:
    """Yields sentences for a user who wants to know.

    Args:
        asked: settings before defaults were filled in.
        parts: what became of them.
        trace: what is replayed.
    """
    yield _trace(trace)
    yield from engine_choices(asked, parts)
    yield f"Pace {parts.settings.pace}{_by_default(asked.pace)}; seed {parts.settings.seed}."


def engine_choices(asked: ReplaySettings, parts: Parts) -> Iterator[str]:
    """Yields those of the engine alone; arguments as of `choices`."""
    yield _engine(parts)
    yield _blocks(asked, parts)
    yield _step_times(asked, parts)
    yield _graphs(parts)
    yield _policy(parts)


def _by_default(asked: object) -> str:
    return ", by default" if asked is None else ", as asked"


def _trace(trace: Trace) -> str:
    sessions = f"{trace.num_sessions} sessions" if trace.num_sessions else "no sessions"
    return f"Trace {trace.name}: {trace.num_requests} requests, {sessions}, digest {trace.digest}."


def _engine(parts: Parts) -> str:
    hardware, limits = parts.engine.hardware, parts.limits
    where = ", ".join(f"{name} {value}" for name, value in hardware.items())
    return (
        f"Engine: {where}; at most {limits.max_num_seqs} sequences and {limits.max_num_batched_tokens} tokens a step, "
        f"sequences up to {limits.max_model_len} tokens."
    )


def _blocks(asked: ReplaySettings, parts: Parts) -> str:
    num_blocks, size = parts.engine.backend.num_blocks, parts.limits.block_size
    why = (
        f"what {asked.memory_utilization:g} of the GPU's memory holds beside the weights and the work of a step"
        if asked.num_blocks is None
        else "as asked"
    )
    return f"KV cache: {num_blocks} blocks, {why}; {size} tokens in each{_by_default(asked.block_size)}."


def _step_times(asked: ReplaySettings, parts: Parts) -> str:
    cost = parts.engine.cost
    if cost is None:
        return "Step times: measured."
    why = {
        (True, "roofline"): ", as no calibration of this package is of this model, GPU, degree and block size",
        (True, "fitted"): ", as this package has a calibration of this model, GPU, degree and block size",
    }.get((asked.cost is None, cost.kind), ", as asked")
    return f"Step times: {cost.kind}, {cost.text}{why}."


def _graphs(parts: Parts) -> str:
    decode, mixed = parts.engine.graph_sizes, parts.engine.mixed_graph_sizes
    kinds = [f"{_sizes(decode)} decodes"] * bool(decode) + [f"{_sizes(mixed)} tokens with prompts"] * bool(mixed)
    return f"CUDA graphs: {', and '.join(kinds)}; larger steps run eager." if kinds else "CUDA graphs: none."


def _sizes(sizes: Sequence[int]) -> str:
    """All sizes, or the first few and the last."""
    if len(sizes) <= _MAX_SIZES:
        return ", ".join(map(str, sizes))
    return f"{', '.join(map(str, sizes[: _MAX_SIZES - 1]))}, ... {sizes[-1]} ({len(sizes)} sizes)"


def _policy(parts: Parts) -> str:
    values = {name: getattr(parts.settings, name) for name in POLICY_SETTINGS}
    known = [f"{name} {value}" for name, value in values.items() if value is not None]
    return f"Policy {parts.settings.policy}" + (f": {', '.join(known)}." if known else ".")
