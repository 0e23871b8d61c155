"""One run of a sweep."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

_MAX_NAME = 160


@dataclass(frozen=True, slots=True)
class Point:
    """A configuration at a rate.

    Attributes:
        configuration: value of each varied setting, `policy` first.
        rate_scale: factor on the trace's request rate.
    """

    configuration: Mapping[str, Any]
    rate_scale: float

    @property
    def values(self) -> dict[str, Any]:
        """Settings in which it differs from other points."""
        return {"rate_scale": self.rate_scale, **self.configuration}

    @property
    def name(self) -> str:
        """Name of its run directory; it depends on nothing but the values, and differs where they do."""
        name = ",".join(self._parts())
        return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}~{_digest(name)}"

    def _parts(self) -> Iterator[str]:
        for setting, value in self.configuration.items():
            yield _written(value) if setting == "policy" else f"{setting}={_written(value)}"
        yield f"rate={_written(self.rate_scale)}"


def _written(value: object) -> str:
    """The value in characters that any file system takes; a digest tells apart what that makes equal."""
    text = _shortest(value) if isinstance(value, float) else str(value)
    last = re.split(r"[/\\:]", text)[-1]
    plain = re.sub(r"[^A-Za-z0-9._+-]", "-", last)
    return plain if plain == text and not plain.startswith(".") else f"{plain.lstrip('.')}~{_digest(text)}"


def _shortest(value: float) -> str:
    short = f"{value:.12g}"
    return short if float(short) == value else repr(value)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
