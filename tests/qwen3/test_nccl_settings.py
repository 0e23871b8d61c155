"""What the environment says while a rank joins."""

import os

import pytest
import torch
import torch.distributed as dist

from backends.qwen3 import ranks
from backends.qwen3.errors import ModelError

NAME = "TORCH_NCCL_ASYNC_ERROR_HANDLING"


@pytest.mark.parametrize(("own", "seen"), [(None, "0"), ("3", "3")])
def test_the_watchdog_is_told_to_end_no_process_unless_the_user_wants_it(monkeypatch, own, seen):
    values = []

    def init(*_, **__):
        values.append(os.environ.get(NAME))
        raise RuntimeError("no ranks here")

    monkeypatch.delenv(NAME, raising=False)
    if own is not None:
        monkeypatch.setenv(NAME, own)
    monkeypatch.setattr(dist, "init_process_group", init)
    with pytest.raises(ModelError, match="could not join"):
        ranks.join(dist.HashStore(), 1, 2, torch.device("cpu"))
    assert values == [seen]
    assert os.environ.get(NAME) == own
