"""Step times from data sheets: each operation takes its FLOPs or its bytes, whichever is slower, plus fixed times."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from operator import add
from typing import Generic, NamedTuple

from backends.cost_model import Sizes, StepColumns, StepTimes, Value, is_absent, is_present, larger, with_constants
from backends.simulated.device_work import OPERATIONS, DeviceWork, Launches
from backends.simulated.gpu_sheet import GpuSheet
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import ModelSheet
from backends.simulated.term import Limit, Term
from engine.step_shape import StepShape

_DEVICE_LATENCIES = ("kernel gaps", "all-reduce latency")
_HOST_WORK = (
    "launches not hidden",
    "graph launch",
    "host: step",
    "host: rows",
    "host: prompt tokens",
    "host: admissions",
    "host: blocks",
    "host: releases",
)
_PREFILL_ATTENTION = OPERATIONS.index("prefill attention")
_DECODE_ATTENTION = OPERATIONS.index("decode attention")
# Replays come back to the same few thousand sizes of a step again and again.
_MAX_SIZES_KEPT = 16_384


class _SteadyTimes(NamedTuple, Generic[Value]):
    """Sums of times, in seconds, that depend on how many rows and tokens a step has, not on contexts or requests.

    Attributes:
        device_s: of all `OPERATIONS` but attention, and of `_DEVICE_LATENCIES`.
        eager_launches_s: to launch all kernels from the host; 0 for a captured graph.
        host_s: of `_HOST_WORK` from the graph launch to the prompt tokens.
    """

    device_s: Value
    eager_launches_s: Value
    host_s: Value


class RooflineModel:
    """Cost model of any model on any GPU, from their sheets alone: uncalibrated, nothing is fitted to the pair's runs.

    A step lasts as long as its device work and what the host does while the device waits. An eager step launches its
    kernels while the device runs them, so only the part of the launches that exceeds the device time counts. No
    prediction is faster than the peak rates allow, since the rates used are fractions of them.

    Args:
        model: dimensions of the model.
        gpu: rates and overheads of each GPU.
        tp: tensor-parallel degree.

    Raises:
        SettingError: the model cannot be split over so many GPUs.
    """

    def __init__(self, model: ModelSheet, gpu: GpuSheet, tp: int = 1) -> None:
        self._work = DeviceWork(ModelShard(model, tp))
        self._rates = tuple(_rates(operation, gpu) for operation in OPERATIONS)
        self._prefill_rates, self._decode_rates = self._rates[_PREFILL_ATTENTION], self._rates[_DECODE_ATTENTION]
        self._overheads = gpu.overheads
        self._host = gpu.host
        self._steady_times_of_one = lru_cache(_MAX_SIZES_KEPT)(self._count_steady_times_of_one)

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        """Times of the given steps, row by row."""
        steps = with_constants(steps)
        steady, host = self._steady_times(steps), self._host
        device_s = steady.device_s + self._decode_time(steps)
        if not is_absent(steps.num_prefill_seqs):
            device_s = device_s + self._prefill_time(steps)
        host_s = larger(steady.eager_launches_s - device_s, 0.0) + steady.host_s
        host_s = host_s + steps.num_admitted * host.admission_s + steps.num_new_blocks * host.block_s
        return StepTimes(device_s + (host_s + steps.num_released * host.release_s), device_s)

    def explain(self, shape: StepShape, graph_size: int | None = None) -> tuple[Term, ...]:
        """The parts of one step's time.

        They add up to `duration_s` of `step_times`, those that are not limited by the host to `device_s`, but for the
        rounding of sums.

        Args:
            shape: the step.
            graph_size: rows of the graph that it is padded to; None if it runs eager.
        """
        steps = StepColumns.one_row(shape, graph_size)
        launches, times = self._work.launches(steps), self._operation_times(steps)
        latencies = self._latencies(launches)
        device_s = reduce(add, (*times, *latencies))
        host_times = (larger(self._eager_launches(steps, launches) - device_s, 0.0), *self._host_times(steps))
        host_counts = ((1.0 - is_present(steps.graph_size)) * launches.kernels, *_host_counts(steps))
        return (
            *self._operation_terms(steps, times),
            *_fixed_terms(_DEVICE_LATENCIES, (launches.kernels, launches.collectives), latencies, "latency"),
            *_fixed_terms(_HOST_WORK, host_counts, host_times, "host"),
        )

    def _prefill_time(self, steps: StepColumns[Value]) -> Value:
        return _operation_time(self._work.prefill_attention(steps), self._prefill_rates)

    def _decode_time(self, steps: StepColumns[Value]) -> Value:
        return _operation_time(self._work.decode_attention(steps), self._decode_rates)

    def _operation_times(self, steps: StepColumns[Value]) -> tuple[Value, ...]:
        """Of each of `OPERATIONS`."""
        return tuple(map(_operation_time, self._work.amounts(steps), self._rates))

    def _latencies(self, launches: Launches[Value]) -> tuple[Value, Value]:
        return launches.kernels * self._overheads.gap_s, launches.collectives * self._overheads.all_reduce_s

    def _eager_launches(self, steps: StepColumns[Value], launches: Launches[Value]) -> Value:
        overheads = self._overheads
        launches_s = launches.kernels * overheads.launch_s + launches.attention_calls * overheads.attention_launch_s
        return (1.0 - is_present(steps.graph_size)) * launches_s

    def _host_times(self, steps: StepColumns[float]) -> tuple[float, ...]:
        """Of `_HOST_WORK` but the launches."""
        host = self._host
        return (
            *self._steady_host_times(steps),
            steps.num_admitted * host.admission_s,
            steps.num_new_blocks * host.block_s,
            steps.num_released * host.release_s,
        )

    def _steady_host_times(self, steps: StepColumns[Value]) -> tuple[Value, float, Value, Value]:
        host = self._host
        return (
            is_present(steps.graph_size) * self._overheads.graph_launch_s,
            host.step_s,
            (steps.num_prefill_seqs + steps.num_decode_seqs) * host.row_s,
            steps.num_prefill_tokens * host.prefill_token_s,
        )

    def _steady_times(self, steps: StepColumns[Value]) -> _SteadyTimes[Value]:
        if isinstance(steps.graph_size, float):
            sizes = (
                steps.num_prefill_tokens, steps.num_prefill_seqs, steps.num_decode_seqs, steps.num_sampled,
                steps.graph_size,
            )  # fmt: skip
            return self._steady_times_of_one(sizes)
        return self._count_steady_times(steps)

    def _count_steady_times_of_one(self, sizes: Sizes) -> _SteadyTimes[float]:
        return self._count_steady_times(StepColumns.of_sizes(sizes))

    def _count_steady_times(self, steps: StepColumns[Value]) -> _SteadyTimes[Value]:
        launches, times = self._work.launches(steps), self._operation_times(steps)
        steady = times[:_PREFILL_ATTENTION] + times[_DECODE_ATTENTION + 1 :] + self._latencies(launches)
        graph_s, step_s, rows_s, tokens_s = self._steady_host_times(steps)
        return _SteadyTimes(
            reduce(add, steady), self._eager_launches(steps, launches), graph_s + step_s + rows_s + tokens_s
        )

    def _operation_terms(self, steps: StepColumns[float], times: Sequence[float]) -> Iterator[Term]:
        amounts, counts = self._work.amounts(steps), self._work.counts(steps)
        for name, count, (num_bytes, flops), rates, time_s in zip(
            OPERATIONS, counts, amounts, self._rates, times, strict=True
        ):
            memory: Limit = "link" if name == "all-reduce" else "memory"
            limit: Limit = "compute" if flops / rates[1] > num_bytes / rates[0] else memory
            yield Term(name, count, flops, num_bytes, time_s, limit)


def _host_counts(steps: StepColumns[Value]) -> tuple[Value | float, ...]:
    return (
        is_present(steps.graph_size),
        1.0,
        steps.num_prefill_seqs + steps.num_decode_seqs,
        steps.num_prefill_tokens,
        steps.num_admitted,
        steps.num_new_blocks,
        steps.num_released,
    )


def _operation_time(amounts: tuple[Value, Value | float], rates: tuple[float, float]) -> Value:
    return larger(amounts[0] / rates[0], amounts[1] / rates[1])


def _fixed_terms(names: Sequence[str], counts: Sequence[float], times: Sequence[float], limit: Limit) -> Iterator[Term]:
    for name, count, time_s in zip(names, counts, times, strict=True):
        yield Term(name, count, 0.0, 0.0, time_s, limit)


def _rates(operation: str, gpu: GpuSheet) -> tuple[float, float]:
    """Achieved (bytes/s, FLOP/s) of one of `OPERATIONS`."""
    achieved = gpu.achieved
    flops_per_s = gpu.flops_per_s * (achieved.attention if operation == "prefill attention" else achieved.matmul)
    if operation == "all-reduce":
        return gpu.link_bytes_per_s * achieved.link, flops_per_s
    if operation == "decode attention":
        return gpu.memory_bytes_per_s * achieved.kv_read, flops_per_s
    return gpu.memory_bytes_per_s * achieved.memory, flops_per_s
