from pathlib import Path

import pytest

from analysis.decision_match import DecisionMatch
from analysis.run import Run
from tests.run_builder import RunBuilder, small_run


def _match(a: Run, b: Run) -> DecisionMatch:
    return DecisionMatch.of(a, b)


def test_equal_runs(tmp_path: Path) -> None:
    a, b = (small_run(tmp_path / name).build(summary={"decision_digest": "d"}) for name in "ab")
    match = _match(a, b)

    assert (match.is_equal, match.first_difference, match.end) == (True, None, None)
    assert match.text == "Decisions: equal in every step."


def test_first_event_that_differs(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.events[4] = other.events[4]._replace(block_ids=[1, 3])
    match = _match(small_run(tmp_path / "a").build(), other.build())

    assert (match.is_equal, match.first_difference, match.end) == (False, 1, 1)
    assert match.text == "Decisions: they differ, first in step 1."


def test_first_shape_that_differs(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.steps[4] = other.steps[4]._replace(decode_context=99)

    assert _match(small_run(tmp_path / "a").build(), other.build()).first_difference == 4


def test_times_are_no_decisions(tmp_path: Path) -> None:
    other = small_run(tmp_path / "b")
    other.steps = [row._replace(start_s=row.start_s * 2, duration_s=row.duration_s * 2) for row in other.steps]

    assert _match(small_run(tmp_path / "a").build(), other.build()).is_equal is True


def test_step_that_only_one_run_has(tmp_path: Path) -> None:
    longer = small_run(tmp_path / "b")
    longer.step()

    assert _match(longer.build(), small_run(tmp_path / "a").build()).first_difference == 5


def test_digests_decide(tmp_path: Path) -> None:
    a, b = (small_run(tmp_path / name).build(summary={"decision_digest": name}) for name in "ab")
    match = _match(a, b)

    assert (match.is_equal, match.first_difference) == (False, None)
    assert match.text == "Decisions: they differ."
    assert match.end == 0  # nobody knows from where on


def test_partial_run_agrees_as_far_as_it_goes(tmp_path: Path) -> None:
    partial = small_run(tmp_path / "b")
    partial.steps, partial.events, partial.requests = partial.steps[:3], partial.events[:8], partial.requests[:1]
    match = _match(small_run(tmp_path / "a").build(), partial.build(complete=False))

    assert (match.is_equal, match.end) == (None, None)
    assert match.text == "Decisions: equal as far as both runs got."


@pytest.mark.parametrize("complete", [True, False])
def test_empty_runs(complete: bool, tmp_path: Path) -> None:
    a, b = (RunBuilder(tmp_path / name).build(complete=complete) for name in "ab")

    assert _match(a, b).is_equal is (True if complete else None)


def test_equal_digests_do_not_hide_tables_that_differ(tmp_path: Path) -> None:
    """Tables can be damaged after the digest was written."""
    other = small_run(tmp_path / "b")
    other.steps.pop()
    a, b = (run.build(summary={"decision_digest": "d"}) for run in (small_run(tmp_path / "a"), other))
    match = _match(a, b)

    assert (match.is_equal, match.first_difference) == (False, 4)
    assert match.text == "Decisions: they differ, first in step 4."
