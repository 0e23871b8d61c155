"""Rate scales as written on the command line."""

from decimal import Decimal, InvalidOperation

from sim.errors import SimError

MAX_RATES = 1000
_FORM = "numbers above 0 such as 0.5,1,2, or START:STOP:STEP such as 0.5:4:0.5 (STOP included)"


def parse_rates(text: str) -> tuple[float, ...]:
    """Read rates, rising.

    Args:
        text: numbers and ranges START:STOP:STEP with commas between them.

    Raises:
        SimError: an item is neither, is not above 0, or comes twice, or there are more than 1,000.
    """
    rates = [rate for item in text.split(",") for rate in _item(item.strip(), text)]
    if len(rates) > MAX_RATES:
        raise SimError(f"--rates {text} gives more than {MAX_RATES} rates; give a larger step.")
    twice = sorted({rate for rate in rates if rates.count(rate) > 1})
    if twice:
        raise SimError(f"--rates {text} gives {twice[0]:.12g} twice; leave one of them.")
    return tuple(sorted(rates))


def _item(item: str, text: str) -> list[float]:
    try:
        numbers = [Decimal(part) for part in item.split(":")]
    except InvalidOperation:
        raise SimError(f"--rates {text}: {item!r} is no rate; give {_FORM}.") from None
    # Factors beyond these would leave no trace to speak of.
    if len(numbers) not in (1, 3) or not all(number.is_finite() and 1e-9 < number < 1e9 for number in numbers):
        raise SimError(f"--rates {text}: {item!r} is no rate; give {_FORM}.")
    if len(numbers) == 1:
        return [float(numbers[0])]
    start, stop, step = numbers
    if stop < start:
        raise SimError(f"--rates {text}: {item!r} stops below its start; give {_FORM}.")
    # Decimal, so that 0.1:0.3:0.1 ends with 0.3; one more than allowed is enough to see that there are too many.
    num_steps = min(int((stop - start) / step), MAX_RATES)
    return [float(start + number * step) for number in range(num_steps + 1)]
