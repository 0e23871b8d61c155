from pathlib import Path

from benchmarks.read_speed import write_rows
from traces import read_trace


def test_rows_are_of_the_form_of_2024_and_failures_are_dropped(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv", 2000)
    trace = read_trace(tmp_path / "t.csv")
    assert trace.num_requests == 1998
    assert 25 < trace.num_requests / trace.last_arrival_s < 42
    assert "2000 rows read: 1998 kept, 2 dropped (2 because GeneratedTokens is 0)." in trace.notices
