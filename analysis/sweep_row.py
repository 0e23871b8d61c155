"""One run of a sweep as a row of its frame."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from analysis.errors import RunError
from analysis.run import Run
from analysis.slo import Slo
from analysis.summary import summarise
from analysis.sweep_columns import FIGURES

Row = dict[str, Any]

_OF_SLO = ("request_goodput", "slo_attainment")


def sweep_row(run: Run, varied: Mapping[str, Any], slo: Slo | None) -> Row:
    """Takes the figures of a run, without those that need its neighbours.

    Args:
        run: complete.
        varied: its values of the varied settings.
        slo: limits for goodput and attainment; they may differ from those it was made with.

    Raises:
        RunError: its summary lacks a figure, or has one of another kind.
    """
    summary = _summary(run, slo)
    _check_kinds(run, summary)
    try:
        figures = {column.name: summary[column.name] for column in FIGURES}
        cost_model = _cost_model(summary.get("cost_model") or {})
        return {"run": run.path.name, **varied, **figures, **cost_model, **_verdict(summary["verdict"])}
    except KeyError as error:
        raise RunError(
            f"{run.path / 'summary.json'} lacks {error}; remove that run, so that it is made anew."
        ) from None


def _check_kinds(run: Run, summary: Row) -> None:
    verdict = summary.get("verdict")
    numbers = {column.name: summary.get(column.name) for column in FIGURES if column.type != pa.string()}
    if isinstance(verdict, dict):
        numbers |= {name: verdict.get(name) for name in ("arrivals_per_s", "num_arrivals")}
    wrong = {name: value for name, value in numbers.items() if not _is_number(value)}
    wrong |= {
        name: summary[name] for name in ("cost_model", "verdict") if not isinstance(summary.get(name), dict | None)
    }
    for name, value in wrong.items():
        raise RunError(
            f"{run.path / 'summary.json'}: {name} is {value!r}, which it cannot be; remove that run, so that it is "
            "made anew."
        )


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _summary(run: Run, slo: Slo | None) -> Row:
    summary = run.summary
    assert summary is not None, "a run that is complete has one"
    if run.meta.get("slo") == (None if slo is None else dict(slo.limits_s)):
        return summary
    # Without limits `summarise` would take those of the run.
    other = {} if slo is None else summarise(run, slo=slo)
    return summary | {name: other.get(name) for name in _OF_SLO}


def _cost_model(block: Mapping[str, Any]) -> Row:
    return {"cost_model": block.get("kind"), "outside_share": block.get("outside_share")}


def _verdict(verdict: Mapping[str, Any]) -> Row:
    rate_per_s = verdict["arrivals_per_s"]
    return {
        "verdict": verdict["status"],
        "limited_by": verdict["limited_by"],
        "arrivals_per_s": rate_per_s,
        "arrival_span_s": verdict["num_arrivals"] / rate_per_s if rate_per_s else None,
    }
