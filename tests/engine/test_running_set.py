import pytest

from engine import Sequence
from engine.running_set import RunningSet
from tests.engine.driver import request


def _sequences(*names: str) -> list[Sequence]:
    return [Sequence(request(name, 4), number, 9, frozenset(), 4) for number, name in enumerate(names)]


def _decoding(*names: str) -> tuple[RunningSet, list[Sequence]]:
    running, seqs = RunningSet(), _sequences(*names)
    for seq in seqs:
        running.add(seq)
        seq.num_computed_tokens = 3
    running.note_progress()
    return running, seqs


def test_sequences_stand_in_the_order_of_admission() -> None:
    running, (a, b, c) = RunningSet(), _sequences("a", "b", "c")
    for seq in (b, a, c):
        running.add(seq)

    assert list(running) == [b, a, c]
    assert (running[0], running[-1], running.index(a), len(running)) == (b, c, 1, 3)
    running.remove(a)
    assert list(running) == [b, c]
    assert [seq in running for seq in (a, b, c)] == [False, True, True]
    assert [seq.is_running for seq in (a, b, c)] == [False, True, True]


def test_sequence_that_is_not_there_cannot_be_removed() -> None:
    running, (a,) = RunningSet(), _sequences("a")

    with pytest.raises(ValueError, match="not in list"):
        running.remove(a)


def test_sequences_lead_up_to_one_that_has_more_than_one_token_left() -> None:
    running, (a, b) = RunningSet(), _sequences("a", "b")
    running.add(a)
    running.add(b)
    a.num_computed_tokens, b.num_computed_tokens = 3, 2
    running.note_progress()
    assert running.leading_decodes(9) == [a]

    b.num_computed_tokens = 3
    running.note_progress()

    assert running.leading_decodes(9) == [a, b]


def test_all_lead_again_when_the_last_prefill_has_gone() -> None:
    running, (a,) = _decoding("a")
    (late,) = _sequences("late")
    running.add(late)
    running.remove(late)

    assert running.leading_decodes(9) == [a]


def test_decode_columns_follow_the_set() -> None:
    running, (a, b) = _decoding("a", "b")
    columns = running.decode_columns()
    assert columns == (("a", "b"), (1, 1), (True, True))
    assert running.decode_columns() is columns  # kept while the set stays the same

    running.remove(a)
    assert running.decode_columns() == (("b",), (1,), (True,))
    running.add(a)
    assert running.decode_columns() == (("b", "a"), (1, 1), (True, True))
    assert b.is_running


def test_sequences_lead_up_to_the_first_of_several_prompts_and_to_the_limit() -> None:
    running, (a, b) = _decoding("a", "b")
    for late in _sequences("late", "later"):
        running.add(late)

    assert running.leading_decodes(9) == [a, b]
    assert running.leading_decodes(1) == [a]
    assert running.decode_rows([a, b]) == {a: 1, b: 1}


def test_rows_of_all_are_a_dict_of_their_own() -> None:
    running, (a, b) = _decoding("a", "b")
    rows = running.decode_rows([a, b])
    del rows[a]

    assert list(running.decode_rows([a, b])) == [a, b]


def test_context_sums_are_kept_while_all_go_on() -> None:
    running, (a, b) = _decoding("a", "b")
    assert running.context_sums((3, 3)).total == 8
    running.advance(2)
    a.num_computed_tokens = b.num_computed_tokens = 4

    sums = running.context_sums((4, 4))

    assert (sums.num_rows, sums.total, sums.total_sq, sums.longest) == (2, 10, 50, 5)


def test_context_sums_are_those_of_the_positions_when_only_some_have_gone_on_or_are_asked_for() -> None:
    running, (a, _) = _decoding("a", "b")
    assert running.context_sums((3, 3)).total == 8
    assert running.context_sums((3,)).total == 4
    running.advance(1)
    a.num_computed_tokens = 4

    assert running.context_sums((4, 3)).total == 9
