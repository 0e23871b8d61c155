from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.admission import AdmissionLimits
from analysis.run_columns import RunColumns
from analysis.verdict import Verdict, judge
from tests.run_builder import RunBuilder

SPAN_S = 1000


def verdict(builder: RunBuilder) -> Verdict:
    run = builder.build()
    columns = RunColumns.of(run)
    return judge(columns, AdmissionLimits.of(run.meta), is_complete=run.is_complete)


def with_queue(path: Path, waiting: Callable[[int], float], finish_every: int = 0) -> RunBuilder:
    """A run of one-second steps: one arrival a second, and so many waiting after each step."""
    builder = RunBuilder(path)
    for second in range(SPAN_S):
        builder.step(decode=2, running=2, waiting=int(waiting(second)))
    for second in range(SPAN_S):
        is_finished = bool(finish_every) and second % finish_every == 0
        builder.request(
            f"r{second}",
            arrival_s=float(second),
            emissions=[(second, 1)] if is_finished else [],
            status="finished" if is_finished else "unfinished",
        )
    return builder


def served_in_order(path: Path, arrivals_s: list[float], service_s: float) -> RunBuilder:
    """One server, first come first served, one step a request: a queue with a known law."""
    builder = RunBuilder(path)
    clock_s = 0.0
    for k, arrival_s in enumerate(arrivals_s):
        clock_s = max(clock_s, arrival_s)
        waiting = bisect_right(arrivals_s, clock_s) - k - 1
        builder.step(start_s=clock_s, duration_s=service_s, decode=1, waiting=waiting)
        builder.request(f"r{k}", arrival_s=arrival_s, emissions=[(k, 1)])
        clock_s += service_s
    return builder


def poisson_arrivals(rate_per_s: float, num: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(time_s) for time_s in np.cumsum(rng.exponential(1 / rate_per_s, num))]


def test_queue_that_grows_steadily_falls_behind(tmp_path: Path) -> None:
    # One arrives a second, three in four are served: the queue grows by 15 a minute.
    found = verdict(with_queue(tmp_path, lambda second: second / 4, finish_every=2))
    assert found.status == "falls behind"
    assert found.backlog_growth_per_min == pytest.approx(15.0, rel=0.01)
    assert found.sustained_per_s == pytest.approx(0.5, rel=0.01)
    assert found.arrivals_per_s == pytest.approx(1000 / 999)
    assert found.finishes_per_s == pytest.approx(0.5, rel=0.01)


def test_constant_backlog_does_not_fall_behind(tmp_path: Path) -> None:
    assert verdict(with_queue(tmp_path, lambda second: 500)).status == "keeps up"


def test_backlog_that_comes_once_and_stays_does_not_fall_behind(tmp_path: Path) -> None:
    for at in (150, 550, 850):
        builder = with_queue(tmp_path / str(at), lambda second, at=at: 500 * (second > at))  # type: ignore[misc] # a default argument binds the loop variable
        assert verdict(builder).status == "keeps up", at


def test_burst_at_the_end_does_not_fall_behind(tmp_path: Path) -> None:
    assert verdict(with_queue(tmp_path, lambda second: 300 * (second > 980))).status == "keeps up"


def test_bursts_that_are_worked_off_do_not_fall_behind(tmp_path: Path) -> None:
    sawtooth = with_queue(tmp_path, lambda second: (99 - second % 100) * second / 200)
    assert verdict(sawtooth).status == "keeps up"


def test_overload_in_the_second_half_falls_behind(tmp_path: Path) -> None:
    found = verdict(with_queue(tmp_path, lambda second: max(0, second - 500) / 2))
    assert found.status == "falls behind"


def test_overload_that_is_worked_off_before_the_end_keeps_up(tmp_path: Path) -> None:
    assert verdict(with_queue(tmp_path, lambda second: min(second, 1000 - second))).status == "keeps up"


@pytest.mark.parametrize("seed", range(5))
def test_poisson_arrivals_at_four_fifths_of_capacity_keep_up(tmp_path: Path, seed: int) -> None:
    found = verdict(served_in_order(tmp_path, poisson_arrivals(0.8, 2000, seed), service_s=1.0))
    assert found.status == "keeps up"
    assert found.busy_share == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_poisson_arrivals_above_capacity_fall_behind(tmp_path: Path, seed: int) -> None:
    found = verdict(served_in_order(tmp_path, poisson_arrivals(1.25, 2000, seed), service_s=1.0))
    assert found.status == "falls behind"
    assert found.backlog_growth_per_min == pytest.approx(15.0, rel=0.35)
    assert found.sustained_per_s == pytest.approx(1.0, rel=0.01)


def test_few_steps_in_a_long_time_are_idle(tmp_path: Path) -> None:
    found = verdict(served_in_order(tmp_path, [100.0 * k for k in range(50)], service_s=1.0))
    assert found.status == "idle"
    assert found.busy_share == pytest.approx(0.01, rel=0.05)


def test_all_at_once_is_too_short_to_judge(tmp_path: Path) -> None:
    found = verdict(served_in_order(tmp_path, [5.0] * 100, service_s=0.5))
    assert found.status == "too short"
    assert found.arrivals_per_s is None
    assert found.sustained_per_s == pytest.approx(2.0)


def test_empty_run_is_idle(tmp_path: Path) -> None:
    found = verdict(RunBuilder(tmp_path))
    assert found.status == "idle"
    assert found.limited_by is None
    assert found.limit_shares == {"tokens": 0.0, "sequences": 0.0, "kv_blocks": 0.0}


def test_run_without_steps_is_idle(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for second in range(30):
        builder.request(f"r{second}", arrival_s=float(second), status="refused", finish_s=float(second))
    assert verdict(builder).status == "idle"


def test_what_limits_is_what_held_the_queue_longest(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=4, running=4, waiting=1, duration_s=3.0)
    for _ in range(2):
        builder.step(prefill=[64], waiting=1, duration_s=0.5)
    builder.step(decode=1, duration_s=6.0)
    builder.request("a", emissions=[(0, 1)])
    found = verdict(builder)
    assert found.limited_by == "sequences"
    assert found.limit_shares == {"tokens": 0.1, "sequences": 0.3, "kv_blocks": 0.0}
    assert found.limits == {"tokens": 64, "sequences": 4, "kv_blocks": 100}


def test_waiting_counts_over_the_arrival_span_and_not_over_what_is_left_after_it(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for second in range(200):
        builder.step(decode=4, running=4, waiting=int(50 <= second < 75 or second >= 100))
    for second in range(101):
        builder.request(f"r{second}", arrival_s=float(second), emissions=[(second, 1)])
    found = verdict(builder)
    assert found.limit_shares == {"tokens": 0.0, "sequences": 0.25, "kv_blocks": 0.0}


def test_hardly_any_waiting_is_limited_by_nothing(tmp_path: Path) -> None:
    found = verdict(with_queue(tmp_path, lambda second: second == 500))
    assert found.limited_by is None
    assert 0 < sum(found.limit_shares.values()) < 0.01


def shared_server(
    path: Path, num: int, gap_s: float, num_tokens: int, duration_s: Callable[[int], float]
) -> RunBuilder:
    """Takes every request in at once and gives each a token a step: none ever waits. One arrives every `gap_s`."""
    builder = RunBuilder(path)
    first: dict[int, int] = {}
    clock_s, num_arrived = 0.0, 0
    while num_arrived < num or any(len(builder.steps) - at < num_tokens for at in first.values()):
        while num_arrived < num and num_arrived * gap_s <= clock_s:
            first[num_arrived] = len(builder.steps)
            num_arrived += 1
        running = sum(len(builder.steps) - at < num_tokens for at in first.values())
        step_s = duration_s(running)
        builder.step(start_s=clock_s, duration_s=step_s, decode=running, running=running)
        clock_s += step_s
    for k, at in first.items():
        builder.request(f"r{k}", arrival_s=k * gap_s, emissions=[(at, num_tokens)])
    return builder


def test_backlog_that_runs_instead_of_waiting_falls_behind(tmp_path: Path) -> None:
    # Each step takes 0.05 s a request, each request 100 steps: 0.2 a second can be served, and 1 arrives.
    found = verdict(shared_server(tmp_path, 200, 1.0, 100, lambda running: 0.05 * max(running, 1)))
    assert found.status == "falls behind"
    assert found.limited_by is None
    # As all slow each other down, fewer end within the span than the 40 that one after the other would let end.
    assert found.num_unfinished > 160
    assert found.backlog_growth_per_min is not None
    assert 48 < found.backlog_growth_per_min < 60
    assert found.sustained_per_s == pytest.approx(0.2, rel=0.1)


def test_requests_that_run_beside_each_other_keep_up_once_their_number_is_level(tmp_path: Path) -> None:
    # A request takes 40 s: 40 run at once from then on, a fifth of the span.
    found = verdict(shared_server(tmp_path, 200, 1.0, 40, lambda _: 1.0))
    assert found.status == "keeps up"
    assert found.num_unfinished == 40
    assert found.sustained_per_s is None


def test_requests_longer_than_the_span_cannot_settle(tmp_path: Path) -> None:
    found = verdict(shared_server(tmp_path, 100, 1.0, 300, lambda _: 1.0))
    assert found.status == "too short"
    assert found.quickest_s == pytest.approx(300)
    assert found.sustained_per_s is None, "100 at once say nothing of what more would do"


def test_what_would_be_sustained_is_never_below_what_was_served(tmp_path: Path) -> None:
    # A request in 100 s for the first half of the span, then one a second, and 0.5 a second can be served.
    arrivals_s = [*(100.0 * k for k in range(10)), *(1000.0 + k for k in range(1000))]
    found = verdict(served_in_order(tmp_path, arrivals_s, service_s=2.0))
    assert found.status == "falls behind"
    assert found.sustained_per_s == pytest.approx(0.5, rel=0.02)


def test_partial_run_knows_only_what_the_span_showed(tmp_path: Path) -> None:
    run = served_in_order(tmp_path, poisson_arrivals(1.25, 2000, 0), service_s=1.0).build(complete=False)
    columns = RunColumns.of(run)
    found = judge(columns, AdmissionLimits.of(run.meta), is_complete=False)
    assert found.sustained_per_s == pytest.approx(1.0, rel=0.01)


def test_partial_run_is_judged_as_far_as_it_got(tmp_path: Path) -> None:
    builder = with_queue(tmp_path, lambda second: second / 2)
    builder.request("late", arrival_s=1e6, status="unfinished")
    assert verdict(builder).status == "falls behind"
