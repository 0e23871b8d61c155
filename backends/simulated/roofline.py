"""Step times from data sheets: each operation takes its FLOPs or its bytes, whichever is slower, plus fixed times."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

from backends.cost_model import StepColumns, StepTimes, Value, is_present, larger
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
        self._overheads = gpu.overheads
        host = gpu.host
        counted = (host.step_s, host.row_s, host.prefill_token_s, host.admission_s, host.block_s, host.release_s)
        self._host_unit_times = (gpu.overheads.graph_launch_s, *counted)

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        """Times of the given steps, row by row."""
        launches = self._work.launches(steps)
        device_s = reduce(add, self._device_times(steps, launches))
        return StepTimes(reduce(add, self._host_times(steps, launches, device_s), device_s), device_s)

    def explain(self, shape: StepShape, graph_size: int | None = None) -> tuple[Term, ...]:
        """The parts of one step's time.

        Added one after the other, first to last, they give `duration_s` of `step_times` to the last bit; those that
        are not limited by the host give `device_s`.

        Args:
            shape: the step.
            graph_size: rows of the graph that it is padded to; None if it runs eager.
        """
        steps = StepColumns.one_row(shape, graph_size)
        launches = self._work.launches(steps)
        device_times = self._device_times(steps, launches)
        host_times = self._host_times(steps, launches, reduce(add, device_times))
        device_counts = (launches.kernels, launches.collectives)
        host_counts = ((1.0 - is_present(steps.graph_size)) * launches.kernels, *_host_counts(steps))
        return (
            *self._operation_terms(steps, device_times[: len(OPERATIONS)]),
            *_fixed_terms(_DEVICE_LATENCIES, device_counts, device_times[len(OPERATIONS) :], "latency"),
            *_fixed_terms(_HOST_WORK, host_counts, host_times, "host"),
        )

    def _device_times(self, steps: StepColumns[Value], launches: Launches[Value]) -> list[Value]:
        times: list[Value] = []
        for (num_bytes, flops), (bytes_per_s, flops_per_s) in zip(self._work.amounts(steps), self._rates, strict=True):
            times.append(larger(num_bytes / bytes_per_s, flops / flops_per_s))
        times.append(launches.kernels * self._overheads.gap_s)
        times.append(launches.collectives * self._overheads.all_reduce_s)
        return times

    def _host_times(self, steps: StepColumns[Value], launches: Launches[Value], device_s: Value) -> list[Value | float]:
        eager_launches_s = (
            launches.kernels * self._overheads.launch_s + launches.attention_calls * self._overheads.attention_launch_s
        )
        is_eager = 1.0 - is_present(steps.graph_size)
        times: list[Value | float] = [larger(is_eager * eager_launches_s - device_s, 0.0)]
        for count, unit_s in zip(_host_counts(steps), self._host_unit_times, strict=True):
            times.append(count * unit_s)
        return times

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
