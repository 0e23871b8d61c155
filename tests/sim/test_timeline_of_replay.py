"""A timeline of a crowded replay: what stands in it equals the run's frames."""

from collections import defaultdict

import pytest

from analysis.run import Run, load
from analysis.timeline import write_timeline
from analysis.timeline_window import TimelineWindow
from tests.analysis.timeline_events import Event, read_events, slices_of, span_ns
from tests.sim.command import replay
from tests.sim.recorded_runs import busy_trace

NS = 1.5e-9  # two stamps, each rounded to a nanosecond


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("crowded")
    pool = ("--num-blocks", 40, "--max-num-batched-tokens", 64, "--trace-block-size", 48)
    assert replay(busy_trace(folder / "busy.jsonl"), *pool, "-o", folder / "run").code == 0
    return load(folder / "run")


@pytest.fixture(scope="module")
def events(run: Run, tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    path = tmp_path_factory.mktemp("timeline") / "t.json.gz"
    write_timeline([run], path, TimelineWindow())
    return read_events(path)


def test_the_run_is_crowded(run: Run) -> None:
    assert run.requests.num_preemptions.sum() > 5
    assert {"finished", "refused"} <= set(run.requests.status) or {"finished", "failed"} <= set(run.requests.status)


def test_phases_sum_up_to_the_latencies_of_the_frame(run: Run, events: list[Event]) -> None:
    sums: dict[tuple[int, str], float] = defaultdict(float)
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for phase in slices_of(events, 1, "phase"):
        start, end = span_ns(phase)
        sums[phase["tid"] - 2, phase["name"]] += (end - start) / 1e9
        counts[phase["tid"] - 2, phase["name"]] += 1
    finished = run.requests[run.requests.status == "finished"]
    for name in ("queue", "prefill", "decode", "preempted"):
        for index, value_s in zip(finished["index"], finished[f"{name}_s"], strict=True):
            assert sums[index, name] == pytest.approx(value_s, abs=NS * max(counts[index, name], 1))


def test_slices_of_requests_last_from_arrival_to_last_token(run: Run, events: list[Event]) -> None:
    slices = {e["tid"] - 2: span_ns(e) for e in slices_of(events, 1, "request")}
    assert len(slices) == len(run.requests)
    finished = run.requests[run.requests.status == "finished"]
    columns = (finished[name].tolist() for name in ("index", "arrival_s", "last_token_s", "e2e_s"))
    for index, arrival_s, last_token_s, e2e_s in zip(*columns, strict=True):
        start, end = slices[index]
        assert start == round(arrival_s * 1e9)
        assert end == round(last_token_s * 1e9)
        assert (end - start) / 1e9 == pytest.approx(e2e_s, abs=NS)


def test_steps_and_levels_are_those_of_the_frame(run: Run, events: list[Event]) -> None:
    steps = [e for e in events if e["ph"] == "X" and e["tid"] == 1]
    frame = run.steps
    assert [e["args"]["step"] for e in steps] == frame.step.tolist()
    assert [span_ns(e)[0] for e in steps] == [round(start_s * 1e9) for start_s in frame.start_s]
    assert [e["args"]["num_used_blocks"] for e in steps] == frame.num_used_blocks.tolist()
    used = max(e["args"]["used %"] for e in events if e["name"] == "KV cache")
    assert used == pytest.approx(100 * frame.num_used_blocks.max() / 40, abs=5e-4)
    waiting = max(e["args"]["waiting"] for e in events if e["name"] == "Requests")
    assert waiting == frame.num_waiting.max()


def test_chunks_are_those_of_the_events(run: Run, events: list[Event]) -> None:
    drawn = [c for e in slices_of(events, 1, "phase") for c in e["args"].get("chunks", [])]
    chunks = run.events[run.events.kind == "chunk"]
    assert sum(c["num_tokens"] for c in drawn) == chunks.num_tokens.sum()
    assert len(drawn) == len(chunks)
