"""Plots of what is left between predicted and measured step times."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.cost_model import FloatColumn, StepColumns
from backends.simulated.calibration_file import load_calibration
from backends.simulated.step_class import STEP_CLASSES, step_classes
from sim.fitting.fit import predicted_times
from sim.fitting.measured import read_measured
from sim.fitting.samples import Samples

_MAX_POINTS = 1_500
_BINS = 24


def residual_plots(costs: Mapping[Path, Path], folder: Path) -> list[Path]:
    """One picture for each class of steps: residuals over tokens, over contexts and over the predicted time.

    Args:
        costs: runs whose steps to plot, each with a calibration.
        folder: gets the pictures.

    Returns:
        The files.
    """
    parts = [read_measured(run).at_reference for run in costs]
    fits = [load_calibration(cost).times for cost in costs.values()]
    samples = Samples.joined(parts)
    predicted_s = np.concatenate(
        [predicted_times(times, part).duration_s for times, part in zip(fits, parts, strict=True)]
    )
    residual = 100 * (predicted_s / samples.times.duration_s - 1)
    classes = step_classes(samples.steps)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, name in enumerate(STEP_CLASSES):
        rows = classes == number
        if rows.any():
            path = folder / f"residuals-{name.replace(' ', '-')}.png"
            steps = StepColumns(*(column[rows] for column in samples.steps))
            _plot(name, _axes(steps, predicted_s[rows]), residual[rows], samples.times.duration_s[rows], path)
            files.append(path)
    return files


def _axes(steps: StepColumns[FloatColumn], predicted_s: FloatColumn) -> dict[str, FloatColumn]:
    tokens = steps.num_prefill_tokens + steps.num_decode_seqs
    axes = {
        "tokens": tokens,
        "context of decode rows, tokens": steps.decode_context,
        "longest context, tokens": steps.max_context,
        "predicted, ms": 1000 * predicted_s,
    }
    # Steps of chunks alone have no context of decode rows.
    return {label: values for label, values in axes.items() if values.any()}


def _plot(title: str, axes: dict[str, FloatColumn], residual: FloatColumn, weights: FloatColumn, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(axes), 3), layout="constrained")
    figure.suptitle(f"{title}: predicted over measured step time, {len(residual):,} steps")
    shown = slice(None, None, 1 + len(residual) // _MAX_POINTS)
    low, high = np.percentile(residual, [1, 99])
    for plot, (label, x) in zip(np.atleast_1d(figure.subplots(1, len(axes), sharey=True)), axes.items(), strict=True):
        plot.plot(x[shown], residual[shown], ".", markersize=1, alpha=0.3)
        plot.plot(*_means(x, residual, weights), "-", linewidth=1.5, label="bias of the time of nearby steps")
        plot.axhline(0, linewidth=0.5)
        plot.set(xlabel=label, xscale="log", ylim=(min(low, -5) - 2, max(high, 5) + 2))
    plot.legend(fontsize="x-small")
    figure.axes[0].set_ylabel("error, %")
    figure.savefig(path, dpi=52)


def _means(x: FloatColumn, residual: FloatColumn, weights: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    """Middle of each bin of equally many steps, and the time-weighted mean residual in it."""
    order: NDArray[np.intp] = np.argsort(x, kind="stable")
    bins = [part for part in np.array_split(order, _BINS) if len(part)]
    middles = np.array([np.median(x[part]) for part in bins])
    return middles, np.array([np.average(residual[part], weights=weights[part]) for part in bins])
