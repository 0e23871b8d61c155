"""The file `sweep.json` of a sweep's folder: what was varied, what was not, and which runs there are."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.errors import RunError
from analysis.json_file import read_json, write_json

FILE = "sweep.json"
FORMAT = "twinserve-sweep"
FORMAT_VERSION = 1

Values = Mapping[str, Any]
"""The values in which a run differs from others, by setting; `rate_scale` and `policy` are always among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRecord:
    """A sweep as its folder tells it.

    Attributes:
        trace: name of the trace file, and `digests` of its content by the settings with which it is read.
        settings: settings of all runs, as they were given.
        files: digests of files that settings name, by path.
        varied: settings with several values, in order, `policy` first; the rate comes apart.
        slo: limits in seconds by metric; None without.
        attainment: share of requests that must meet all limits; from 0 to 1.
        runs: varied values of each run, by the name of its directory; configurations in order, rates rising.
    """

    trace: Mapping[str, Any]
    settings: Mapping[str, Any]
    files: Mapping[str, str]
    varied: tuple[str, ...]
    slo: Mapping[str, float] | None
    attainment: float
    runs: Mapping[str, Values]

    def write(self, folder: Path) -> None:
        """Writes it to `folder`, which exists."""
        write_json(folder / FILE, {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)})

    @classmethod
    def read(cls, folder: Path) -> "SweepRecord":
        """Reads the record of `folder`.

        Raises:
            RunError: there is none, or it is damaged or of another format.
        """
        file = folder / FILE
        if not file.is_file():
            raise RunError(f"{folder} is not the folder of a sweep: it holds no {FILE}.")
        content = read_json(file)
        if (content.get("format"), content.get("format_version")) != (FORMAT, FORMAT_VERSION):
            raise RunError(
                f"{file} is not of format {FORMAT}, version {FORMAT_VERSION}, which alone this release reads."
            )
        try:
            record = cls(**{name: content[name] for name in cls.__dataclass_fields__})
            return record._checked()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"{file} is damaged ({type(error).__name__}: {error}).") from error

    def _checked(self) -> "SweepRecord":
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("trace", "settings", "files", "runs"):
            values[name] = dict(values[name])
        wanted = {"rate_scale", *self.varied}
        for name, run in self.runs.items():
            if set(run) != wanted:
                raise ValueError(f"run {name} gives {', '.join(run)}, not {', '.join(sorted(wanted))}")
        return SweepRecord(**values | {"varied": tuple(self.varied), "attainment": float(self.attainment)})
