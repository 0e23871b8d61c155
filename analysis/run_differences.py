"""What makes two runs hard to compare."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.run import Run

_OF_BACKEND = ("cost", "gpu", "device", "load_format", "dtype", "attention", "cuda_graphs", "free_run")
"""Settings that one kind of backend alone has."""
_OF_DEVICE = ("torch", "triton", "flash-attn", "flash-attn-4")
"""Software that a simulation has no use for, installed or not."""
_OF_TRACE = (
    *("trace_format", "trace_block_size", "start_s", "end_s", "limit", "rate_scale", "oversize", "tokenizer"),
    "columns",
    *("time_unit", "delay_rule", "api_time_scale", "max_delay_s", "request_rate"),
)
"""Settings that have done their work when the trace as run is made."""
_OF_REPORT = ("slo", "warmup_s")
"""Settings that decide nothing in a run."""
_SAME_SPEED = 0.03
"""Hosts that differ by less are as quick as each other; so much two runs on one host may differ."""


def run_differences(a: Run, b: Run) -> Iterator[str]:
    """Yields a sentence for each: partial runs, traces, KV blocks, graphs, seeds, hardware, versions, settings.

    What must differ between a real run and a simulation of it, such as the settings of their backends, is left out; so
    is how the trace was cut if both replayed the same one.
    """
    for run in (a, b):
        if not run.is_complete:
            yield f"{run.path} is partial: it was stopped before its end."
        if run.observation.text:
            yield f"{run.path}: {run.observation.text}"
    if not have_one_trace(a, b):
        digests = [run.meta["trace"].get("digest") for run in (a, b)]
        yield f"The traces differ: digest {digests[0]} and {digests[1]}; requests are not compared one by one."
    if not (a.observation.by_client or b.observation.by_client):
        yield from _of_engines(a, b)


def _of_engines(a: Run, b: Run) -> Iterator[str]:
    for key, name in (
        ("num_kv_blocks", "KV blocks differ"),
        ("graph_sizes", "Graph sizes differ"),
        ("mixed_graph_sizes", "Graph sizes of steps with prompts differ"),
        ("seed", "Seeds differ"),
    ):
        yield from _difference(name, a.meta.get(key), b.meta.get(key))
    yield from _hardware(a.meta.get("hardware"), b.meta.get("hardware"))
    yield from _host_speeds(a, b)
    yield from _versions(a, b)
    yield from _settings(a, b)


def have_one_trace(a: Run, b: Run) -> bool:
    """Whether both replayed the same requests at the same times; a run that does not say is taken to have."""
    digests = {run.meta["trace"].get("digest") for run in (a, b)} - {None}
    return len(digests) < 2


def _difference(name: str, a: object, b: object) -> Iterator[str]:
    if a != b:
        yield f"{name}: {a} and {b}."


def _hardware(a: object, b: object) -> Iterator[str]:
    """A modelled GPU is named otherwise than a real one; only machines of one kind are compared in full."""
    if not (isinstance(a, dict) and isinstance(b, dict)) or a.get("kind") == b.get("kind"):
        yield from _difference("Hardware differs", a, b)
    else:
        yield from _difference("Numbers of GPUs differ", a.get("num_gpus"), b.get("num_gpus"))


def _host_speeds(a: Run, b: Run) -> Iterator[str]:
    """Of real hosts, and of those that were simulated."""
    first, second = _probe_us(a), _probe_us(b)
    if first is None or second is None or abs(first / second - 1) <= _SAME_SPEED:
        return
    told = ""
    if not _have_one_backend(a, b):
        real = first if a.meta["settings"].get("backend") == "gpu" else second
        told = f"; --host-probe-us {real:.4g} simulates the real one"
    yield f"Hosts were not equally quick: a probe took {first:.1f} and {second:.1f} us, and steps wait for them{told}."


def _probe_us(run: Run) -> float | None:
    summary: Mapping[str, Any] = run.summary or {}
    model = summary.get("cost_model")
    found = model.get("host_probe_us") if isinstance(model, dict) else summary.get("host_probe_us")
    return float(found) if isinstance(found, int | float) and found > 0 else None


def _versions(a: Run, b: Run) -> Iterator[str]:
    """Of software that both runs had."""
    versions_a, versions_b = a.meta.get("versions"), b.meta.get("versions")
    if not (isinstance(versions_a, dict) and isinstance(versions_b, dict)):
        yield from _difference("Versions differ", versions_a, versions_b)
        return
    names = [name for name in versions_a if name in versions_b and (_have_one_backend(a, b) or name not in _OF_DEVICE)]
    pairs = [(name, versions_a[name], versions_b[name]) for name in names]
    yield from _listed("Versions", pairs)


def _settings(a: Run, b: Run) -> Iterator[str]:
    settings_a, settings_b = a.meta["settings"], b.meta["settings"]
    names = [name for name in dict.fromkeys([*settings_a, *settings_b]) if name not in _ignored(a, b)]
    yield from _listed("Settings", [(name, settings_a.get(name), settings_b.get(name)) for name in names])


def _have_one_backend(a: Run, b: Run) -> bool:
    return bool(a.meta["settings"].get("backend") == b.meta["settings"].get("backend"))


def _listed(what: str, pairs: Sequence[tuple[str, object, object]]) -> Iterator[str]:
    different = [f"{name} {first} and {second}" for name, first, second in pairs if first != second]
    if different:
        yield f"{what} differ: {', '.join(different)}."


def _ignored(a: Run, b: Run) -> set[str]:
    """`num_blocks` is what was asked for; what there was is compared as KV blocks. Sizes of graphs likewise."""
    ignored = {*_OF_REPORT, "num_blocks", "graph_sizes", "mixed_graph_sizes"}
    if not _have_one_backend(a, b):
        ignored |= {*_OF_BACKEND, "backend", "memory_utilization"}
    if have_one_trace(a, b) and a.meta["trace"].get("digest") is not None:
        ignored |= set(_OF_TRACE)
    return ignored
