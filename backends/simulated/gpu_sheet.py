"""What a GPU and its host can do."""

from dataclasses import dataclass, fields
from pathlib import Path

from backends.errors import SheetError
from backends.simulated.sheet_file import load_sheet, sheet_names


@dataclass(frozen=True, slots=True, kw_only=True)
class AchievedFractions:
    """Fractions of a peak rate that good kernels reach, each above 0 and at most 1.

    Attributes:
        matmul: of the compute peak, by large matrix products.
        attention: of the compute peak, by prefill attention.
        memory: of the memory bandwidth, by streaming kernels (weights, norms, activations).
        kv_read: of the memory bandwidth, by decode attention on a paged KV cache.
        link: of the link bandwidth, by an all-reduce.

    Raises:
        SheetError: a fraction is above 1.
    """

    matmul: float
    attention: float
    memory: float
    kv_read: float
    link: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) > 1:
                raise SheetError(f"{field.name} is {getattr(self, field.name)}; a fraction is at most 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOverheads:
    """Times that do not depend on how much a kernel computes, in seconds.

    Attributes:
        gap_s: on the device, for each kernel: start, ramp-up, drain and the wait for the one before.
        launch_s: on the host, to launch one kernel of an eager step.
        attention_launch_s: on the host, for each attention call of an eager step, on top of `launch_s`.
        graph_launch_s: on the host, to launch a captured graph.
        all_reduce_s: on the device, for each all-reduce, whatever its size.
    """

    gap_s: float
    launch_s: float
    attention_launch_s: float
    graph_launch_s: float
    all_reduce_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimes:
    """Time that the host works on a step while the device waits, in seconds.

    Attributes:
        step_s: for each step.
        row_s: for each row of the batch.
        prefill_token_s: for each prompt token.
        admission_s: for each request that gets its blocks (hashing, block table).
        block_s: for each block handed out.
        release_s: for each request that leaves.
    """

    step_s: float
    row_s: float
    prefill_token_s: float
    admission_s: float
    block_s: float
    release_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSheet:
    """One GPU with its share of link and host.

    Attributes:
        name: how people call it.
        memory_bytes: device memory that a process sees.
        reserved_bytes: memory that neither weights, activations nor KV cache can use (context, workspaces, graphs).
        flops_per_s: peak dense bf16 rate with float32 accumulation, FLOP/s.
        memory_bytes_per_s: peak memory bandwidth.
        link_bytes_per_s: peak bandwidth to the other GPUs of the host, one direction.
        achieved: fractions of these peaks that are reached.
        overheads: fixed times of kernels.
        host: time of the host.
    """

    name: str
    memory_bytes: int
    reserved_bytes: int
    flops_per_s: float
    memory_bytes_per_s: float
    link_bytes_per_s: float
    achieved: AchievedFractions
    overheads: KernelOverheads
    host: HostTimes


def load_gpu_sheet(name_or_path: str | Path) -> GpuSheet:
    """The sheet of a known GPU (in any case), or of a sheet file (NAME.toml).

    Raises:
        SheetError: unknown name, unreadable file, or a key or value that cannot be.
    """
    return load_sheet(GpuSheet, "GPU", name_or_path)


def gpu_sheet_of(hardware_name: str) -> GpuSheet | None:
    """The sheet of what calls itself by this name, such as "NVIDIA H200"; None if there is none."""
    fitting = [name for name in sheet_names("GPU") if is_sheet_of(name, hardware_name)]
    return load_gpu_sheet(max(fitting, key=len)) if fitting else None


def is_sheet_of(sheet_name: str, hardware_name: str) -> bool:
    """Whether a sheet can be the one of what calls itself so, such as H200 of "NVIDIA H200"."""
    return _words(sheet_name) <= _words(hardware_name)


def _words(name: str) -> set[str]:
    return set(name.lower().replace("-", " ").split())
