"""One recorded run: settings, requests, and what the published scheduler decided at each step."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import Limits, NanoVllmPolicy, Policy, Request, SamplingParams, TokenPrompt, VllmPolicy

Json = dict[str, Any]


class CaseError(ValueError):
    """A path holds no case, or a case that cannot be read."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case as recorded: `config`, `workload` (one request each) and `golden` (one step each, then a summary)."""

    name: str
    config: Json
    workload: list[Json]
    golden: list[Json]

    @property
    def is_async(self) -> bool:
        """Whether it was recorded with asynchronous scheduling, which this engine does not have."""
        return bool(self.config["async_scheduling"])

    @property
    def limits(self) -> Limits:
        """Its limits."""
        names = ("block_size", "max_num_batched_tokens", "max_num_seqs", "max_model_len")
        return Limits(**{name: self.config[name] for name in names})

    def policy(self, vllm_version: str | None = None) -> Policy:
        """The policy that it was recorded from; `vllm_version` overrides the recorded one."""
        config = self.config
        if config["engine"] == "nano-vllm":
            return NanoVllmPolicy()
        return VllmPolicy(
            scheduling_policy=config["policy"],
            chunked_prefill=config["enable_chunked_prefill"],
            prefix_caching=config["enable_prefix_caching"],
            long_prefill_token_threshold=config["long_prefill_token_threshold"],
            watermark=config["watermark"],
            reserve_full_prompt=config["scheduler_reserve_full_isl"],
            vllm_version=vllm_version or ".".join(config["version"].split(".")[:2]),  # type: ignore[arg-type]  # checked there
        )

    def arrivals(self) -> dict[int, list[Request]]:
        """Requests by the step before which they are added."""
        by_step: dict[int, list[Request]] = {}
        for row in self.workload:
            by_step.setdefault(row["arrival_step"], []).append(_request(row))
        return by_step


def _request(row: Json) -> Request:
    tokens = [1 + (seed * 1000003 + j * 7919) % 50000 for seed, length in row["segments"] for j in range(length)]
    params = SamplingParams(max_tokens=row["max_tokens"], ignore_eos=True)
    return Request(row["id"], TokenPrompt(tokens), params, row.get("priority", 0))


def output_token(index: int, position: int) -> int:
    """The `position`-th output token (from 0) of the workload's request `index`, as recorded runs had it."""
    return 1 + (index * 104729 + position * 1299709) % 50000


def read_cases(path: Path) -> Iterator[Case]:
    """All cases in a case folder, a pack, or a folder of these.

    Raises:
        CaseError: nothing there can be read as a case.
    """
    try:
        if path.name.endswith(".pack.jsonl.gz"):
            yield from (Case(row["case"], row["config"], row["workload"], row["golden"]) for row in _rows(path))
        elif (path / "config.json").is_file():
            yield _folder_case(path)
        elif path.is_dir() and (inner := _inner_paths(path)):
            for each in inner:
                yield from read_cases(each)
        else:
            raise CaseError(f"{path} is neither a case folder (with a config.json) nor a .pack.jsonl.gz file.")
    except (OSError, json.JSONDecodeError, KeyError) as error:
        raise CaseError(f"{path} cannot be read as a case: {error!r}.") from error


def _inner_paths(path: Path) -> list[Path]:
    return sorted(each for each in path.iterdir() if each.is_dir() or each.name.endswith(".pack.jsonl.gz"))


def _folder_case(path: Path) -> Case:
    plain = path / "golden.jsonl"
    golden = plain if plain.exists() else path / "golden.jsonl.gz"
    config = json.loads((path / "config.json").read_text())
    return Case(path.name, config, list(_rows(path / "workload.jsonl")), list(_rows(golden)))


def _rows(path: Path) -> Iterator[Json]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            yield json.loads(line)
