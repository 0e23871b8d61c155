"""Captured graphs are gone before the ranks part, since NCCL waits for them for ever."""

import weakref

import pytest
import torch

from backends.graph_table import GraphTable
from backends.qwen3 import qwen3_backend
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.decode_graphs import DecodeGraphs
from backends.qwen3.errors import ModelError
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.mixed_graphs import MixedGraphs
from backends.qwen3.qwen3_backend import Qwen3Backend
from backends.qwen3.step_graphs import StepGraphs
from backends.qwen3.table_widths import TableWidths
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


KINDS = pytest.mark.parametrize("kind", ["decode", "mixed"])


def capture_one(backend, watched, kind):
    """Give the backend a graph of one kind, in which decode steps of one row run."""
    graph = Graph()
    watched.append(weakref.ref(graph))
    rows = backend._runner._rows
    widths, device = TableWidths(4, 16, is_split=False), torch.device("cpu")
    buffers = DecodeBuffers(rows, max_rows=1, widths=widths, device=device)
    decode = DecodeGraphs(forward=None, buffers=buffers, hidden=torch.zeros(1, 40), sizes=(), capture=None)
    mixed_buffers = MixedBuffers(rows, max_tokens=16, max_decodes=1, max_rows=1, widths=widths, device=device)
    mixed = MixedGraphs(forward=None, buffers=mixed_buffers, hidden=None, sizes=(), capture=None)
    decode._replays[1, 4] = graph if kind == "decode" else Graph()
    mixed._replays[16, 4] = graph if kind == "mixed" else Graph()
    backend._runner._graphs = StepGraphs(GraphTable((1,), (16,)), rows, decode, mixed)


@KINDS
def test_at_a_close(parted, tmp_path, kind):
    save_tiny(tmp_path)
    backend = open_tiny(tmp_path)
    capture_one(backend, parted[0], kind)
    backend.close()
    assert parted[1] == [False]


@KINDS
def test_when_a_step_fails_and_its_frames_live_on(parted, tmp_path, monkeypatch, kind):
    save_tiny(tmp_path)
    backend = open_tiny(tmp_path)
    capture_one(backend, parted[0], kind)

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
