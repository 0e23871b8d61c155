"""One thing that is checked: it passes, fails, breaks, or cannot be tried here."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Number = float | int | str | bool | None
Status = Literal["PASS", "FAIL", "ERROR", "SKIP"]


class NotHereError(Exception):
    """The machine lacks what a case needs; the message says what."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case found.

    Attributes:
        is_ok: whether it passes.
        numbers: what was measured, whether or not it passes.
    """

    is_ok: bool
    numbers: Mapping[str, Number]


class Case(NamedTuple):
    """A name and what to run."""

    name: str
    run: Callable[[], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a case went.

    Attributes:
        group: of the case.
        name: of the case.
        status: FAIL is a number that is wrong, ERROR an exception, SKIP what this machine cannot show.
        seconds: that it took.
        numbers: that it found.
        message: why, unless it passed.
    """

    group: str
    name: str
    status: Status
    seconds: float
    numbers: Mapping[str, Number]
    message: str

    def line(self) -> str:
        """For people."""
        numbers = " ".join(f"{name}={_shown(value)}" for name, value in self.numbers.items())
        parts = (f"{self.status:5} {self.group}/{self.name} ({self.seconds:.1f} s)", numbers, self.message)
        return "  ".join(part for part in parts if part)


def run_cases(group: str, cases: Callable[[], Iterable[Case]]) -> Iterator[Outcome]:
    """Run one case after the other; none stops the others, and neither does an error while they are made."""
    try:
        for case in cases():
            yield _run(group, case)
    except Exception as error:  # whatever it is: the other groups must run
        yield _broken(group, "cases", 0.0, error)


def _run(group: str, case: Case) -> Outcome:
    start = time.perf_counter()
    try:
        verdict = case.run()
    except NotHereError as reason:
        return Outcome(group=group, name=case.name, status="SKIP", seconds=0.0, numbers={}, message=str(reason))
    except Exception as error:
        return _broken(group, case.name, time.perf_counter() - start, error)
    return Outcome(
        group=group,
        name=case.name,
        status="PASS" if verdict.is_ok else "FAIL",
        seconds=time.perf_counter() - start,
        numbers=verdict.numbers,
        message="",
    )


def _broken(group: str, name: str, seconds: float, error: Exception) -> Outcome:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    message = f"{type(error).__name__}: {' '.join(str(error).split())[:600]} [{places}]"
    return Outcome(group=group, name=name, status="ERROR", seconds=seconds, numbers={}, message=message)


def _shown(value: Number) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
