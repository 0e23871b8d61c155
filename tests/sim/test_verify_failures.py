"""`python -m sim verify` on runs in which something went wrong, or that were stopped."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.run import Run, load
from analysis.schema import REQUESTS
from engine import Backend
from sim.interrupt import Interrupt
from tests.sim.command import command, row, write_rows
from tests.sim.recorded_runs import FaultyBackend, busy_trace, kill, record

SMALL: dict[str, Any] = {
    "num_blocks": 60,
    "max_num_batched_tokens": 128,
    "max_num_seqs": 12,
    "max_model_len": 600,
    "trace_block_size": 48,
}
PARTIAL = "  note: the run is partial: it was stopped before its end, and what it recorded until then was compared\n"
NAN = "Its logits are not numbers."


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return busy_trace(tmp_path_factory.mktemp("trace") / "trace.jsonl")


def _faulty(
    trace: Path,
    output: Path,
    *,
    failing: Mapping[int, Mapping[int, str]] | None = None,
    broken: Mapping[int, str] | None = None,
    **settings: Any,
) -> Run:
    def wrap(backend: Backend) -> Backend:
        return FaultyBackend(backend, failing=failing, broken=broken)

    return record(trace, output, wrap, **SMALL | settings)


def _verified(run: Run) -> str:
    done = command("verify", run.path)
    assert (done.code, done.err) == (0, ""), done.out
    return done.out


@pytest.mark.parametrize("policy", ["vllm", "nano-vllm"])
def test_rows_that_failed_fail_again(policy: str, trace: Path, tmp_path: Path) -> None:
    run = _faulty(trace, tmp_path / "run", failing={5: {0: NAN}, 41: {0: NAN, 1: NAN}}, policy=policy)
    assert run.table("events").column("reason").to_pylist().count(NAN) > 1

    assert _verified(run).startswith("identical: ")


def test_request_that_hit_blocks_of_a_failed_row_fails_with_it_again(tmp_path: Path) -> None:
    """The second is admitted on blocks that the first fills in the same step, and fails for it, after the third."""
    rows = [row(0, 96, 4, hash_ids=[1, 2]), row(0, 96, 4, hash_ids=[1, 3]), row(0, 40, 4)]
    trace = write_rows(tmp_path / "trace.jsonl", *rows)
    run = _faulty(trace, tmp_path / "run", failing={0: {0: NAN, 2: NAN}}, max_num_batched_tokens=256)
    reasons = [event["reason"] for event in run.table("events").to_pylist() if event["kind"] == "failed"]
    assert reasons == [NAN, NAN, f"It shares blocks with 'r0', which failed: {NAN}"]

    assert _verified(run) == f"identical: {len(run.table('steps'))} steps, 0 preemptions, 48 hit tokens\n"


def test_step_that_the_backend_could_not_compute_fails_again(trace: Path, tmp_path: Path) -> None:
    run = _faulty(trace, tmp_path / "run", broken={7: "The device is gone.", 30: "No memory."})
    durations_s = run.table("steps").column("duration_s").to_pylist()
    assert (durations_s[7], durations_s[30]) == (0.0, 0.0)

    assert _verified(run).startswith("identical: ")


def test_batch_whose_rows_all_failed_after_it_ran_is_no_broken_step(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", row(0, 20, 4), row(1000, 20, 4))
    run = _faulty(trace, tmp_path / "run", failing={2: {0: NAN}})
    steps = run.table("steps").to_pylist()
    assert (steps[2]["duration_s"] != 0, steps[2]["graph_size"]) == (True, 1)

    assert _verified(run).startswith("identical: ")


def _stopped(trace: Path, output: Path, act: Callable[[Interrupt], None]) -> Run:
    """A run in which the user acts within step 10."""
    interrupt = Interrupt()

    def wrap(backend: Backend) -> Backend:
        return FaultyBackend(backend, before=lambda step: act(interrupt) if step == 10 else None)

    return record(trace, output, wrap, interrupt, **SMALL)


def _ask(interrupt: Interrupt) -> None:
    interrupt.is_requested = True


def _insist(_: Interrupt) -> None:
    raise KeyboardInterrupt


def test_run_that_was_stopped_is_compared_as_far_as_it_got(trace: Path, tmp_path: Path) -> None:
    run = _stopped(trace, tmp_path / "run", _ask)
    assert (run.is_complete, len(run.table("steps"))) == (False, 11)
    assert "unfinished" in run.table("requests").column("status").to_pylist()

    out = _verified(run)
    assert out.startswith("identical: 11 steps, ")
    assert out.endswith(PARTIAL)


def test_run_that_was_stopped_within_a_step_has_taken_what_came_before_it(trace: Path, tmp_path: Path) -> None:
    run = _stopped(trace, tmp_path / "run", _insist)
    assert len(run.table("steps")) == 10
    steps, requests = run.table("steps").to_pylist(), run.table("requests").to_pylist()
    end_s = steps[-1]["start_s"] + steps[-1]["duration_s"]
    assert [each for each in requests if each["submit_s"] == end_s], "nothing came just before the step that was lost"

    assert _verified(run).startswith("identical: 10 steps, ")


def _killed(trace: Path, output: Path, *, steps: int, has_last_events: bool = True) -> Run:
    run = _faulty(trace, output)
    last = steps if has_last_events else steps // 2
    events = [each for each in run.table("events").to_pylist() if each["step"] < last]
    ended = [each for each in events if each["kind"] == "finished"]
    # Rows of requests come in the order of their ends, and those of the last flush may be missing.
    requests = run.table("requests").to_pylist()
    by_name = {each["request_id"]: index for index, each in enumerate(requests)}
    rows = [requests[by_name[each["request_id"]]] for each in ended]
    pq.write_table(pa.Table.from_pylist(rows, schema=REQUESTS), run.path / "requests.parquet")
    kill(load(output), steps=steps, events=len(events), requests=len(rows))
    return load(output)


def test_killed_run_is_compared_as_far_as_it_was_written(trace: Path, tmp_path: Path) -> None:
    run = _killed(trace, tmp_path / "run", steps=100)

    out = _verified(run)
    assert out.startswith("identical: 100 steps, ")
    assert PARTIAL in out
    assert "does not hold the lines of its trace file" in out
    assert "killed while it wrote" not in out


def test_run_that_was_killed_between_two_tables_says_what_is_missing(trace: Path, tmp_path: Path) -> None:
    run = _killed(trace, tmp_path / "run", steps=100, has_last_events=False)

    out = _verified(run)
    assert out.startswith("identical: 100 steps, ")
    assert "  note: it was killed while it wrote: of its last steps no events are there to compare\n" in out


def test_run_that_was_stopped_before_its_first_step_is_identical(trace: Path, tmp_path: Path) -> None:
    interrupt = Interrupt()
    interrupt.is_requested = True
    run = record(trace, tmp_path / "run", lambda backend: backend, interrupt, **SMALL)
    assert len(run.table("steps")) == 0

    assert _verified(run) == "identical: 0 steps, 0 preemptions, 0 hit tokens\n" + PARTIAL
