"""A timeline of runs: requests, steps and levels side by side on one clock, for Perfetto."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.arrow_values import to_numpy
from analysis.errors import RunError
from analysis.heading import heading
from analysis.request_tracks import RequestTracks
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.step_columns import Bools
from analysis.step_track import StepTrack
from analysis.timeline_file import TimelineFile, Track, timeline_file
from analysis.timeline_window import TimelineWindow

_STEPS_TID = 1
_FIRST_REQUEST_TID = 2


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """What of a run is in a timeline.

    Attributes:
        name: of the run, as the timeline calls it.
        num_requests: requests that are drawn.
        num_requests_of: requests that the run has a record of and that had arrived.
        num_steps: steps that are drawn; None if a client recorded the run, which sees none.
        num_steps_of: steps of the run.
    """

    name: str
    num_requests: int
    num_requests_of: int
    num_steps: int | None
    num_steps_of: int

    @property
    def text(self) -> str:
        """For a person, such as "20 of 300 requests, 412 of 29053 steps"."""
        requests = f"{self.num_requests} of {self.num_requests_of} requests"
        return requests if self.num_steps is None else f"{requests}, {self.num_steps} of {self.num_steps_of} steps"


def write_timeline(runs: Sequence[Run], path: Path, window: TimelineWindow) -> tuple[DrawnRun, ...]:
    """Writes the timeline of one or several runs.

    Each run is a process: steps are its first thread, each request is a thread in trace order, and counters say how
    many requests run and wait and how full the KV cache is. All stand on one clock, the runs' own, from trace time 0.

    Args:
        runs: what to draw, complete or not.
        path: the file to make, compressed if its name ends in .gz; one that exists is replaced.
        window: what to draw of each.

    Returns:
        What was drawn, run by run.

    Raises:
        RunError: tables are damaged, nothing lies in the window, or the arrivals of a run are not known.
        OSError: the file cannot be written.
    """
    names = _names(runs)
    about = {"about": "made by twinserve; times are those of the runs' clocks, from trace time 0", "runs": names}
    with timeline_file(path, about) as file:
        drawn = [
            _draw(file, run, name, pid, window) for pid, (run, name) in enumerate(zip(runs, names, strict=True), 1)
        ]
        if not any(each.num_requests or each.num_steps for each in drawn):
            raise RunError(f"Nothing lies in the window: {'; '.join(f'{each.name}: {each.text}' for each in drawn)}.")
    return tuple(drawn)


def _names(runs: Sequence[Run]) -> list[str]:
    """Names of the directories, or paths where two are named alike."""
    names = [run.path.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.path) for run in runs]


def _draw(file: TimelineFile, run: Run, name: str, pid: int, window: TimelineWindow) -> DrawnRun:
    if not run.observation.has_arrivals:
        raise RunError(f"{run.path} has no arrival times: its requests stand on no common clock that could be drawn.")
    columns = RunColumns.of(run)
    tracks = RequestTracks(file, Track(pid, _FIRST_REQUEST_TID), run, columns)
    is_injected = columns.requests.is_injected
    index = to_numpy(run.table("requests", ["index"]).sort_by("index").column("index"))
    is_shown = window.holds_requests(index) & window.overlaps(columns.requests.arrival_s, tracks.ends_s)
    is_step_shown = window.overlaps(columns.steps.start_s, columns.steps.end_s)
    drawn = DrawnRun(
        name=name,
        num_requests=int(is_shown.sum()),
        num_requests_of=int(is_injected.sum()),
        num_steps=None if run.observation.by_client else int(is_step_shown.sum()),
        num_steps_of=len(columns.steps),
    )
    _describe(file, run, pid, drawn)
    if not run.observation.by_client:
        _draw_steps(file, run, pid, columns, is_step_shown)
    tracks.draw(is_shown)
    return drawn


def _describe(file: TimelineFile, run: Run, pid: int, drawn: DrawnRun) -> None:
    partial = "" if run.is_complete else "partial run, whose requests may have no record if they had not ended"
    labels = ", ".join(filter(None, (heading(run.meta), drawn.text, partial, run.observation.text)))
    file.describe("process_name", pid, None, {"name": drawn.name})
    file.describe("process_labels", pid, None, {"labels": labels})
    file.describe("process_sort_index", pid, None, {"sort_index": pid})


def _draw_steps(file: TimelineFile, run: Run, pid: int, columns: RunColumns, is_shown: Bools) -> None:
    track = Track(pid, _STEPS_TID)
    file.describe("thread_name", *track, {"name": "steps"})
    file.describe("thread_sort_index", *track, {"sort_index": _STEPS_TID})
    StepTrack(file, track, run, columns.steps).draw(is_shown)
