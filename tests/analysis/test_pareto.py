from analysis.pareto import pareto_efficient


def test_point_that_another_beats_in_both_is_not_efficient() -> None:
    assert pareto_efficient([(1, 9), (3, 7), (2, 6), (5, 2)]) == [True, True, False, True]


def test_as_good_in_one_and_better_in_the_other_beats() -> None:
    assert pareto_efficient([(1, 9), (1, 8), (2, 9)]) == [False, False, True]


def test_equal_points_are_both_efficient() -> None:
    assert pareto_efficient([(1, 1), (1, 1)]) == [True, True]
    assert pareto_efficient([]) == []
