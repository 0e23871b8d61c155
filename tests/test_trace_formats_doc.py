"""docs/trace-formats.md says which keys of a result of `vllm bench serve` are read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import RunError
from analysis.vllm_import import import_vllm
from tests.doc_blocks import blocks_of
from tests.doc_links import broken_links
from tests.sim.command import ROOT

PATH = ROOT / "docs" / "trace-formats.md"
TEXT = PATH.read_text("utf-8")
RESULTS = TEXT[TEXT.index("## Results of vllm bench serve") :]
ROWS = [line.split("|")[1:-1] for line in RESULTS.splitlines() if line.startswith("| `")]


def keys_of(*, is_refused: bool) -> list[str]:
    """Keys that the table names, those without which a file is refused or the others."""
    return [
        key for row in ROWS if (row[2].strip() == "refused") == is_refused for key in re.findall(r"`(\w+)`", row[0])
    ]


@pytest.fixture
def values() -> dict[str, Any]:
    """The example."""
    (text,) = [block.text for block in blocks_of(RESULTS) if block.language == "json"]
    read: dict[str, Any] = json.loads(text)
    return read


def write(folder: Path, values: dict[str, Any]) -> Path:
    path = folder / "result.json"
    path.write_text(json.dumps(values))
    return path


def test_the_example_is_read(tmp_path: Path, values: dict[str, Any]) -> None:
    run = import_vllm(write(tmp_path, values), tmp_path / "run")
    assert run.has_trace
    assert run.summary["completed"] == len(values["errors"]) == 2
    assert run.summary["duration"] == values["duration"]
    assert (run.summary["mean_ttft_ms"], run.summary["total_output_tokens"]) == (375, 5)


@pytest.mark.parametrize("key", keys_of(is_refused=True))
def test_without_a_key_that_is_needed_a_file_is_refused(tmp_path: Path, values: dict[str, Any], key: str) -> None:
    del values[key]
    with pytest.raises(RunError, match=f"has no {key}"):
        import_vllm(write(tmp_path, values), tmp_path / "run")


def test_without_the_others_it_is_read(tmp_path: Path, values: dict[str, Any]) -> None:
    for key in keys_of(is_refused=False):
        values.pop(key, None)
    run = import_vllm(write(tmp_path, values), tmp_path / "run")
    assert not run.has_trace
    assert run.summary["mean_ttft_ms"] == 375


def test_sent_all_at_once_all_arrive_at_0(tmp_path: Path, values: dict[str, Any]) -> None:
    del values["start_times"]
    run = import_vllm(write(tmp_path, values | {"request_rate": "inf"}), tmp_path / "run")
    assert run.has_trace
    ramped = values | {"request_rate": "inf", "ramp_up_strategy": "linear"}
    assert not import_vllm(write(tmp_path, ramped), tmp_path / "ramped").has_trace


def test_a_figure_that_the_lists_do_not_bear_out_is_named(tmp_path: Path, values: dict[str, Any]) -> None:
    stated = [key for key in keys_of(is_refused=False) if key.startswith(("completed", "total", "mean"))]
    assert len(stated) == 5
    for key in stated:
        run = import_vllm(write(tmp_path, values | {key: 1e6}), tmp_path / key)
        assert any(notice.startswith(f"The file says {key} is 1e+06") for notice in run.notices)


def test_links_lead_somewhere() -> None:
    assert broken_links(PATH) == []
