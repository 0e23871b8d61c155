from engine import Sequence
from engine.length_calendar import LengthCalendar
from tests.engine.driver import request


def _decoding(name: str, num_left: int) -> Sequence:
    """It has as many tokens left as steps."""
    seq = Sequence(request(name, 4), 0, 5 + num_left, frozenset(), 4)
    seq.num_computed_tokens = 4
    return seq


def _step(calendar: LengthCalendar, *seqs: Sequence, num_steps: int = 1) -> list[Sequence]:
    for seq in seqs:
        seq.num_computed_tokens += num_steps
    calendar.pass_steps(num_steps)
    return calendar.take_complete()


def test_sequences_are_complete_in_the_step_that_gives_their_last_token() -> None:
    calendar, a, b, c = LengthCalendar(), _decoding("a", 2), _decoding("b", 4), _decoding("c", 2)
    for seq in (a, b, c):
        calendar.add(seq)

    assert calendar.take_complete() == []
    assert [_step(calendar, a, b, c) for _ in range(4)] == [[], [a, c], [], [b]]
    assert _step(calendar) == []


def test_sequence_that_comes_with_its_last_token_is_complete_at_once() -> None:
    calendar, done, longer = LengthCalendar(), _decoding("done", 0), _decoding("longer", 3)
    calendar.pass_steps(7)
    calendar.add(longer)
    calendar.add(done)

    assert calendar.take_complete() == [done]
    assert calendar.take_complete() == []
    assert _step(calendar, longer, num_steps=3) == [longer]


def test_sequence_that_was_left_out_of_steps_is_complete_as_much_later() -> None:
    calendar, a, b = LengthCalendar(), _decoding("a", 2), _decoding("b", 2)
    calendar.add(a)
    calendar.add(b)

    assert [_step(calendar, a), _step(calendar, a, b)] == [[], [a]]
    assert [_step(calendar), _step(calendar, b)] == [[], [b]]


def test_sequence_that_has_left_is_not_named() -> None:
    calendar, a, b = LengthCalendar(), _decoding("a", 1), _decoding("b", 1)
    calendar.add(a)
    calendar.add(b)
    calendar.discard(a)
    calendar.discard(a)

    assert _step(calendar, a, b) == [b]
