from analysis.client_steps import ClientSteps


def test_instants_are_numbered_and_shared() -> None:
    """The picture in the docstring."""
    a, b = ((1.0, 1), (2.0, 2)), ((1.0, 3), (1.5, 1))
    steps = ClientSteps([a, b])

    assert [(row.step, row.start_s, row.duration_s) for row in steps.rows()] == [
        (0, 0.0, 1.0),
        (1, 1.0, 0.0),
        (2, 1.0, 0.0),
        (3, 1.0, 0.5),
        (4, 1.5, 0.5),
        (5, 2.0, 0.0),
    ]
    assert steps.runs(a) == ([0, 4], [1, 2])
    assert steps.runs(b) == ([0, 3], [3, 1])


def test_chunks_of_one_instant_are_one_run() -> None:
    steps = ClientSteps([((1.0, 1), (1.0, 2))])

    assert steps.runs(((1.0, 1), (1.0, 2))) == ([0], [3])
    assert len(list(steps.rows())) == 3


def test_nothing_came() -> None:
    steps = ClientSteps([()])

    assert list(steps.rows()) == []
    assert steps.runs(()) == ([], [])
