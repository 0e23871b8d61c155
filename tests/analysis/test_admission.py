from pathlib import Path
from typing import Any

import pytest

from analysis.admission import AdmissionLimits, Hold
from analysis.run_columns import RunColumns
from tests.run_builder import META, RunBuilder


def holds(builder: RunBuilder) -> list[Hold]:
    run = builder.build()
    return [Hold(code) for code in AdmissionLimits.of(run.meta).holds(RunColumns.of(run))]


def test_each_limit_shows_in_its_step(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[64], waiting=0, used=100)
    builder.step(prefill=[63], decode=1, waiting=3)
    builder.step(decode=4, waiting=3, running=4)
    builder.step(decode=2, waiting=3, running=2, used=98)
    assert holds(builder) == [Hold.NOTHING, Hold.TOKENS, Hold.SEQUENCES, Hold.KV_BLOCKS]


def test_sequences_that_end_in_the_step_held_their_place(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(decode=4, waiting=3, running=1)
    assert holds(builder) == [Hold.SEQUENCES]


def test_preemption_means_kv_blocks_even_at_a_full_budget(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[64], waiting=3, running=1)
    builder.event(0, "a", "preempted")
    assert holds(builder) == [Hold.KV_BLOCKS]


@pytest.mark.parametrize(("used", "expected"), [(98, Hold.TOKENS), (99, Hold.KV_BLOCKS)])
def test_whole_prompts_may_not_fit_the_rest_of_the_budget(tmp_path: Path, used: int, expected: Hold) -> None:
    builder = RunBuilder(tmp_path, settings=META["settings"] | {"chunked_prefill": False})
    builder.step(prefill=[60], waiting=1, used=used)
    builder.request("long", status="unfinished", input_tokens=17)
    assert holds(builder) == [expected]


@pytest.mark.parametrize("settings", [{}, {"max_num_seqs": None, "max_num_batched_tokens": "64", "block_size": True}])
def test_unknown_settings_bound_nothing(tmp_path: Path, settings: dict[str, Any]) -> None:
    builder = RunBuilder(tmp_path, settings=settings)
    builder.step(prefill=[64], decode=4, waiting=1, running=4, used=50)
    assert holds(builder) == [Hold.KV_BLOCKS]
