"""Agreement as Markdown."""

from collections.abc import Iterator, Sequence

from backends.simulated.step_class import STEP_CLASSES
from benchmarks.fidelity.agreement import Agreement
from benchmarks.fidelity.metric_error import METRICS, MetricError


def markdown(agreements: Sequence[Agreement]) -> str:
    """All tables."""
    parts = _metrics(agreements), _host_known(agreements), _spreads(agreements), _bias(agreements)
    return "\n".join([line for part in parts for line in (*part, "")])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _metrics(agreements: Sequence[Agreement]) -> Iterator[str]:
    yield "Each cell: measured, error of the simulation in % and in the unit; **bold** where the target is missed."
    yield ""
    titles = [f"{metric.title}, {metric.unit}" for metric in METRICS]
    yield _row("run", "steps", "decisions", *titles, "preemptions", "outside, %", "targets")
    yield _row("---", "---:", "---", *["---:"] * len(METRICS), "---:", "---:", "---")
    for each in agreements:
        cells = [_cell(error, is_missed=error.is_met(each.share) is False) for error in each.errors]
        real, simulated = each.num_preemptions
        yield _row(
            each.name, f"{each.num_steps:,}", each.decisions, *cells, f"{real} / {simulated}",
            f"{100 * each.outside_share:.1f}", "missed: " + ", ".join(each.missed) if each.missed else "met",
        )  # fmt: skip


def _host_known(agreements: Sequence[Agreement]) -> Iterator[str]:
    yield "The same when the simulation is told how quick the run's host was (`--host-probe-us`): errors in %."
    yield ""
    yield _row("run", "probe, us", *[metric.title for metric in METRICS], "targets")
    yield _row("---", "---:", *["---:"] * len(METRICS), "---")
    for each in agreements:
        if each.host_probe_us is not None:
            cells = [_percent(error, is_missed=error.is_met(each.share) is False) for error in each.host_known]
            missed = "missed: " + ", ".join(each.missed_host_known) if each.missed_host_known else "met"
            yield _row(each.name, f"{each.host_probe_us:.1f}", *cells, missed)


def _percent(error: MetricError, *, is_missed: bool) -> str:
    text = "-" if error.percent is None else f"{error.percent:+.2f}"
    return f"**{text}**" if is_missed else text


def _cell(error: MetricError, *, is_missed: bool) -> str:
    if error.real is None or error.difference is None or error.percent is None:
        return "-"
    text = f"{error.real:,.2f} {error.percent:+.2f} % ({error.difference:+,.2f})"
    return f"**{text}**" if is_missed else text


def _spreads(agreements: Sequence[Agreement]) -> Iterator[str]:
    repeated = [each for each in agreements if any(error.spread is not None for error in each.errors)]
    yield "Difference of two real runs of one trace, in % of the run's figure: an error below it is noise."
    yield ""
    yield _row("run", *[metric.title for metric in METRICS])
    yield _row("---", *["---:"] * len(METRICS))
    for each in repeated:
        yield _row(each.name, *[_spread(error) for error in each.errors])


def _spread(error: MetricError) -> str:
    return f"{100 * error.spread / error.real:.2f}" if error.spread is not None and error.real else "-"


def _bias(agreements: Sequence[Agreement]) -> Iterator[str]:
    """Predicted over measured time of all steps of a class."""
    names = [name for name in (*STEP_CLASSES, "all") if any(name in each.bias.classes for each in agreements)]
    yield (
        "Bias of step times in %, predicted for the run's own steps with the host's speed known: time of all steps of "
        "a class (their number); last, what device and host have of that of all."
    )
    yield ""
    yield _row("run", *names, "device", "host")
    yield _row("---", *["---:"] * (len(names) + 2))
    for each in agreements:
        errors = [each.bias.classes.get(name) for name in names]
        cells = [f"{error.bias_percent:+.2f} ({error.num_steps:,})" if error else "-" for error in errors]
        yield _row(each.name, *cells, f"{each.bias.device_percent:+.2f}", f"{each.bias.host_percent:+.2f}")
