"""Choice of attention on machines that only the tests know."""

import sys
import types

import pytest
import torch

from backends.qwen3 import attention_choice
from backends.qwen3.attention_choice import AttentionSupport, choose_attention, load_kernels, probe
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.errors import ModelError

CUDA = torch.device("cuda")
NOT_THERE = "the package flash-attn is not installed; install it"
MACHINES = {
    "h200": AttentionSupport(device_name="H200", capability=(9, 0), flash2_problem=None, flash4_problem=None),
    "h200_flash2_only": AttentionSupport(
        device_name="H200", capability=(9, 0), flash2_problem=None, flash4_problem="the package flash-attn-4 is missing"
    ),
    "h200_bare": AttentionSupport(
        device_name="H200", capability=(9, 0), flash2_problem=NOT_THERE, flash4_problem=NOT_THERE
    ),
    "a100": AttentionSupport(device_name="A100", capability=(8, 0), flash2_problem=None, flash4_problem=None),
    "t4": AttentionSupport(device_name="T4", capability=(7, 5), flash2_problem=None, flash4_problem=None),
    "cpu": AttentionSupport(
        device_name="cpu", capability=None, flash2_problem="no CUDA device", flash4_problem="no CUDA device"
    ),
}


class Named(TorchKernels):
    """Stands for a library that this machine has not."""

    def __init__(self, name):
        self.name = name


def choose(machine, block_size, *, dtype=torch.bfloat16, head_dim=128, override=None):
    return choose_attention(
        device=CUDA,
        dtype=dtype,
        block_size=block_size,
        head_dim=head_dim,
        override=override,
        probe=lambda device: MACHINES[machine],
        load=Named,
    )


@pytest.mark.parametrize(
    ("machine", "block_size", "name"),
    [
        ("h200", 256, "flash2"),
        ("h200", 512, "flash2"),
        ("h200", 16, "flash4"),
        ("h200", 48, "flash4"),
        ("h200_flash2_only", 256, "flash2"),
        ("h200_flash2_only", 16, "torch"),
        ("h200_bare", 256, "torch"),
        ("a100", 256, "flash2"),
        ("a100", 16, "torch"),
        ("t4", 256, "torch"),
        ("cpu", 16, "torch"),
    ],
)
def test_default(machine, block_size, name):
    choice = choose(machine, block_size)
    assert choice.attention.name == name
    assert choice.reason.startswith(f"Attention {name} on {MACHINES[machine].device_name}, block size {block_size}")


def test_reason_says_what_kept_the_others_out():
    reason = choose("h200_flash2_only", 16).reason
    assert "not flash2: it takes block sizes that are multiples of 256, not 16" in reason
    assert "not flash4: the package flash-attn-4 is missing" in reason


@pytest.mark.parametrize("how", [{"dtype": torch.float32}, {"head_dim": 20}, {"head_dim": 264}])
def test_torch_for_what_no_library_computes(how):
    assert choose("h200", 256, **how).attention.name == "torch"


@pytest.mark.parametrize("override", ["torch", "flash4", "flash2+flash4"])
def test_override_that_works(override):
    choice = choose("h200", 256, override=override)
    assert choice.attention.name == override
    assert choice.reason == f"Attention {override}, as asked for."


@pytest.mark.parametrize(
    ("machine", "block_size", "override", "message"),
    [
        ("h200", 16, "flash2", "multiples of 256, not 16; use block size 256 or attention flash4"),
        ("h200", 16, "flash4+flash2", "Attention flash2 cannot run here"),
        ("a100", 16, "flash4", r"on compute capability 9.x to 11.x and A100 has 8.0; use block size 256 with"),
        ("t4", 256, "flash2", "needs compute capability 8.0 and T4 has 7.5; use attention torch"),
        ("h200_bare", 256, "flash2", "flash-attn is not installed; install"),
        ("cpu", 256, "flash2", "needs an NVIDIA GPU and the device is cpu; use attention torch"),
        ("h200", 256, "flash3", "attention 'flash3' is unknown; use one of flash2, flash4, torch"),
        ("h200", 256, "torch+torch+torch", "is unknown"),
    ],
)
def test_override_that_cannot_work(machine, block_size, override, message):
    with pytest.raises(ModelError, match=message):
        choose(machine, block_size, override=override)


def test_override_in_a_dtype_that_cannot_work():
    with pytest.raises(ModelError, match=r"bfloat16 or float16, not torch.float32"):
        choose("h200", 256, dtype=torch.float32, override="flash2")


def test_this_machine_without_cuda():
    support = probe(torch.device("cpu"))
    assert support.capability is None
    choice = choose_attention(device=torch.device("cpu"), dtype=torch.float32, block_size=16, head_dim=16)
    assert choice.attention.name == "torch"


@pytest.fixture
def hopper(monkeypatch):
    """A GPU that torch reports; packages as the test says, flash_attn.cute always importable."""
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "H200")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    installed = {}

    def version(name):
        if name not in installed:
            raise attention_choice.metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(attention_choice.metadata, "version", version)
    package, cute = types.ModuleType("flash_attn"), types.ModuleType("flash_attn.cute")
    package.flash_attn_varlen_func = package.flash_attn_with_kvcache = cute.flash_attn_varlen_func = max
    monkeypatch.setitem(sys.modules, "flash_attn", package)
    monkeypatch.setitem(sys.modules, "flash_attn.cute", cute)
    return installed


def test_old_cute_that_flash_attn_2_brings_is_not_flash4(hopper):
    hopper["flash-attn"] = "2.8.3"
    support = probe(CUDA)
    assert support.flash2_problem is None
    assert support.flash4_problem == (
        "the package flash-attn-4 is not installed; install flash-attn-4, built for this Python, torch and CUDA"
    )


def test_both_packages(hopper):
    hopper.update({"flash-attn": "2.8.3", "flash-attn-4": "4.0.0b36"})
    support = probe(CUDA)
    assert (support.flash2_problem, support.flash4_problem) == (None, None)
    assert [load_kernels(name).name for name in attention_choice.NAMES] == ["flash2", "flash4", "torch"]


def test_package_that_breaks_on_import_is_a_sentence(hopper, monkeypatch):
    hopper["flash-attn"] = "2.8.3"

    def broken(name):
        raise ImportError("flash_attn_2_cuda.so: undefined symbol: _ZN3c10\nmore")

    monkeypatch.setattr(attention_choice, "import_module", broken)
    problem = probe(CUDA).flash2_problem
    assert problem.startswith("flash_attn cannot be imported (ImportError: flash_attn_2_cuda.so: undefined symbol")
    assert "\n" not in problem
