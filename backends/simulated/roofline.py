"""Step times from data sheets: each operation takes its FLOPs or its bytes, whichever is slower, plus fixed times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add
from typing import Generic

from backends.cost_model import StepColumns, StepTimes, Value, is_present, larger
from backends.simulated.device_work import OPERATIONS, DeviceWork
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


@dataclass(frozen=True, slots=True)
class _SteadyTimes(Generic[Value]):
    """Times, in seconds, that depend on how many rows and tokens a step has, but not on contexts or on requests.

    Attributes:
        before_attention: of the first `OPERATIONS`.
        after_attention: of the others, then of `_DEVICE_LATENCIES`.
        eager_launches_s: to launch all kernels from the host; 0 for a captured graph.
        host: of `_HOST_WORK` from the graph launch to the prompt tokens.
    """

    before_attention: tuple[Value, ...]
    after_attention: tuple[Value, ...]
    eager_launches_s: Value
    host: tuple[Value | float, ...]


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
        steady = self._steady_times(steps)
        device_s = reduce(add, self._device_times(steps, steady))
        return StepTimes(reduce(add, self._host_times(steps, steady, device_s), device_s), device_s)

    def explain(self, shape: StepShape, graph_size: int | None = None) -> tuple[Term, ...]:
        """The parts of one step's time.

        Added one after the other, first to last, they give `duration_s` of `step_times` to the last bit; those that
        are not limited by the host give `device_s`.

        Args:
            shape: the step.
            graph_size: rows of the graph that it is padded to; None if it runs eager.
        """
        steps = StepColumns.one_row(shape, graph_size)
        steady, launches = self._steady_times(steps), self._work.launches(steps)
        device_times = self._device_times(steps, steady)
        host_times = self._host_times(steps, steady, reduce(add, device_times))
        device_counts = (launches.kernels, launches.collectives)
        host_counts = ((1.0 - is_present(steps.graph_size)) * launches.kernels, *_host_counts(steps))
        return (
            *self._operation_terms(steps, device_times[: len(OPERATIONS)]),
            *_fixed_terms(_DEVICE_LATENCIES, device_counts, device_times[len(OPERATIONS) :], "latency"),
            *_fixed_terms(_HOST_WORK, host_counts, host_times, "host"),
        )

    def _device_times(self, steps: StepColumns[Value], steady: _SteadyTimes[Value]) -> list[Value]:
        prefill_s = _operation_time(self._work.prefill_attention(steps), self._prefill_rates)
        decode_s = _operation_time(self._work.decode_attention(steps), self._decode_rates)
        times = list(steady.before_attention)
        times += (prefill_s, decode_s)
        times += steady.after_attention
        return times

    def _host_times(
        self, steps: StepColumns[Value], steady: _SteadyTimes[Value], device_s: Value
    ) -> list[Value | float]:
        times: list[Value | float] = [larger(steady.eager_launches_s - device_s, 0.0)]
        times += steady.host
        times.append(steps.num_admitted * self._host.admission_s)
        times.append(steps.num_new_blocks * self._host.block_s)
        times.append(steps.num_released * self._host.release_s)
        return times

    def _steady_times(self, steps: StepColumns[Value]) -> _SteadyTimes[Value]:
        if isinstance(steps.graph_size, float):
            return self._steady_times_of_one(
                steps.num_prefill_tokens,
                steps.num_prefill_seqs,
                steps.num_decode_seqs,
                steps.num_sampled,
                steps.graph_size,
            )
        return self._count_steady_times(steps)

    def _count_steady_times_of_one(
        self,
        num_prefill_tokens: float,
        num_prefill_seqs: float,
        num_decode_seqs: float,
        num_sampled: float,
        graph_size: float,
    ) -> _SteadyTimes[float]:
        steps = StepColumns(*[0.0] * len(StepColumns._fields))._replace(
            num_prefill_tokens=num_prefill_tokens,
            num_prefill_seqs=num_prefill_seqs,
            num_decode_seqs=num_decode_seqs,
            num_sampled=num_sampled,
            graph_size=graph_size,
        )
        return self._count_steady_times(steps)

    def _count_steady_times(self, steps: StepColumns[Value]) -> _SteadyTimes[Value]:
        launches, overheads = self._work.launches(steps), self._overheads
        times = tuple(map(_operation_time, self._work.amounts(steps), self._rates))
        latencies = (launches.kernels * overheads.gap_s, launches.collectives * overheads.all_reduce_s)
        launches_s = launches.kernels * overheads.launch_s + launches.attention_calls * overheads.attention_launch_s
        has_graph = is_present(steps.graph_size)
        return _SteadyTimes(
            before_attention=times[:_PREFILL_ATTENTION],
            after_attention=times[_DECODE_ATTENTION + 1 :] + latencies,
            eager_launches_s=(1.0 - has_graph) * launches_s,
            host=(
                has_graph * overheads.graph_launch_s,
                self._host.step_s,
                (steps.num_prefill_seqs + steps.num_decode_seqs) * self._host.row_s,
                steps.num_prefill_tokens * self._host.prefill_token_s,
            ),
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
