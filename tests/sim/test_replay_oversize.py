"""Prompts and outputs that the model or the pool cannot hold, in whole replays."""

from pathlib import Path

import pytest

from analysis.run import load
from tests.sim.command import replay, row, write_rows


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = [row(), row(0, 30, 2), row(100, 40, 3)]
    return write_rows(tmp_path / "trace.jsonl", *rows)


def test_prompts_that_do_not_fit_are_counted_failures(trace: Path) -> None:
    summary = replay(trace, "--json", "--num-blocks", 2).summary

    assert (summary["completed"], summary["failed"]) == (2, 1)
    assert list(summary["failed_by_reason"].values()) == [1]
    assert "The prompt of 'r2' has 40 tokens, which need 3 blocks of 16" in next(iter(summary["failed_by_reason"]))


@pytest.mark.parametrize(
    ("flags", "shortest", "longest"),
    [
        ("--num-blocks 1", 20, 16),
        ("--max-model-len 20", 20, 19),
        ("--max-model-len 1 --oversize truncate", 1, 0),
        ("--num-blocks 1 --oversize error", 20, 16),
    ],
)
def test_pool_or_model_in_which_no_request_fits_is_refused(
    flags: str, shortest: int, longest: int, tmp_path: Path
) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", row(), row(0, 30, 2))
    error = replay(trace, *flags.split(), "--output", tmp_path / "run").error

    assert error == (
        f"No request of trace.jsonl can be served: even a prompt of {shortest} tokens is too long, where the model and "
        f"the KV blocks hold prompts of at most {longest}; raise --max-model-len or --num-blocks."
    )
    assert not (tmp_path / "run").exists()


def test_oversize_error_refuses_the_trace(trace: Path, tmp_path: Path) -> None:
    error = replay(trace, "--num-blocks", 2, "--oversize", "error", "--output", tmp_path / "run").error

    assert error.startswith("trace.jsonl line 3: the prompt has 40 tokens and at most 32 can be served")
    assert not (tmp_path / "run").exists()


def test_oversize_truncate_serves_what_fits(trace: Path, tmp_path: Path) -> None:
    done = replay(trace, "--num-blocks", 2, "--oversize", "truncate", "--output", tmp_path / "run")

    assert "1 prompts of more than 32 tokens were cut." in done.notes
    requests = load(tmp_path / "run").table("requests")
    assert requests.column("input_tokens").to_pylist() == [20, 30, 30]
    assert requests.column("status").to_pylist() == ["finished"] * 3


def test_output_longer_than_the_model_ends_at_its_length(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--max-model-len", 31, "--output", tmp_path / "run")
    requests = load(tmp_path / "run").table("requests")

    assert requests.column("status").to_pylist() == ["finished", "finished", "refused"]
    assert requests.column("output_tokens").to_pylist() == [4, 1, 0]
