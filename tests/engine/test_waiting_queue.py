import pytest

from engine import Sequence
from engine.waiting_queue import ArrivalQueue, PriorityQueue, WaitingQueue
from tests.engine.driver import request


def _sequence(name: str, number: int, priority: int = 0) -> Sequence:
    return Sequence(request(name, 4, priority=priority), number, 9, frozenset(), 4)


def _names(queue: WaitingQueue) -> str:
    return "".join(seq.request_id for seq in queue)


def test_first_come_first_served_whatever_the_priority() -> None:
    queue = ArrivalQueue()
    for number, name in enumerate("abc"):
        queue.add(_sequence(name, number, priority=-number))

    assert _names(queue) == "abc"
    assert queue.first().request_id == "a"


def test_preempted_sequences_go_to_the_head_one_by_one() -> None:
    queue = ArrivalQueue()
    queue.add(_sequence("c", 2))
    for name, number in (("b", 1), ("a", 0)):
        queue.put_back(_sequence(name, number))

    assert _names(queue) == "abc"


def test_priority_then_arrival_decides_for_new_and_preempted_alike() -> None:
    queue = PriorityQueue()
    for name, number, priority in (("d", 1, 5), ("a", 3, -2), ("c", 2, 0)):
        queue.add(_sequence(name, number, priority))
    queue.put_back(_sequence("b", 0, 0))
    queue.put_back(_sequence("e", 4, 5))

    assert _names(queue) == "abcde"
    assert queue.first().request_id == "a"


@pytest.mark.parametrize("queue", [ArrivalQueue(), PriorityQueue()])
def test_sequence_leaves_from_wherever_it_stands(queue: WaitingQueue) -> None:
    seqs = [_sequence(name, number) for number, name in enumerate("abc")]
    for seq in seqs:
        queue.add(seq)

    queue.remove(seqs[1])
    assert (_names(queue), len(queue)) == ("ac", 2)
    queue.remove(seqs[0])
    queue.remove(seqs[2])
    assert len(queue) == 0
    with pytest.raises(ValueError, match=r".*"):
        queue.remove(seqs[0])
