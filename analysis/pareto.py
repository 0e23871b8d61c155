"""Which of several points are worth choosing when more of both values is better."""

from collections.abc import Sequence


def pareto_efficient(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Says of each point whether no other one is at least as good in both values and better in one.

    second   A
      |          B            A, B and D are efficient; C is not, as B is better in both
      |      C
      |              D
      +----------------- first
    """
    return [not any(_beats(other, point) for other in points) for point in points]


def _beats(other: tuple[float, float], point: tuple[float, float]) -> bool:
    return other != point and other[0] >= point[0] and other[1] >= point[1]
