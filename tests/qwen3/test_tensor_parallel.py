"""Two ranks over gloo on the CPU: the same tokens, and nobody left behind however it ends."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import torch

from backends.qwen3 import workers
from backends.qwen3.errors import ModelError
from backends.qwen3.qwen3_backend import Qwen3Backend
from backends.qwen3.ranks import report_failure
from backends.qwen3.worker_group import WorkerGroup, open_group
from backends.qwen3.workers import LaunchedWorkers
from engine import LLM, BackendError, SamplingParams
from tests.qwen3.commands import admission, batch
from tests.qwen3.tiny_model import save_tiny

GREEDY = SamplingParams(temperature=0, max_tokens=8)
PROMPTS = [[5, 6, 7], list(range(40, 75)), [*range(40, 75), 3], list(range(60)), [9] * 17]
OPTIONS = {"device": "cpu", "block_size": 16, "num_blocks": 9, "max_num_seqs": 4}
OPTIONS |= {"max_num_batched_tokens": 48, "max_model_len": 96}
LIMITS = {"block_size": 16, "max_num_seqs": 4, "max_num_batched_tokens": 48, "max_model_len": 96}
ROOT = str(Path(__file__).resolve().parents[2])
ONE_ROW = batch([("a", 0, 3, True)], admitted=[admission("a", [1, 2, 3], [0])])
# torch announces new names of collectives; the old ones are in every version that we support.
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Please use:FutureWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    save_tiny(folder)
    return folder


def open_two(folder):
    return Qwen3Backend.from_folder(folder, tensor_parallel=2, **OPTIONS)[0]


def tokens_of(backend):
    with LLM(backend, **LIMITS) as llm:
        return [output.token_ids for output in llm.generate(PROMPTS, GREEDY)]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def assert_gone(pids, within_s=10.0):
    deadline = time.monotonic() + within_s
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "a worker is left"
        time.sleep(0.05)


LAUNCHED = """
    import sys
    sys.path.insert(0, {root!r})
    from backends.qwen3.qwen3_backend import Qwen3Backend
    from engine import LLM, SamplingParams
    backend, _ = Qwen3Backend.from_folder({folder!r}, tensor_parallel=2, **{options!r})
    with LLM(backend, **{limits!r}) as llm:
        outputs = llm.generate({prompts!r}, SamplingParams(temperature=0, max_tokens=8))
    print([list(output.token_ids) for output in outputs])  # on rank 0 alone: the other ends in from_folder
"""


def launch(folder, tmp_path):
    """The same work by two ranks that torchrun starts."""
    script = tmp_path / "script.py"
    values = {"root": ROOT, "folder": str(folder), "options": OPTIONS, "limits": LIMITS, "prompts": PROMPTS}
    script.write_text(textwrap.dedent(LAUNCHED).format(**values))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_ranks_give_the_tokens_of_one_and_two_engines_live_side_by_side(folder, tmp_path):
    expected = tokens_of(Qwen3Backend.from_folder(folder, **OPTIONS)[0])
    launched = launch(folder, tmp_path)
    backend = open_two(folder)
    pids = backend.worker_pids
    assert len(pids) == 1
    assert tokens_of(backend) == expected
    assert_gone(pids)
    out, err = launched.communicate(timeout=100)
    assert launched.returncode == 0, err
    assert out == f"{[list(tokens) for tokens in expected]}\n"


def test_a_killed_worker_ends_the_engine_with_its_reason(folder):
    backend = open_two(folder)
    backend.execute(ONE_ROW)
    (pid,) = backend.worker_pids
    os.kill(pid, signal.SIGKILL)
    started = time.monotonic()
    reason = "The process of rank 1 was killed by signal 9; the memory of the host may have run out."
    with pytest.raises(BackendError) as error:
        backend.execute(batch([("a", 3, 1, True)]))
    assert str(error.value) == reason
    assert time.monotonic() - started < 5
    with pytest.raises(BackendError, match="killed by signal 9"):
        backend.execute(batch([("a", 3, 1, True)]))
    backend.close()
    backend.close()
    assert not torch.distributed.is_initialized()


def test_a_worker_that_raises_ends_the_engine_with_its_error(folder, capfd):
    backend = open_two(folder)
    pids = backend.worker_pids
    backend._workers.send("no command")  # the worker is now a step ahead, with nonsense
    with pytest.raises(
        BackendError, match=r"^Rank 1 failed: AttributeError: 'str' object has no attribute 'new_tokens'"
    ):
        backend.execute(ONE_ROW)
    assert_gone(pids)
    assert "Traceback" in capfd.readouterr().err


def test_ctrl_c_within_a_step_leaves_no_process(folder, monkeypatch):
    backend = open_two(folder)
    pids = backend.worker_pids

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(backend._runner, "launch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        backend.execute(ONE_ROW)
    assert_gone(pids)
    with pytest.raises(BackendError, match="interrupted within a step"):
        backend.execute(ONE_ROW)
    backend.close()


KILLED = """
    import sys, time
    sys.path.insert(0, {root!r})
    from backends.qwen3.qwen3_backend import Qwen3Backend
    backend, _ = Qwen3Backend.from_folder({folder!r}, tensor_parallel=2, **{options!r})
    print(*backend.worker_pids, flush=True)
    time.sleep(600)
"""


def test_workers_end_when_rank_0_is_killed(folder):
    script = textwrap.dedent(KILLED).format(root=ROOT, folder=str(folder), options=OPTIONS)
    # No __main__ guard, and the script on standard input: workers must not need the caller's main module.
    parent = subprocess.Popen([sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    parent.stdin.write(script)
    parent.stdin.close()
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 1
    assert is_running(pids[0])
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert_gone(pids)


def test_a_worker_that_cannot_start_is_said_at_once(monkeypatch):
    monkeypatch.setattr(workers.sys, "executable", "/bin/false")
    with pytest.raises(ModelError, match="The process of rank 1 ended with exit code 1; see what it printed"):
        open_group(torch.device("cpu"), 2)


def test_a_rank_that_cannot_set_up_ends_all_with_its_reason(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes()[:2000])  # config in full, weights cut
    with pytest.raises(ModelError, match="is cut or no safetensors file"):
        open_two(copy)
    assert not torch.distributed.is_initialized()


def test_a_worker_that_alone_cannot_set_up_ends_all_with_its_reason(folder, monkeypatch, capfd):
    send = WorkerGroup.send
    monkeypatch.setattr(WorkerGroup, "send", lambda group, value: send(group, value and "no settings"))
    reason = "The model could not be started. Rank 1 failed: AttributeError: 'str' object has no attribute 'folder'"
    with pytest.raises(ModelError, match=f"^{reason}"):
        open_two(folder)
    assert not torch.distributed.is_initialized()
    assert "Traceback" in capfd.readouterr().err


def test_too_few_gpus_are_said_with_numbers(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ModelError, match="tensor_parallel 2 from GPU 1 on needs 3 GPUs, torch sees 2"):
        open_group(torch.device("cuda:1"), 2)


def set_launcher(monkeypatch, rank, size, port):
    values = {"RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    for name, value in values.items():
        monkeypatch.setenv(name, str(value))


def test_a_launcher_with_another_number_of_ranks_is_refused(monkeypatch):
    set_launcher(monkeypatch, 0, 4, 1)
    with pytest.raises(ModelError, match="has started 4 ranks but tensor_parallel is 2; set tensor_parallel to 4"):
        open_group(torch.device("cpu"), 2)


def test_a_port_in_use_is_said(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        set_launcher(monkeypatch, 0, 2, port)
        with pytest.raises(ModelError, match=f"cannot meet at 127.0.0.1:{port} .*--master-port"):
            open_group(torch.device("cpu"), 2)


def test_a_launched_rank_that_fails_says_why():
    store = torch.distributed.HashStore()
    launched = LaunchedWorkers(store, 3)
    assert launched.failure() is None
    report_failure(store, 2, ValueError("no weights\nmore lines"))
    assert launched.failure() == "Rank 2 failed: ValueError: no weights"


def test_a_launcher_of_one_rank_is_no_launcher(monkeypatch):
    set_launcher(monkeypatch, 0, 1, 1)
    group = open_group(torch.device("cpu"), 1)
    assert not group.has_workers
    group.close(is_broken=False)
