"""Which attention runs, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata

import torch

from backends.qwen3.attention import AttentionKernels, PagedAttention
from backends.qwen3.attention_flash2 import Flash2Kernels
from backends.qwen3.attention_flash4 import Flash4Kernels
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.errors import ModelError

NAMES = ("flash2", "flash4", "torch")
_FLASH2_BLOCK = 256  # flash-attn 2.x takes pages of multiples of this


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionSupport:
    """What a machine offers.

    Attributes:
        device_name: for messages.
        capability: CUDA compute capability; None = no CUDA device.
        flash2_problem: why flash-attn 2.x cannot be imported, with the remedy; None = it can.
        flash4_problem: likewise of flash-attn-4.
    """

    device_name: str
    capability: tuple[int, int] | None
    flash2_problem: str | None
    flash4_problem: str | None


@dataclass(frozen=True, slots=True)
class AttentionChoice:
    """The attention that runs.

    Attributes:
        attention: the kernels.
        reason: one sentence that says what was chosen and why.
    """

    attention: PagedAttention
    reason: str


def probe(device: torch.device) -> AttentionSupport:
    """Look at the device and import the libraries."""
    if device.type != "cuda":
        problem = "flash-attn needs a CUDA device"
        return AttentionSupport(
            device_name=str(device), capability=None, flash2_problem=problem, flash4_problem=problem
        )
    return AttentionSupport(
        device_name=torch.cuda.get_device_name(device),
        capability=torch.cuda.get_device_capability(device),
        flash2_problem=_import_problem("flash-attn", "flash_attn"),
        flash4_problem=_import_problem("flash-attn-4", "flash_attn.cute"),
    )


def load_kernels(name: str) -> AttentionKernels:
    """Kernels by name, one of `NAMES`; the libraries are imported only here."""
    if name == "flash2":
        module = import_module("flash_attn")
        return Flash2Kernels(module.flash_attn_varlen_func, module.flash_attn_with_kvcache)
    if name == "flash4":
        return Flash4Kernels(import_module("flash_attn.cute").flash_attn_varlen_func)
    return TorchKernels()


def choose_attention(
    *,
    device: torch.device,
    dtype: torch.dtype,
    block_size: int,
    head_dim: int,
    override: str | None = None,
    probe: Callable[[torch.device], AttentionSupport] = probe,
    load: Callable[[str], AttentionKernels] = load_kernels,
) -> AttentionChoice:
    """Choose by block size, hardware and what can be imported.

    Args:
        device: where the model runs.
        dtype: of activations and cache.
        block_size: tokens in a KV block.
        head_dim: size of a head.
        override: one of `NAMES`, or two joined by "+": the first for decode rows, the second for chunks.
        probe: finds out what the machine offers.
        load: turns a name into kernels.

    Raises:
        ModelError: the override is unknown or cannot work here.
    """
    support = probe(device)
    problems = {name: _problem(name, support, dtype, block_size, head_dim) for name in NAMES}
    if override is not None:
        return _overridden(override, problems, load)
    name = next(name for name in NAMES if problems[name] is None)
    skipped = "".join(f"; not {other}: {problem}" for other, problem in _before(name, problems))
    reason = f"Attention {name} on {support.device_name}, block size {block_size}, {dtype}{skipped}."
    return AttentionChoice(PagedAttention(load(name)), reason)


def _overridden(
    override: str, problems: dict[str, str | None], load: Callable[[str], AttentionKernels]
) -> AttentionChoice:
    names = override.split("+")
    for name in names:
        if name not in NAMES or len(names) > 2:
            raise ModelError(
                f"attention {override!r} is unknown; use one of {', '.join(NAMES)}, or two joined by '+', the first "
                f"for decode rows and the second for chunks."
            )
        if problems[name] is not None:
            raise ModelError(f"Attention {name} cannot run here: {problems[name]}.")
    return AttentionChoice(PagedAttention(*map(load, names)), f"Attention {override}, as asked for.")


def _before(name: str, problems: dict[str, str | None]) -> list[tuple[str, str]]:
    """Names that were preferred, with what kept them out."""
    return [
        (other, problem) for other, problem in problems.items() if problem and NAMES.index(other) < NAMES.index(name)
    ]


def _problem(name: str, support: AttentionSupport, dtype: torch.dtype, block_size: int, head_dim: int) -> str | None:
    """Why `name` cannot run, with the remedy; None = it can."""
    if name == "torch":
        return None
    if support.capability is None:
        return f"it needs an NVIDIA GPU and the device is {support.device_name}; use attention torch"
    if dtype not in (torch.bfloat16, torch.float16):
        return f"it computes in bfloat16 or float16, not {dtype}; use such a dtype or attention torch"
    if head_dim % 8 or head_dim > 256:
        return f"it takes head sizes that are multiples of 8 up to 256, not {head_dim}; use attention torch"
    check = _flash2_problem if name == "flash2" else _flash4_problem
    return check(support, block_size)


def _flash2_problem(support: AttentionSupport, block_size: int) -> str | None:
    assert support.capability is not None
    if support.capability < (8, 0):
        return f"it needs compute capability 8.0 and {_named(support)}; use attention torch"
    if block_size % _FLASH2_BLOCK:
        return (
            f"it takes block sizes that are multiples of {_FLASH2_BLOCK}, not {block_size}; use block size "
            f"{_FLASH2_BLOCK} or attention flash4"
        )
    return support.flash2_problem


def _flash4_problem(support: AttentionSupport, block_size: int) -> str | None:
    assert support.capability is not None
    if support.capability[0] not in (9, 10, 11):  # paged KV is missing for the others
        return (
            f"it reads paged KV only on compute capability 9.x to 11.x and {_named(support)}; use block size "
            f"{_FLASH2_BLOCK} with attention flash2, or attention torch"
        )
    return support.flash4_problem


def _named(support: AttentionSupport) -> str:
    assert support.capability is not None
    return f"{support.device_name} has {support.capability[0]}.{support.capability[1]}"


def _import_problem(distribution: str, module: str) -> str | None:
    """Why `module` of `distribution` cannot be used.

    The distribution is asked for by name, because flash-attn 2.x brings an old `flash_attn.cute` along.
    """
    remedy = f"install {distribution}, built for this Python, torch and CUDA"
    try:
        metadata.version(distribution)
        import_module(module)
    except metadata.PackageNotFoundError:
        return f"the package {distribution} is not installed; {remedy}"
    except Exception as error:  # a broken native library may raise anything while it is imported
        first_line = (str(error).splitlines() or [""])[0]
        return f"{module} cannot be imported ({type(error).__name__}: {first_line}); {remedy}"
    return None
