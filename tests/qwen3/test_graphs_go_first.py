"""Captured graphs are gone before the ranks part, since NCCL waits for them for ever."""

import weakref

import pytest
import torch

from backends.qwen3 import qwen3_backend
from backends.qwen3.cuda_graphs import DecodeGraphs
from backends.qwen3.errors import ModelError
from backends.qwen3.qwen3_backend import Qwen3Backend
from backends.qwen3.worker_group import WorkerGroup
from engine import BackendError
from tests.qwen3.commands import admission, batch
from tests.qwen3.tiny_model import save_tiny


class Graph:
    def __call__(self):
        pass


@pytest.fixture
def parted(monkeypatch):
    """For each time that ranks part, whether the graph that was watched still lived."""
    watched, lived = [], []
    close = WorkerGroup.close

    def note(self, *, is_broken):
        lived.append(watched[0]() is not None)
        close(self, is_broken=is_broken)

    monkeypatch.setattr(WorkerGroup, "close", note)
    return watched, lived


def open_tiny(folder):
    return Qwen3Backend.from_folder(folder, device="cpu", block_size=16, num_blocks=8, max_model_len=64)[0]


def capture_one(backend, watched):
    graph = Graph()
    watched.append(weakref.ref(graph))
    graphs = DecodeGraphs(forward=None, buffers=None, hidden=None, sizes=(), capture=None)
    graphs._replays[1] = graph
    backend._runner._graphs = graphs


def test_at_a_close(parted, tmp_path):
    save_tiny(tmp_path)
    backend = open_tiny(tmp_path)
    capture_one(backend, parted[0])
    backend.close()
    assert parted[1] == [False]


def test_when_a_step_fails_and_its_frames_live_on(parted, tmp_path, monkeypatch):
    save_tiny(tmp_path)
    backend = open_tiny(tmp_path)
    capture_one(backend, parted[0])

    def wait():
        raise BackendError("A rank has died.")

    monkeypatch.setattr(backend._runner._timer, "wait", wait)
    monkeypatch.setattr(WorkerGroup, "has_workers", True)
    monkeypatch.setattr(WorkerGroup, "explain", lambda self, error: str(error))
    with pytest.raises(BackendError, match="A rank has died"):
        backend.execute(batch([("a", 0, 1, True)], admitted=[admission("a", [1], [0])]))
    assert parted[1] == [False]


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("full"), KeyboardInterrupt(), ModelError("no")])
def test_when_a_start_fails(parted, tmp_path, monkeypatch, error):
    save_tiny(tmp_path)

    def capture():
        graph = Graph()
        parted[0].append(weakref.ref(graph))
        raise error

    def build(*_):
        try:
            capture()
        except torch.OutOfMemoryError:
            raise ModelError("The CUDA graphs do not fit.") from None

    monkeypatch.setattr(qwen3_backend, "build_runner", build)
    with pytest.raises((ModelError, KeyboardInterrupt)):
        open_tiny(tmp_path)
    assert parted[1] == [False]
