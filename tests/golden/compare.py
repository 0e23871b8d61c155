"""Compares one case step by step."""

from dataclasses import dataclass
from typing import Literal

from tests.golden.case import Case, Json
from tests.golden.replay import Execute, replay


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outcome of one case, with the line to print."""

    outcome: Literal["identical", "differs", "not compared"]
    line: str


def compare(case: Case, vllm_version: str | None = None, execute: Execute | None = None) -> Comparison:
    """Replay a case; the first field that differs is told with both sides."""
    if case.is_async:
        return Comparison("not compared", f"{case.name}: not compared: recorded with asynchronous scheduling")
    *golden, summary = case.golden
    ours: list[Json] = []
    for step, line in enumerate(replay(case, case.policy(vllm_version), execute)):
        if line != golden[step]:
            return Comparison("differs", f"{case.name}: differs at step {step}: {_difference(line, golden[step])}")
        ours.append(line)
    if difference := _summary_difference(ours, summary):
        return Comparison("differs", f"{case.name}: differs in its summary: {difference}")
    hits = sum(tokens for line in ours for _, tokens in line["admitted"])
    preempted = sum(len(line["preempted"]) for line in ours)
    return Comparison(
        "identical", f"{case.name}: identical, {len(ours)} steps, {preempted} preempted, {hits} tokens hit"
    )


def _difference(ours: Json, golden: Json) -> str:
    parts = [f"{key} ours {ours.get(key)} recorded {golden[key]}" for key in golden if ours.get(key) != golden[key]]
    extra = [f"{key} ours {ours[key]} not recorded" for key in ours if key not in golden]
    return "; ".join(parts + extra)


def _summary_difference(ours: list[Json], golden: Json) -> str:
    sums = {
        "steps": len(ours),
        "finished": sum(len(line["finished"]) for line in ours),
        "preemptions": sum(len(line["preempted"]) for line in ours),
        "scheduled_tokens": sum(tokens for line in ours for _, tokens in line["scheduled"]),
        "hit_tokens": sum(tokens for line in ours for _, tokens in line["admitted"]),
    }
    return "; ".join(f"{key} ours {sums[key]} recorded {golden[key]}" for key in sums if sums[key] != golden[key])
