import pytest

from traces.ascending_ids import AscendingIds


def test_numbers_must_rise() -> None:
    ids = AscendingIds()
    assert [ids.rises_to(each) for each in ("r0", "r1", "r7", "r7", "r3", "r8")] == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("request_id", ["", "r", "r01", "r-1", "x1", "r1 ", "r\u0661", "r" + "9" * 19])
def test_another_form_cannot_be_seen_to_be_unique(request_id: str) -> None:
    assert not AscendingIds().rises_to(request_id)
