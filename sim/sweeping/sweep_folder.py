"""The folder of a sweep: what it was begun with, and which of its runs are complete."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.run import load
from analysis.run_meta import check_name
from analysis.sweep import is_complete
from analysis.sweep_files import remove_files
from analysis.sweep_record import FILE, SweepRecord
from sim.errors import SimError
from sim.sweeping.plan import SweepPlan, differing
from sim.sweeping.point import Point


class SweepFolder:
    """A folder that belongs to a sweep.

    Args:
        path: the folder; it need not exist.
        plan: the sweep.
        slo: limits in seconds by metric.
        attainment: share of requests that must meet them.
    """

    def __init__(self, path: Path, plan: SweepPlan, slo: Mapping[str, float] | None, attainment: float) -> None:
        self.path = path
        self._plan = plan
        self._slo = slo
        self._attainment = attainment

    def claim(self) -> None:
        """Make the folder, or see that it was begun with the same trace and settings.

        Raises:
            SimError: it holds something else.
            RunError: what it holds is damaged.
        """
        check_name(self.path)
        if (self.path / FILE).exists():
            self._check(SweepRecord.read(self.path))
            return
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise SimError(f"{self.path} exists and is not the folder of a sweep; name a new one, or remove it.")
        self.path.mkdir(parents=True, exist_ok=True)

    def record(self, points: Sequence[Point]) -> None:
        """Write down which runs belong to the sweep; its frame is gone until they are complete."""
        remove_files(self.path)
        order = [each.values for each in self._plan.configurations]
        ordered = sorted(points, key=lambda point: (order.index(dict(point.configuration)), point.rate_scale))
        plan = self._plan
        SweepRecord(
            trace={"name": plan.trace.name, "digests": plan.digests},
            settings=plan.settings,
            files=plan.files,
            varied=plan.varied,
            slo=self._slo,
            attainment=self._attainment,
            runs={point.name: point.values for point in ordered},
        ).write(self.path)

    def run_path(self, point: Point) -> Path:
        """The run directory of a point."""
        return self.path / point.name

    def has(self, point: Point) -> bool:
        """Whether its run is complete; one that is not is removed, so that it can be made.

        Raises:
            SimError: a run of other settings has its place.
            RunError: what has its place is no run directory.
        """
        path = self.run_path(point)
        if not path.exists():
            return False
        if is_complete(path):
            self._check_settings(path, load(path).meta["settings"], point)
            return True
        if path.is_dir() and all(file.suffix == ".tmp" for file in path.iterdir()):
            shutil.rmtree(path)  # stopped before it had written anything
        else:
            load(path)  # raises if this is anything but a run that was stopped
            shutil.rmtree(path)
        return False

    def _check_settings(self, path: Path, recorded: Mapping[str, Any], point: Point) -> None:
        expected = self._plan.of(point).recorded
        name = differing(recorded, expected)
        if name is not None:
            raise SimError(
                f"{path} was run with {name} {recorded.get(name)!r}, not {getattr(expected, name, None)!r}; name "
                "another folder, or remove that run."
            )

    def _check(self, found: SweepRecord) -> None:
        """Compare with what the folder was begun with."""
        remedy = "name another folder with --output."
        if found.varied != self._plan.varied:
            was, now = (", ".join(names) for names in (found.varied, self._plan.varied))
            raise SimError(f"The sweep in {self.path} varies {was}, not {now}; {remedy}")
        digests = found.trace.get("digests", {})
        if any(digests.get(reading, digest) != digest for reading, digest in self._plan.digests.items()):
            raise SimError(f"The sweep in {self.path} is of another trace or part of it; {remedy}")
        for name, value in self._plan.settings.items():
            if found.settings.get(name) != value:
                raise SimError(
                    f"The sweep in {self.path} has {name} {found.settings.get(name)!r}, not {value!r}; {remedy}"
                )
        for name, digest in self._plan.files.items():
            if found.files.get(name, digest) != digest:
                raise SimError(f"{name} has changed since the sweep in {self.path} was begun; {remedy}")
