"""Errors that say which combination of a sweep they are about."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from analysis.errors import AnalysisError
from analysis.flag_names import with_flags
from backends.errors import SheetError
from engine.errors import EngineError
from sim.errors import SimError
from sim.sweeping.grid import Configuration
from traces.errors import TraceError


@contextmanager
def named_combination(values: Configuration, *, is_one_of_many: bool) -> Iterator[None]:
    """Name a combination of policy and settings in whatever error says that it cannot run.

    Args:
        values: of the settings that vary.
        is_one_of_many: whether there are others; a lone one needs no name.

    Raises:
        SimError: the error, named.
    """
    try:
        yield
    except (AnalysisError, EngineError, SheetError, SimError, TraceError) as error:
        if not is_one_of_many:
            raise
        raise SimError(f"The combination {_words(values)} cannot run: {_sentence(error, values)}.") from error


def _words(values: Configuration) -> str:
    return ", ".join(f"{name} {_written(value)}" for name, value in values.items())


def _written(value: object) -> str:
    """As it is written behind --set."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sentence(error: Exception, values: Configuration) -> str:
    """Without its full stop; names of settings as flags, but of those that vary as --set was given them."""
    text = with_flags(str(error)) if isinstance(error, EngineError) else str(error)
    for name in values:
        text = re.sub(rf"--{name.replace('_', '-')}\b(?!-)", name, text)
    return text.rstrip(".")
