"""ServeGen clients: rates in windows and length distributions, made into a trace with a seed."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from traces.errors import TraceError
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.servegen_lengths import LengthWindow, read_servegen_lengths
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND
from traces.trace_lines import TraceLines

NUM_FIELDS = 6
PATTERNS = ("Gamma", "Weibull", "")
USUAL_WINDOW_S = 600.0
MICROSECONDS = 10**6


class RateWindow(NamedTuple):
    """A row of the client's CSV file.

    Attributes:
        line: where it stands.
        start_s: when it begins.
        rate: requests a second.
        pattern: distribution of the gaps between arrivals; empty where the client was idle.
        shape: parameter of that distribution that says how bursty it is; its scale follows from the rate.
    """

    line: int
    start_s: float
    rate: float
    pattern: str
    shape: float


def read_servegen(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Make a trace of one client: `X-trace.csv`, which has no header, and `X-dataset.json` beside it.

    A window gets exactly as many requests as its rate says. Their gaps are drawn from its pattern and stretched so that
    they fill the window, which keeps their burstiness; lengths are drawn from the distribution of their time. Each
    window has a random stream of its own, so a part of the trace is the same as that part of the whole.

    Raises:
        TraceError: a file is not what it must be.
    """
    windows = [_rate_window(lines, line, content) for line, content in lines]
    lengths_path = dataset_path(lines.path)
    lengths = read_servegen_lengths(lengths_path)
    recording = Recording(lines, settings, origin_ns=0)
    num_drawn = 0
    for position, window in enumerate(windows):
        num = _num_requests(window, _width_s(windows, position, lines), num_drawn, settings, lines)
        if num:
            rng = np.random.default_rng([settings.seed, position])
            starts_ns = _starts_ns(window, _width_s(windows, position, lines), num, rng)
            _add(starts_ns, _lengths_at(lengths, window.start_s), num_drawn, recording, rng)
        num_drawn += num
    return recording.parsed(
        "Read as a ServeGen client, windows and rates in seconds.",
        f"Drawn with seed {settings.seed}: {num_drawn} requests in {len(windows)} windows, lengths from "
        f"{lengths_path.name}; parts of a prompt (text, image, audio, video) add up.",
    )


def is_servegen_row(fields: list[str]) -> bool:
    """Return whether the fields of a file's first line are those of a ServeGen client, which has no header."""
    return len(fields) == NUM_FIELDS and fields[3] in PATTERNS and all(map(_is_number, fields[:3] + fields[4:]))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and text.isascii() and "_" not in text
    except ValueError:
        return False


def _rate_window(lines: TraceLines, line: int, content: bytes) -> RateWindow:
    fields = content.decode(errors="replace").split(",")
    if not is_servegen_row(fields):
        right = "a window must be start, rate, CV, Gamma or Weibull or nothing, and its two parameters"
        raise lines.error(line, f"{content[:60].decode(errors='replace')!r} is no window: {right}")
    start_s, rate, shape = float(fields[0]), float(fields[1]), float(fields[4])
    window = RateWindow(line, start_s, rate, fields[3], shape)
    if not (0 <= start_s <= MAX_TIME_S and rate >= 0):
        raise lines.error(line, f"start and rate are {start_s} s and {rate} a second, but they must be numbers from 0")
    if rate and not (window.pattern and shape > 0):
        raise lines.error(
            line, f"the rate is {rate}, but pattern and shape are {fields[3]!r} and {shape}; a busy window has both"
        )
    return window


def _width_s(windows: list[RateWindow], position: int, lines: TraceLines) -> float:
    """How long a window is: until the next begins, the last as long as the one before."""
    if len(windows) == 1:
        return USUAL_WINDOW_S
    first = min(position, len(windows) - 2)
    width_s = windows[first + 1].start_s - windows[first].start_s
    if width_s <= 0:
        raise lines.error(windows[first + 1].line, "this window does not begin behind the one before; sort the file")
    return width_s


def _num_requests(
    window: RateWindow, width_s: float, num_before: int, settings: ReadSettings, lines: TraceLines
) -> int:
    num = window.rate * width_s
    if num_before + num > settings.max_requests:
        raise lines.error(
            window.line, f"a rate of {window.rate} a second makes more than {settings.max_requests:,} requests in all"
        )
    return round(num)


def _starts_ns(window: RateWindow, width_s: float, num: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw arrivals in a window, whole microseconds in nanoseconds.

    A window is filled by one gap more than there are arrivals:

        start                                     end
          |--gap--x-gap-x------gap------x---gap----|
    """
    draw = rng.gamma if window.pattern == "Gamma" else rng.weibull
    gaps = draw(window.shape, size=num + 1)
    total = gaps.sum()
    # A shape near 0 can make all gaps too small for a float: then nothing is known but the number.
    gaps = gaps / total if 0 < total < np.inf else np.full(num + 1, 1 / (num + 1))
    starts_us = np.floor((window.start_s + np.cumsum(gaps)[:-1] * width_s) * MICROSECONDS)
    return starts_us.astype(np.int64) * (NS_PER_SECOND // MICROSECONDS)


def _lengths_at(lengths: tuple[LengthWindow, ...], start_s: float) -> LengthWindow | None:
    return next((window for window in reversed(lengths) if window.start_s <= start_s), None)


def _add(
    starts_ns: npt.NDArray[np.int64],
    lengths: LengthWindow | None,
    first_index: int,
    recording: Recording,
    rng: np.random.Generator,
) -> None:
    num = len(starts_ns)
    if lengths is None or lengths.output is None:
        recording.drop("the dataset has no lengths for their time", num)
        return
    num_inputs = np.sum([pmf.draw(rng, num) for pmf in lengths.inputs], axis=0)
    num_outputs = lengths.output.draw(rng, num)
    for index, (start, num_input, num_output) in enumerate(zip(starts_ns, num_inputs, num_outputs, strict=True)):
        row = RecordedRow(first_index + index, first_index + index + 1, int(start), int(num_input), int(num_output))
        if not recording.drops(("a drawn prompt", row.input_length), ("a drawn output", row.output_length)):
            recording.add(row)


def dataset_path(trace_path: str) -> Path:
    """Return `X-dataset.json`, plain or compressed, for `X-trace.csv`.

    Raises:
        TraceError: the name of the trace is another, or there is no such file.
    """
    path = Path(trace_path)
    stem = path.name.removesuffix(".gz").removesuffix(".zst")
    if not stem.endswith("trace.csv"):
        raise TraceError(
            f"{path} is a ServeGen client, whose name must end in trace.csv, so that its length distributions can be "
            "found beside it in the file whose name ends in dataset.json"
        )
    base = path.with_name(f"{stem.removesuffix('trace.csv')}dataset.json")
    candidates = (base, base.with_name(f"{base.name}.gz"), base.with_name(f"{base.name}.zst"))
    found = next((candidate for candidate in candidates if candidate.exists()), None)
    if found is None:
        raise TraceError(f"{base} does not exist, but the length distributions of {path.name} must be there")
    return found
