from pathlib import Path

from analysis.request_phases import Phase, RequestPhases
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run


def phases_of(builder: RunBuilder, *rows: int, by_client: bool = False) -> list[Phase]:
    columns = RunColumns.of(builder.build())
    return list(RequestPhases(columns, by_client=by_client).of(rows))


def test_phases_of_a_preempted_request_are_those_of_its_latencies(tmp_path: Path) -> None:
    assert phases_of(small_run(tmp_path), 1) == [
        Phase(1, "queue", 0.5, 1.0),
        Phase(1, "prefill", 1.0, 2.0),
        Phase(1, "preempted", 2.0, 4.0),
        Phase(1, "decode", 4.0, 6.0),
    ]


def test_lengths_sum_up_to_the_latency_split(tmp_path: Path) -> None:
    run = small_run(tmp_path).build()
    columns = RunColumns.of(run)
    latencies = columns.latencies()
    for row in (0, 1):
        found = dict.fromkeys(("queue", "prefill", "decode", "preempted"), 0.0)
        for phase in RequestPhases(columns).of([row]):
            found[phase.name] += phase.end_s - phase.start_s
        assert found == {name: latencies[name][row] for name in found}


def test_preempted_and_never_resumed(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(4):
        builder.step(decode=1)
    builder.event(2, "a", "preempted")
    builder.request("a", emissions=[(0, 2)], status="unfinished")
    builder.event(2, "b", "preempted")
    builder.request("b", emissions=[(0, 2)], status="failed", finish_s=3.0, reason="no room")
    assert phases_of(builder, 0, 1) == [
        Phase(0, "prefill", 0.0, 1.0),
        Phase(0, "decode", 1.0, 2.0),
        Phase(0, "preempted", 2.0, 4.0),
        Phase(1, "prefill", 0.0, 1.0),
        Phase(1, "decode", 1.0, 2.0),
        Phase(1, "preempted", 2.0, 3.0),
    ]


def test_failed_before_and_while_it_ran(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[10])
    builder.request("refused", arrival_s=0.25, finish_s=0.75, status="refused", reason="too long")
    builder.request("failed", scheduled=0, finish_s=1.0, status="failed", reason="no room")
    builder.request("never", arrival_s=None, status="unfinished")
    builder.request("waits", arrival_s=0.5, status="unfinished")
    assert phases_of(builder, 0, 1, 2, 3) == [
        Phase(0, "queue", 0.25, 0.75),
        Phase(1, "prefill", 0.0, 1.0),
        Phase(3, "queue", 0.5, 1.0),
    ]


def test_client_cannot_tell_queue_from_prefill(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    assert phases_of(builder, 0, by_client=True)[0] == Phase(0, "until first token", 0.0, 1.0)


def test_preemption_in_prefill(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(5):
        builder.step(prefill=[4])
    builder.event(1, "a", "preempted")
    builder.event(3, "a", "resumed")
    builder.request("a", scheduled=0, emissions=[(4, 1)], preempted_s=2.0, num_preemptions=1)
    assert phases_of(builder, 0) == [
        Phase(0, "prefill", 0.0, 1.0),
        Phase(0, "preempted", 1.0, 3.0),
        Phase(0, "prefill", 3.0, 5.0),
    ]
