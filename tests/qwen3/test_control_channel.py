import tempfile
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import torch.distributed as dist

from backends.qwen3.control_channel import ControlChannel


@pytest.fixture
def channels():
    """Both ends of a channel, in two threads' worth of gloo."""
    ends = [None, None]
    with tempfile.TemporaryDirectory() as folder:

        def join(rank):
            store = dist.FileStore(str(Path(folder) / "store"), 2)
            ends[rank] = ControlChannel(dist.ProcessGroupGloo(store, rank, 2, timedelta(seconds=20)))

        threads = [threading.Thread(target=join, args=(rank,)) for rank in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        yield ends


# Around the 16,384 bytes of the first broadcast, and far beyond.
@pytest.mark.parametrize("num_bytes", [0, 1, 16_100, 16_200, 16_300, 16_384, 17_000, 5_000_000])
def test_a_message_of_any_length_arrives_whole(channels, num_bytes):
    sender, receiver = channels
    received = []
    thread = threading.Thread(target=lambda: received.extend([receiver.receive(), receiver.receive()]))
    thread.start()
    value = {"bytes": np.arange(num_bytes).astype(np.uint8).tobytes(), "array": np.arange(7)}
    sender.send(value)
    sender.send(None)
    thread.join()
    assert received[0]["bytes"] == value["bytes"]
    assert received[0]["array"].tolist() == list(range(7))
    assert received[1] is None
