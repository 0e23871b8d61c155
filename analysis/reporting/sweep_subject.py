"""A sweep that a report is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.load_curve import LoadCurve
from analysis.run import Run, load
from analysis.slo import Slo
from analysis.sweep import curves, is_complete
from analysis.sweep_record import SweepRecord


@dataclass(frozen=True, slots=True, eq=False)
class SweepSubject:
    """One sweep with its runs. Made by `of`.

    Attributes:
        label: name that no other one in the report has.
        record: what was varied, and what was not.
        slo: limits by which its runs are judged; None without.
        curves: figures of its complete runs, by configuration.
        runs: the complete runs by name.
        missing: names of the runs that are not complete, and left out.
    """

    label: str
    record: SweepRecord
    slo: Slo | None
    curves: Sequence[LoadCurve]
    runs: Mapping[str, Run]
    missing: Sequence[str]

    @classmethod
    def of(cls, folder: Path, label: str, slo: Slo | None = None) -> "SweepSubject":
        """Opens the folder of a sweep, complete or not.

        Args:
            folder: as `python -m sim sweep --output` makes it.
            label: name that no other one in the report has.
            slo: limits for goodput and attainment; those of the sweep if None.

        Raises:
            RunError: it is no sweep, or a run is damaged.
        """
        record = SweepRecord.read(folder)
        if slo is None and record.slo is not None:
            slo = Slo.of(record.slo)
        runs = {name: load(folder / name) for name in record.runs if is_complete(folder / name)}
        missing = [name for name in record.runs if name not in runs]
        return cls(label, record, slo, curves(folder, partial=True, slo=slo), runs, missing)

    @property
    def names(self) -> list[str]:
        """Names of the configurations: the values in which they differ."""
        varied = [name for name in self.record.varied if len({str(c.configuration[name]) for c in self.curves}) > 1]
        return [_name(curve.configuration, varied) for curve in self.curves]

    @property
    def missing_sentence(self) -> str:
        """Says how many runs are left out."""
        return f"{len(self.missing)} of {len(self.record.runs)} runs are not complete and left out."

    def num_gpus(self, run: str) -> int | None:
        """GPUs of a run; None if it does not say."""
        number = (self.runs[run].meta.get("hardware") or {}).get("num_gpus")
        return number if isinstance(number, int) and number > 0 else None


def is_sweep(path: Path) -> bool:
    """Whether a path is the folder of a sweep rather than a run directory."""
    return (path / "sweep.json").is_file()


def _name(configuration: Mapping[str, Any], varied: Sequence[str]) -> str:
    if not varied:
        return str(configuration["policy"])
    return ", ".join(
        str(configuration[name]) if name == "policy" else f"{name} {configuration[name]}" for name in varied
    )
