from pathlib import Path
from typing import Any

import pytest

from analysis.errors import RunError
from analysis.run import Run, load
from analysis.timeline import DrawnRun, write_timeline
from analysis.timeline_window import TimelineWindow
from analysis.vllm_import import import_vllm
from tests.analysis.timeline_events import Event, read_events, slices_of
from tests.analysis.vllm_files import write_result
from tests.run_builder import RunBuilder, small_run


def drawn(path: Path, *runs: Run, **window: Any) -> list[Event]:
    write_timeline(runs, path / "t.json", TimelineWindow(**window))
    return read_events(path / "t.json")


def named(events: list[Event], what: str) -> dict[tuple[int, int | None], Any]:
    found = [e for e in events if e["ph"] == "M" and e["name"] == what]
    return {(e["pid"], e.get("tid")): next(iter(e["args"].values())) for e in found}


def spans(events: list[Event], pid: int, category: str, tid: int | None = None) -> list[tuple[str, float, float]]:
    """Name, start and duration in seconds."""
    found = (e for e in slices_of(events, pid, category) if tid is None or e["tid"] == tid)
    return [(e["name"], e["ts"] / 1e6, e["dur"] / 1e6) for e in found]


def test_requests_have_a_track_each_in_trace_order(tmp_path: Path) -> None:
    events = drawn(tmp_path, small_run(tmp_path / "run").build())
    assert named(events, "thread_name") == {(1, 1): "steps", (1, 2): "a", (1, 3): "b", (1, 4): "c"}
    assert named(events, "thread_sort_index") == {(1, tid): tid for tid in (1, 2, 3, 4)}
    assert spans(events, 1, "request") == [("a", 0.0, 4.0), ("b", 0.5, 5.5), ("c", 1.0, 0.0)]
    assert spans(events, 1, "phase", 3) == [
        ("queue", 0.5, 0.5),
        ("prefill", 1.0, 1.0),
        ("preempted", 2.0, 2.0),
        ("decode", 4.0, 2.0),
    ]


def test_a_request_says_what_is_known_of_it(tmp_path: Path) -> None:
    events = drawn(tmp_path, small_run(tmp_path / "run").build())
    _, b, c = (e["args"] for e in slices_of(events, 1, "request"))
    assert (b["hit_tokens"], b["num_preemptions"], b["status"], b["reason"]) == (4, 1, "finished", "length")
    assert (b["ttft_s"], b["tpot_s"], b["queue_s"], b["preempted_s"]) == (1.5, 2.0, 0.5, 2.0)
    assert (c["status"], c["reason"]) == ("refused", "prompt of 500 tokens is too long")
    assert "ttft_s" not in c
    chunks = {e["name"]: e["args"].get("chunks") for e in slices_of(events, 1, "phase") if e["tid"] == 3}
    assert chunks == {
        "queue": None,
        "prefill": [{"step": 1, "num_tokens": 6, "end_us": 2e6}],
        "preempted": None,
        "decode": [{"step": 3, "num_tokens": 11, "end_us": 5e6}],
    }


def test_steps_are_named_by_their_shape(tmp_path: Path) -> None:
    events = drawn(tmp_path, small_run(tmp_path / "run").build())
    steps = [e for e in events if e["ph"] == "X" and e["tid"] == 1]
    assert [(e["name"], e["cat"]) for e in steps] == [
        ("prefill 10", "prefill"),
        ("mixed 1+10", "mixed"),
        ("decode 1", "decode"),
        ("prefill 11", "prefill"),
        ("decode 1", "decode"),
    ]
    assert [e["dur"] for e in steps] == [1e6, 1e6, 2e6, 1e6, 1e6]
    assert [e["args"]["graph"] for e in steps] == ["eager", "eager", 1, "eager", 1]
    mixed = steps[1]["args"]
    assert (mixed["step"], mixed["num_tokens"], mixed["device_us"], mixed["host_us"]) == (1, 11, 7.5e5, 2.5e5)


def test_counters_hold_what_steps_hold(tmp_path: Path) -> None:
    events = drawn(tmp_path, small_run(tmp_path / "run").build())
    levels = {
        name: [(e["ts"] / 1e6, *e["args"].values()) for e in events if e["ph"] == "C" and e["name"] == name]
        for name in ("Requests", "KV cache")
    }
    # One that ended in its step ran in it: two in the mixed step, none after the last.
    assert levels["Requests"] == [(0, 1, 1), (1, 2, 0), (2, 1, 1), (4, 1, 0), (6, 0, 0)]
    assert levels["KV cache"] == [(0, 10.0), (1, 20.0), (2, 15.0), (4, 12.0), (6, 0.0)]


def test_levels_fall_to_nothing_where_nobody_runs(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    builder.step(decode=1, used=5)
    builder.step(decode=1, used=5, start_s=1.0)
    builder.step(decode=1, used=7, start_s=9.0)
    events = drawn(tmp_path, builder.build())
    assert [(e["ts"] / 1e6, e["args"]["used %"]) for e in events if e["name"] == "KV cache"] == [
        (0, 5.0),
        (2, 0.0),
        (9, 7.0),
        (10, 0.0),
    ]


def test_an_empty_step(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    builder.step(duration_s=0.0)
    (step,) = drawn(tmp_path, builder.build())[5:6]
    assert (step["name"], step["cat"], step["dur"]) == ("empty", "empty", 0.0)
    assert "graph" not in step["args"]


def test_two_runs_stand_side_by_side_on_one_clock(tmp_path: Path) -> None:
    one, other = small_run(tmp_path / "gpu").build(), small_run(tmp_path / "sim").build()
    events = drawn(tmp_path, one, other)
    assert named(events, "process_name") == {(1, None): "gpu", (2, None): "sim"}
    assert spans(events, 1, "request") == spans(events, 2, "request")
    same_name = small_run(tmp_path / "more" / "sim").build()
    assert named(drawn(tmp_path, other, same_name), "process_name") == {
        (1, None): str(other.path),
        (2, None): str(same_name.path),
    }


def test_window_leaves_out_whole_things_and_says_so(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run").build()
    events = drawn(tmp_path, run, start_s=4.5, first_request=1)
    assert spans(events, 1, "request") == [("b", 0.5, 5.5)]
    assert [name for name, _, _ in spans(events, 1, "phase")] == ["queue", "prefill", "preempted", "decode"]
    assert [e["args"]["step"] for e in events if e["ph"] == "X" and e["tid"] == 1] == [3, 4]
    assert "1 of 3 requests, 2 of 5 steps" in named(events, "process_labels")[1, None]


def test_nothing_in_the_window_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run").build()
    with pytest.raises(RunError, match="Nothing lies in the window: run: 0 of 3 requests, 0 of 5 steps"):
        drawn(tmp_path, run, start_s=99.0)
    assert not (tmp_path / "t.json").exists()


def test_killed_run_shows_what_it_has(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    del builder.requests[0]
    run = builder.build(complete=False)
    events = drawn(tmp_path, run, last_request=1)
    assert named(events, "thread_name") == {(1, 1): "steps", (1, 3): "b"}
    assert "partial run" in named(events, "process_labels")[1, None]


def test_requests_that_never_came_have_no_track(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    builder.request("d", arrival_s=None, status="unfinished")
    (found,) = write_timeline([builder.build()], tmp_path / "t.json", TimelineWindow())
    assert found == DrawnRun("run", 3, 3, 5, 5)
    assert found.text == "3 of 3 requests, 5 of 5 steps"


def test_record_of_a_client_has_neither_steps_nor_queue(tmp_path: Path) -> None:
    import_vllm(write_result(tmp_path / "result.json"), tmp_path / "run")
    events = drawn(tmp_path, load(tmp_path / "run"))
    assert [e for e in events if e["ph"] == "C"] == []
    assert 1 not in {e.get("tid") for e in events}
    assert spans(events, 1, "phase", 2) == [("until first token", 0.0, 0.5), ("decode", 0.5, 0.75)]
    assert "Recorded by a client" in named(events, "process_labels")[1, None]


def test_run_without_arrivals_is_refused(tmp_path: Path) -> None:
    import_vllm(write_result(tmp_path / "result.json", "start_times"), tmp_path / "run")
    with pytest.raises(RunError, match="no arrival times: its requests stand on no common clock"):
        drawn(tmp_path, load(tmp_path / "run"))
