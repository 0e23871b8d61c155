import pytest

from analysis.duration import parse_duration
from analysis.errors import SloError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("60s", 60.0), ("1.5 s", 1.5), ("2min", 120.0), ("1h", 3600.0), ("20us", 2e-5), ("1e3ms", 1.0)],
)
def test_number_and_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "60", "s", "-1s", "1e999s", "nans", "1.2.3s", "5 weeks", "--s"])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(SloError, match="is not a duration; write a number and a unit"):
        parse_duration(text)
