import pytest

from analysis.outside_text import outside_text

SHARED = {"size": "shared_context", "share": 0.5, "furthest": 74_800.0, "measured": 10_240.0}
FEW = {"size": "num_decode_seqs", "share": 0.125, "furthest": 1.0, "measured": 2.0}
KIND = {"size": "decode eager", "share": 0.01, "furthest": None, "measured": None}
WHAT = "of the steps have shapes that the cost model was not calibrated for"


@pytest.mark.parametrize(
    ("outside", "said"),
    [
        ([], f"62 % {WHAT}."),  # of a run that an earlier release has made
        ([SHARED], f"62 % {WHAT}: shared_context up to 74,800, measured up to 10,240 (50 %)."),
        ([FEW, KIND], f"62 % {WHAT}: num_decode_seqs down to 1, measured down to 2 (12 %), class decode eager (1 %)."),
        (
            [SHARED, KIND, FEW],
            f"62 % {WHAT}: shared_context up to 74,800, measured up to 10,240 (50 %), class decode eager (1 %).",
        ),
    ],
)
def test_what_is_outside_is_named(outside: list[dict[str, object]], said: str) -> None:
    assert outside_text({"outside_share": 0.625, "outside": outside}) == said


def test_nearly_all_is_a_plain_number() -> None:
    assert str(outside_text({"outside_share": 0.997})).startswith("100 % of the steps")
    assert str(outside_text({"outside_share": 0.00234})).startswith("0.23 % of the steps")


@pytest.mark.parametrize("block", [{}, {"outside_share": None}, {"outside_share": 0.0, "outside": []}])
def test_nothing_is_said_where_nothing_is_outside(block: dict[str, object]) -> None:
    assert outside_text(block) is None
