from hypothesis import given
from hypothesis import strategies as st

from sim.arrivals import Arrival
from sim.emission_runs import EmissionRuns
from sim.request_record import RequestRecord
from tests.sim.small_world import ask

NAMES = ("a", "b", "c")


def _records() -> dict[str, RequestRecord]:
    return {name: RequestRecord(Arrival(0.0, 1, 0, ask(name)), 0.0) for name in NAMES}


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(NAMES), unique=True), st.lists(st.sampled_from(NAMES), unique=True)),
        max_size=12,
    )
)
def test_runs_give_back_who_got_a_token_in_which_step(steps: list[tuple[list[str], list[str]]]) -> None:
    """Each step first closes some runs, as preemptions do, and then gives tokens to some requests, or to none."""
    records = _records()
    runs = EmissionRuns(records)
    for step, (closed, sampled) in enumerate(steps):
        runs.close(closed)
        runs.advance(step, tuple(sampled), step + 1.0)
    runs.close_all()

    for name, record in records.items():
        row = record.row(None, None)
        pairs = zip(row.emission_first_steps, row.emission_counts, strict=True)
        got = [step for first, count in pairs for step in range(first, first + count)]
        expected = [step for step, (_, sampled) in enumerate(steps) if name in sampled]
        assert got == expected
        assert (row.first_token_s, row.last_token_s) == (
            (expected[0] + 1.0, expected[-1] + 1.0) if expected else (None, None)
        )


def test_a_run_goes_on_while_the_same_requests_decode() -> None:
    runs = EmissionRuns(_records())
    runs.advance(0, ("a", "b"), 1.0)

    assert runs.are_going_on(("a", "b"))
    assert not runs.are_going_on(("a",))
    assert not runs.are_going_on(("b", "a"))


def test_nobody_goes_on_after_a_run_was_closed() -> None:
    runs = EmissionRuns(_records())
    runs.advance(0, ("a", "b"), 1.0)
    runs.close(["b"])

    assert not runs.are_going_on(("a", "b"))
    assert not runs.are_going_on(())
