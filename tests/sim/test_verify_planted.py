"""`python -m sim verify` must catch what has been planted, name the step, and show both sides."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.run import Run, load
from tests.sim.command import Done, command, row, write_rows
from tests.sim.recorded_runs import change, change_json

Rows = list[dict[str, Any]]
QUANTUM_S = 2.0**-30


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three requests that share a prefix; a small pool preempts one, one is too long, and the last comes late."""
    folder = tmp_path_factory.mktemp("recorded")
    rows = [
        row(0, 40, 30, hash_ids=[1, 2]),
        row(0, 40, 30, hash_ids=[1, 3]),
        row(1, 40, 30, hash_ids=[1, 4]),
        row(2, 200, 1),
        row(5000, 20, 4),
    ]
    trace = write_rows(folder / "trace.jsonl", *rows)
    flags = ("--num-blocks", 9, "--trace-block-size", 32, "--max-model-len", 150)
    done = command("replay", trace, *flags, "--output", folder / "run")
    assert done.code == 0, done.err
    return folder / "run"


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Run:
    return load(shutil.copytree(recorded, tmp_path / "run"))


def _verify(run: Run) -> Done:
    done = command("verify", run.path)
    assert (done.code, done.err) == (1, "")
    return done


def _first(rows: Rows, kind: str) -> dict[str, Any]:
    return next(event for event in rows if event["kind"] == kind)


def test_run_as_it_is_is_identical(run: Run) -> None:
    assert run.summary is not None
    assert (run.summary["num_preemptions"], run.summary["prefix_hit_tokens"]) == (1, 64)
    assert (
        command("verify", run.path).out == f"identical: {len(run.table('steps'))} steps, 1 preemptions, 64 hit tokens\n"
    )


def test_block_id_is_named_with_both_sides(run: Run) -> None:
    before = _first(run.table("events").to_pylist(), "blocks")
    assert (before["step"], before["request_id"], before["block_ids"]) == (0, "r0", [0, 1, 2])

    def alter(rows: Rows) -> None:
        _first(rows, "blocks")["block_ids"] = [0, 1, 8]

    change(run, "events", alter)
    lines = _verify(run).out.splitlines()

    assert lines[0] == "different: first in step 0"
    number = next(
        index for index, event in enumerate(load(run.path).table("events").to_pylist()) if event["kind"] == "blocks"
    )
    assert lines[1] == (
        f"  event {number} is 'r0 gets blocks 0, 1, 8' in the run and 'r0 gets blocks 0, 1, 2' in the simulator"
    )
    middle = lines.index("  the simulator:")
    assert lines[2] == "  the run:"
    assert "    r0 gets blocks 0, 1, 8" in lines[:middle]
    assert "    r0 gets blocks 0, 1, 2" in lines[middle:]
    assert sum("prompt chunks of" in line for line in lines) == 2


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [
        (
            "admitted",
            {"num_tokens": 16},
            "'r0 is admitted, 16 tokens hit' in the run and 'r0 is admitted, 0 tokens hit'",
        ),
        ("chunk", {"num_tokens": 39}, "'r0 computes 39 prompt tokens' in the run and 'r0 computes 40 prompt tokens'"),
        ("finished", {"reason": "stop"}, "is finished: stop' in the run and "),
        ("resumed", {"num_tokens": 0}, "is resumed, 0 tokens hit' in the run and "),
        ("preempted", {"request_id": "r0"}, "'r0 is preempted' in the run and 'r2 is preempted' in the simulator"),
    ],
)
def test_event_that_was_altered_is_named(kind: str, changes: dict[str, Any], sentence: str, run: Run) -> None:
    step = _first(run.table("events").to_pylist(), kind)["step"]
    change(run, "events", lambda rows: _first(rows, kind).update(changes))

    out = _verify(run).out
    assert out.startswith(f"different: first in step {step}\n")
    assert sentence in out


def test_event_that_one_side_alone_has_is_named(run: Run) -> None:
    events = run.table("events").to_pylist()
    last = events[-1]
    change(run, "events", lambda rows: rows.pop())

    out = _verify(run).out
    assert out.startswith(f"different: first in step {last['step']}\n")
    assert "is in the simulator alone: r4 is finished: length\n" in out

    change(run, "events", lambda rows: rows.append(last | {"request_id": "r9"}))
    assert "is 'r9 is finished: length' in the run and 'r4 is finished: length' in the simulator" in _verify(run).out


def test_event_behind_the_last_step_is_found(run: Run) -> None:
    change(run, "events", lambda rows: rows.append(rows[-1] | {"step": 10_000}))

    num_steps = len(run.table("steps"))
    assert _verify(run).out.startswith(
        f"different: first in step {num_steps}\n  event 0 is in the run alone: r4 is finished: length\n"
    )


@pytest.mark.parametrize(
    ("name", "alter", "offset"),
    [
        ("duration_s", lambda value: value + QUANTUM_S, 0),
        ("device_s", lambda value: value - QUANTUM_S, 0),
        ("host_s", lambda value: value + QUANTUM_S, 0),
        ("start_s", lambda value: value + QUANTUM_S, 0),
        ("graph_size", lambda _: 64, 0),
        ("prefill_qk", lambda value: value + 1, 0),
        ("decode_context", lambda value: value + 1, 0),
        ("num_new_blocks", lambda value: value + 1, 0),
        ("num_released", lambda value: value + 1, 0),
        ("num_waiting", lambda value: value + 1, 0),
        ("num_running", lambda value: value + 1, 0),
        ("num_used_blocks", lambda value: value - 1, 0),
    ],
)
def test_column_of_a_step_is_named(name: str, alter: Callable[[Any], Any], offset: int, run: Run) -> None:
    before = run.table("steps").to_pylist()[7][name]

    def change_row(rows: Rows) -> None:
        rows[7][name] = alter(before)

    change(run, "steps", change_row)
    out = _verify(run).out

    # A duration is taken over as it is; what gives it away is the start of the step behind it, or its own other part.
    assert out.startswith(("different: first in step 7\n", "different: first in step 8\n"))
    if name not in ("duration_s", "device_s"):
        assert f"  {name} is {alter(before)!r} in the run and {before!r} in the simulator\n" in out


def test_duration_of_which_all_parts_fit_is_found_by_the_start_of_the_next_step(run: Run) -> None:
    def alter(rows: Rows) -> None:
        rows[7]["duration_s"] += QUANTUM_S
        rows[7]["host_s"] += QUANTUM_S

    start_s = run.table("steps").to_pylist()[8]["start_s"]
    change(run, "steps", alter)

    out = _verify(run).out
    assert out.startswith("different: first in step 8\n")
    assert f"  start_s is {start_s!r} in the run and {start_s + QUANTUM_S!r} in the simulator\n" in out


def test_duration_of_the_last_step_is_found_by_the_end_of_its_request(run: Run) -> None:
    def alter(rows: Rows) -> None:
        rows[-1]["duration_s"] += QUANTUM_S
        rows[-1]["host_s"] += QUANTUM_S

    change(run, "steps", alter)

    out = _verify(run).out
    assert out.startswith("different: first in request r4\n")
    assert "  last_token_s is " in out
    assert "  finish_s is " in out


def test_step_that_is_missing_at_the_end_is_named(run: Run) -> None:
    num_steps = len(run.table("steps"))
    change(run, "steps", lambda rows: rows.pop())

    lines = _verify(run).out.splitlines()
    assert lines[:2] == [
        f"different: first in step {num_steps - 1}",
        "  the run had ended, and the simulator goes on",
    ]
    assert "    had ended" in lines


def test_step_that_the_simulator_does_not_make_is_named(run: Run) -> None:
    steps = run.table("steps").to_pylist()
    num_steps = len(steps)
    end_s = steps[-1]["start_s"] + steps[-1]["duration_s"]
    change(run, "steps", lambda rows: rows.append(rows[-1] | {"step": num_steps, "start_s": end_s}))

    lines = _verify(run).out.splitlines()
    assert lines[:2] == [
        f"different: first in step {num_steps}",
        "  the simulator had ended, and the run goes on",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("arrival_s", 1.0),
        ("submit_s", 1.0),
        ("first_scheduled_s", 1.0),
        ("first_token_s", 1.0),
        ("finish_s", 1.0),
        ("hit_tokens", 7),
        ("reprefill_tokens", 7),
        ("num_preemptions", 7),
        ("preempted_s", 1.0),
        ("output_tokens", 7),
        ("requested_output_tokens", 7),
        ("priority", 7),
        ("session_id", "s"),
        ("status", "failed"),
        ("reason", "stop"),
    ],
)
def test_column_of_a_request_is_named(name: str, value: object, run: Run) -> None:
    before = run.table("requests").to_pylist()[1][name]
    shown = "missing" if before is None else repr(before) if isinstance(before, float) else str(before)
    change(run, "requests", lambda rows: rows[1].update({name: value}))

    assert (
        _verify(run).out
        == f"different: first in request r1\n  {name} is {value} in the run and {shown} in the simulator\n"
    )


def test_tokens_that_came_in_other_steps_name_the_step(run: Run) -> None:
    """Two that decode side by side with equal contexts leave equal steps, whichever of them was left out of one."""
    first = run.table("requests").to_pylist()[0]
    (start,), (count,) = first["emission_first_steps"], first["emission_counts"]

    def alter(rows: Rows) -> None:
        rows[0]["emission_first_steps"] = [start, start + 11]
        rows[0]["emission_counts"] = [10, count - 10]

    change(run, "requests", alter)

    out = _verify(run).out
    assert out.startswith(f"different: first in step {start + 10}, by the tokens of r0\n")
    assert f"  emission_counts is [10, {count - 10}] in the run and [{count}] in the simulator\n" in out


def test_request_without_a_row_is_named(run: Run) -> None:
    change(run, "requests", lambda rows: rows.pop(2))

    out = _verify(run).out
    assert out.startswith("different: first in request r2\n  the run has no row of it\n")


def test_request_with_two_rows_is_named(run: Run) -> None:
    change(run, "requests", lambda rows: rows.append(rows[1] | {"finish_s": 1.0}))
    assert _verify(run).out.startswith("different: first in request r1\n  the run has two rows of index 1\n")

    change(run, "requests", lambda rows: rows.__setitem__(-1, rows[1]))
    assert _verify(run).out.startswith("different: first in request r1\n  the run has two rows of index 1\n")


def test_run_without_its_digest_says_what_was_not_compared(run: Run) -> None:
    (run.path / "summary.json").unlink()

    done = command("verify", run.path)
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "  note: it has no decision_digest in a summary.json: in what order the rows of a step stood was not compared"
    ]


def test_order_of_rows_is_in_the_digest_alone(run: Run) -> None:
    change_json(run.path / "summary.json", decision_digest="0" * 32)

    out = _verify(run).out
    assert out.startswith("different: first in the decision digest\n")
    assert "though all tables are equal" in out


def test_setting_that_was_not_the_runs_is_found(run: Run) -> None:
    change_json(run.path / "meta.json", num_kv_blocks=12)

    assert _verify(run).out.startswith("different: first in step ")


def test_all_of_several_runs_are_looked_at_and_the_worst_decides(run: Run, recorded: Path, tmp_path: Path) -> None:
    change_json(run.path / "summary.json", decision_digest="0" * 32)

    done = command("verify", run.path, recorded)
    assert done.code == 1
    assert done.out.startswith(f"{run.path}: different: ")
    assert f"\n{recorded}: identical: " in done.out

    done = command("verify", run.path, tmp_path / "nowhere", recorded)
    assert done.code == 2
    assert done.err == f"error: {tmp_path / 'nowhere'} does not exist; name the directory of a run.\n"
    assert f"\n{recorded}: identical: " in done.out
