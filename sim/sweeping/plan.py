"""What a sweep is going to run, checked before anything runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sim.errors import SimError
from sim.parts import Parts, make_parts
from sim.prompt_texts import tokenise
from sim.replay import check_slo, fit_trace, load_trace
from sim.replay_settings import ReplaySettings
from sim.setting_sources import resolve
from sim.sweeping.axes import Axes
from sim.sweeping.file_digests import file_digests
from sim.sweeping.grid import Configuration, configurations
from sim.sweeping.named_combination import named_combination
from sim.sweeping.point import Point
from traces import Trace

NOT_COMPARED = ("rate_scale", "policy", "slo")
"""Settings in which a command may differ from the one that a folder was begun with."""

_OF_TRACE = (
    *("trace_format", "trace_block_size", "time_unit", "delay_rule", "api_time_scale", "max_delay_s", "request_rate"),
    *("tokenizer", "columns", "start_s", "end_s", "limit", "seed"),
)

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlannedConfiguration:
    """One combination of policy and settings.

    Attributes:
        values: of the varied settings.
        settings: with which it is replayed, at rate 1.
        recorded: these settings as its runs record them, with what the engine fills in.
    """

    values: Configuration
    settings: ReplaySettings
    recorded: ReplaySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """What a sweep runs, at rates that are still open. Made by `make_plan`.

    Attributes:
        trace: trace file.
        digests: of the trace's content, by the varied settings with which it is read.
        varied: names of the varied settings, `policy` first.
        settings: settings that all runs share.
        files: digests of files that settings name.
        configurations: in order.
        notices: sentences for the user.
    """

    trace: Path
    digests: Mapping[str, str]
    varied: tuple[str, ...]
    settings: Values
    files: Mapping[str, str]
    configurations: tuple[PlannedConfiguration, ...]
    notices: tuple[str, ...]

    @property
    def slo(self) -> str | None:
        """The SLO as written; no setting of a run changes it."""
        return self.configurations[0].settings.slo

    def points(self, rates: Sequence[float]) -> Iterator[Point]:
        """Every configuration at every rate."""
        return (Point(each.values, rate) for each in self.configurations for rate in rates)

    def of(self, point: Point) -> PlannedConfiguration:
        """The configuration of a point, at its rate."""
        (found,) = (each for each in self.configurations if each.values == point.configuration)
        scaled = (replace(settings, rate_scale=point.rate_scale) for settings in (found.settings, found.recorded))
        return PlannedConfiguration(found.values, *scaled)


def make_plan(
    trace: Path,
    flags: Values,
    config: Path | None,
    like: Path | None,
    policies: Sequence[str] | None,
    axes: Axes,
    rates: Sequence[float],
) -> SweepPlan:
    """Resolve and check all configurations, and read the trace.

    Args:
        trace: trace file.
        flags: settings given for all runs.
        config: TOML file with settings.
        like: run directory to take settings from.
        policies: names; None takes the policy of the other sources.
        axes: values of the settings that vary.
        rates: at which all of them shall run.

    Raises:
        SimError: a setting or combination of settings cannot be, or is none of a sweep.
        TraceError: the file is no trace, or nothing of it is left.
        SheetError: a model or GPU is not known.
        SettingError: sizes are out of range or do not fit each other.
        PolicyError: a policy of one's own has rules that are none.
    """
    twice = sorted(set(flags) & set(axes))
    if twice:
        raise SimError(f"{twice[0]} is given both as a setting of all runs and with --set; leave one of them.")
    base = _base(flags, config, like)
    kept, notices = configurations(policies or (base.policy,), axes)
    settings = [resolve(_simulated(flags, like) | values, config, like) for values in kept]
    planned, seen, digests = [], dict.fromkeys(notices), dict[str, str]()
    traces: dict[str, Trace] = {}
    for values, given in zip(kept, settings, strict=True):
        reading = ",".join(f"{name}={values[name]}" for name in axes if name in _OF_TRACE)
        if reading not in traces:
            with named_combination(values, is_one_of_many=bool(reading)):
                traces[reading] = _loaded(trace, given, min(rates))
            digests[reading] = traces[reading].digest
        with named_combination(values, is_one_of_many=len(kept) > 1):
            recorded, said = _checked(given, traces[reading], rates)
        seen |= dict.fromkeys(said)
        planned.append(PlannedConfiguration(values, given, recorded))
    shared = {name: value for name, value in _plain(base).items() if name not in (*axes, *NOT_COMPARED)}
    return SweepPlan(
        trace=trace,
        digests=digests,
        varied=("policy", *axes),
        settings=shared,
        files=file_digests([*shared.values(), *(value for values in kept for value in values.values())]),
        configurations=tuple(planned),
        notices=tuple(seen),
    )


def _base(flags: Values, config: Path | None, like: Path | None) -> ReplaySettings:
    given = resolve(flags, config, None)
    if given.backend != "sim":
        raise SimError(
            f"backend is {given.backend!r}, but a sweep runs on cost models; on a GPU, replay one run at a time."
        )
    if given.pace == "wall":
        raise SimError("pace is 'wall', but a sweep runs side by side at virtual pace; leave it out.")
    check_slo(given)
    if given.rate_scale != 1:
        raise SimError(f"rate_scale is {given.rate_scale}, but a sweep's rates are given with --rates; leave it out.")
    return resolve(_simulated(flags, like), config, like)


def _simulated(flags: Values, like: Path | None) -> Values:
    """Flags that let a run on a GPU be the one to take settings from."""
    return flags if like is None else {"backend": "sim", **flags}


def _loaded(path: Path, settings: ReplaySettings, lowest_rate: float) -> Trace:
    """The trace at rate 1, which the lowest rate can still stretch."""
    trace = load_trace(path, settings)
    if lowest_rate < 1:
        trace.scaled(lowest_rate)
    return trace


def _checked(settings: ReplaySettings, trace: Trace, rates: Sequence[float]) -> tuple[ReplaySettings, tuple[str, ...]]:
    """What its runs record, and notices on trace and engine."""
    parts = make_parts(settings)
    with closing(parts.engine.backend):
        _check_recorded(parts, rates)
        tokenised, _ = tokenise(trace, parts.engine.tokenizer)
        fitted = fit_trace(tokenised, parts)
        return parts.settings, (*fitted.notices, *parts.notices)


def _check_recorded(parts: Parts, rates: Sequence[float]) -> None:
    """Step times of a run belong to its own steps, and another rate makes others."""
    cost = parts.engine.cost
    if cost is not None and cost.kind == "recorded" and len(rates) > 1:
        raise SimError(
            f"cost is {parts.settings.cost!r}, a run's step times, which hold for the steps of that run alone and not "
            f"at {len(rates)} rates; give --cost roofline or a file of `sim calibrate`, or that run's rate alone."
        )


def _plain(settings: ReplaySettings) -> Values:
    """As they come back from JSON."""
    values: Values = json.loads(json.dumps(asdict(settings)))
    return values


def differing(recorded: Mapping[str, Any], expected: ReplaySettings) -> str | None:
    """Name of the first setting in which a run differs from what is expected; the SLO does not count."""
    wanted = _plain(expected)
    names = [name for name in (*wanted, *recorded) if name != "slo"]
    return next((name for name in names if recorded.get(name) != wanted.get(name)), None)
