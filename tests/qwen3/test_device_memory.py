import pytest
import torch

from backends.qwen3 import device_memory
from backends.qwen3.device_memory import DeviceMemory
from backends.qwen3.errors import ModelError

GIB = 2**30


def memory(free, total=140 * GIB):
    return DeviceMemory(torch.device("cuda:1"), lambda: None, lambda _: (free, total))


def test_what_others_use_is_what_was_taken_before_but_for_our_own_context():
    assert memory(139.5 * GIB).others == 0
    assert memory(39.4 * GIB).others / GIB == pytest.approx(100, abs=0.01)


def test_a_gpu_on_which_nothing_runs_has_no_others():
    assert memory(140 * GIB).others == 0


def test_too_little_memory_is_one_sentence_with_numbers_and_remedy():
    with pytest.raises(ModelError) as error, memory(39.4 * GIB).explain("The model", "use more ranks"):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate ...")
    assert str(error.value) == (
        "The model does not fit into GPU 1: of 140.0 GiB, other processes use about 100.0 GiB, and 39.4 GiB are left; "
        "use more ranks, or end the other processes."
    )


def test_other_errors_pass():
    with pytest.raises(KeyError), memory(GIB).explain("The model", "use more ranks"):
        raise KeyError


def test_the_peak_is_what_the_allocator_took_on_top(monkeypatch):
    reserved = {"now": 10, "peak": 99}
    monkeypatch.setattr(device_memory.torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(device_memory.torch.cuda, "memory_reserved", lambda _: reserved["now"])
    monkeypatch.setattr(device_memory.torch.cuda, "max_memory_reserved", lambda _: reserved["peak"])
    monkeypatch.setattr(device_memory.torch.cuda, "reset_peak_memory_stats", lambda _: reserved.update(peak=10))
    assert memory(GIB).peak_of(lambda: reserved.update(now=15, peak=45)) == 35
