"""The process of a rank above 0: does what rank 0 says, until it says stop or ends."""

import argparse
import os
import sys
import threading
import traceback
from pathlib import Path

import torch
import torch.distributed as dist

from backends.qwen3.errors import ModelError
from backends.qwen3.ranks import Ranks, join, leave, report_failure, report_ready
from backends.qwen3.runner_setup import build_runner


def serve(ranks: Ranks) -> None:
    """Take the settings, build this rank's runner, and follow its commands until there is None."""
    assert ranks.control is not None
    runner = build_runner(ranks.control.receive(), ranks)
    while (command := ranks.control.receive()) is not None:
        runner.step(command)


def run_rank(store: dist.Store, rank: int, size: int, device: torch.device) -> int:
    """A rank's whole life; returns its exit code.

    An error is left for rank 0, which says it; one that no user can have caused is also printed, with its trace.
    """
    try:
        report_ready(store, rank)
        serve(join(store, rank, size, device))
    except Exception as error:  # whatever it was: rank 0 must know
        if not isinstance(error, ModelError):
            traceback.print_exc()
        report_failure(store, rank, error)
        return 1
    leave(is_broken=False)
    return 0


def end_with_parent() -> None:
    """End this process as soon as the other end of its standard input closes: when its parent ends, however it does."""
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Entry point of a started worker."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--device", required=True)
    args = parser.parse_args()
    threading.Thread(target=end_with_parent, daemon=True).start()
    code = run_rank(dist.FileStore(str(args.store), args.size), args.rank, args.size, torch.device(args.device))
    sys.stderr.flush()
    # Not sys.exit: no library's tear-down may keep this process, and the memory that it holds, alive.
    os._exit(code)


if __name__ == "__main__":
    main()
