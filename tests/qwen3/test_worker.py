"""What a worker says when it fails."""

import pytest
import torch
import torch.distributed as dist

from backends.qwen3 import worker
from backends.qwen3.errors import ModelError
from backends.qwen3.ranks import reported_failure


@pytest.mark.parametrize(("error", "is_ours"), [(ModelError("No such size."), False), (KeyError("seat"), True)])
def test_only_an_error_of_our_own_is_printed_with_its_trace(error, is_ours, monkeypatch, capfd):
    def join(*_):
        raise error

    monkeypatch.setattr(worker, "join", join)
    store = dist.HashStore()

    assert worker.run_rank(store, 1, 2, torch.device("cpu")) == 1
    assert reported_failure(store, 2) == f"Rank 1 failed: {type(error).__name__}: {error}"
    assert ("Traceback" in capfd.readouterr().err) == is_ours
