"""Runs what a sweep's folder lacks, and looks closer where that was asked for."""

from collections.abc import Sequence

from analysis.load_curve import LoadCurve
from analysis.sweep import curves
from analysis.sweep_files import write_files
from sim.errors import SimError
from sim.sweeping.plan import SweepPlan
from sim.sweeping.point import Point
from sim.sweeping.refinement import middle_rate
from sim.sweeping.sweep_folder import SweepFolder
from sim.sweeping.sweep_progress import SweepProgress
from sim.sweeping.workers import Task, Workers


class Sweep:
    """A sweep under way.

    Args:
        plan: what to run.
        folder: where; it is claimed.
        workers: what runs it.
        progress: told of runs that are to be made and that have ended.
    """

    def __init__(self, plan: SweepPlan, folder: SweepFolder, workers: Workers, progress: SweepProgress) -> None:
        self._plan = plan
        self._folder = folder
        self._workers = workers
        self._progress = progress

    def run(self, rates: Sequence[float], num_refinements: int) -> list[LoadCurve]:
        """Make all runs and the frame.

        Args:
            rates: for every configuration.
            num_refinements: how often to halve, for each configuration, the distance between the highest rate that
                meets the SLO and the lowest that misses it.

        Raises:
            SimError: runs failed.
        """
        points = list(self._plan.points(rates))
        self._make(points, points)
        for _ in range(num_refinements):
            closer = [point for curve in curves(self._folder.path) for point in self._closer(curve)]
            if not closer:
                break
            points += closer
            self._make(closer, points)
        made = curves(self._folder.path)
        write_files(self._folder.path, made)
        return made

    def _closer(self, curve: LoadCurve) -> list[Point]:
        rate = middle_rate(curve)
        return [] if rate is None else [Point(curve.configuration, rate)]

    def _make(self, points: Sequence[Point], all_points: Sequence[Point]) -> None:
        self._folder.record(all_points)
        missing = [point for point in points if not self._folder.has(point)]
        self._progress.expect(len(points))
        self._progress.found(len(points) - len(missing))
        tasks = [Task(self._plan.of(point).settings, self._folder.run_path(point)) for point in missing]
        failures = self._workers.run(tasks, self._progress.run_ended)
        if failures:
            name, sentence = next(iter(failures.items()))
            others = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
            raise SimError(
                f"Run {name}{others} failed: {sentence.rstrip('.')}. {len(points) - len(failures)} of {len(points)} "
                "runs are complete; the same command makes what is missing."
            )
