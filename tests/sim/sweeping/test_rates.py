import pytest

from sim.errors import SimError
from sim.sweeping.rates import parse_rates


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("1", (1.0,)),
        ("4,1,2", (1.0, 2.0, 4.0)),
        ("0.5:4:0.5", (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)),
        ("0.1:0.3:0.1", (0.1, 0.2, 0.3)),
        ("1:2:0.75", (1.0, 1.75)),
        ("8, 1:2:1", (1.0, 2.0, 8.0)),
        ("1e-3", (0.001,)),
    ],
)
def test_rates_rise(text: str, rates: tuple[float, ...]) -> None:
    assert parse_rates(text) == rates


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "'' is no rate"),
        ("1,,2", "'' is no rate"),
        ("fast", "'fast' is no rate"),
        ("0", "'0' is no rate"),
        ("-1", "'-1' is no rate"),
        ("nan", "'nan' is no rate"),
        ("inf", "'inf' is no rate"),
        ("1e400", "'1e400' is no rate"),
        ("1:2", "'1:2' is no rate"),
        ("1:2:0", "'1:2:0' is no rate"),
        ("2:1:1", "'2:1:1' stops below its start"),
        ("1,2,1.0", "gives 1 twice"),
        ("1:2:1,2", "gives 2 twice"),
        ("1:100000:0.0001", "more than 1000 rates"),
    ],
)
def test_what_is_no_rate(text: str, part: str) -> None:
    with pytest.raises(SimError, match=r"^--rates ") as raised:
        parse_rates(text)
    assert part in str(raised.value)
