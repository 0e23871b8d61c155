"""Every recorded decision is ours too, on a backend that checks what each row reads; and the cases notice a change."""

import gzip
from pathlib import Path

import pytest
import typer

from engine import View
from tests.golden.__main__ import main
from tests.golden.case import Case, read_cases
from tests.golden.compare import compare
from tests.golden.replay import Execute, RecordedTokens, replay
from tests.golden.rule_changes import CHANGES, Plant
from tests.kv_checking_backend import KvCheckingBackend

FOLDER = Path(__file__).parent / "cases"
CASES = [case for name in ("nano", "vllm_0.25", "vllm_0.33") for case in read_cases(FOLDER / f"{name}.pack.jsonl.gz")]
GHOSTS = {case.name: case for case in read_cases(FOLDER / "ghosts.pack.jsonl.gz")}


def checked(case: Case) -> Execute:
    """Returns the recorded tokens and checks every read and write."""
    return KvCheckingBackend(case.config["num_blocks"], case.config["block_size"], RecordedTokens(case)).execute


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decisions_are_identical_and_every_read_is_right(case: Case) -> None:
    comparison = compare(case, execute=checked(case))

    assert comparison.outcome == "identical", comparison.line


@pytest.mark.parametrize(
    ("name", "num_computed", "num_recorded_hits", "num_left"),
    [("vllm_ghost_bs4", 24, 28, 8), ("vllm033_ghost_bs4", 32, 36, 12)],
)
def test_ghosts_are_not_hit(name: str, num_computed: int, num_recorded_hits: int, num_left: int) -> None:
    """r0's chunk is planned in step 3 and withdrawn when r1 needs the block: what it would have filled holds nothing.

    The recorded run hits one such block at r0's return in step 5. Ours finds just what steps 0 to 2 have computed, and
    computes the rest, by 8 (the threshold) in version 0.25 and at once in 0.33, where a lone request has no threshold.
    """
    case = GHOSTS[name]
    ours = list(replay(case, case.policy(), checked(case)))

    assert ours[:5] == case.golden[:5]
    assert case.golden[5]["admitted"] == [["r0", num_recorded_hits]]
    assert sum(dict(line["scheduled"]).get("r0", 0) for line in ours[:3]) == num_computed
    assert ours[5]["admitted"] == [["r0", num_computed]]
    assert ours[5]["scheduled"] == [["r0", num_left]]


@pytest.mark.parametrize("case", GHOSTS.values(), ids=GHOSTS)
def test_with_the_keys_of_withdrawn_rows_kept_the_ghosts_are_as_recorded(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the dropped keys are the only difference; what is read then is wrong, and the backend says so."""
    monkeypatch.setattr(View, "_forget_uncomputed", lambda self, owner: None)

    assert compare(case).outcome == "identical"
    with pytest.raises(AssertionError, match="which nobody has written"):
        compare(case, execute=checked(case))


@pytest.mark.parametrize(
    ("name", "other_version"), [("vllm_priority_self_bs4", "0.33"), ("vllm033_threshold_lone_bs16", "0.25")]
)
def test_the_two_vllm_versions_are_told_apart(name: str, other_version: str) -> None:
    (case,) = [case for case in CASES if case.name == name]

    assert compare(case, other_version).outcome == "differs"


@pytest.mark.parametrize("plant", CHANGES.values(), ids=CHANGES)
def test_a_change_of_one_rule_breaks_a_case(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    assert any(is_broken(case) for case in sorted(CASES, key=lambda case: len(case.golden)))


def is_broken(case: Case) -> bool:
    """Whether a case differs, or cannot even be run."""
    try:
        return compare(case).outcome == "differs"
    except Exception:  # whatever a changed rule leads to
        return True


def test_the_command_counts_ghosts_apart_and_fails_on_any_other_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        main([FOLDER / "ghosts.pack.jsonl.gz"])
    assert ended.value.exit_code == 0
    assert capsys.readouterr().out.endswith("0 identical, 0 differs, 2 expected to differ, 0 not compared\n")

    other = tmp_path / "other.pack.jsonl.gz"
    text = gzip.decompress((FOLDER / "ghosts.pack.jsonl.gz").read_bytes())
    other.write_bytes(gzip.compress(text.replace(b"_ghost_", b"_other_")))
    with pytest.raises(typer.Exit) as ended:
        main([other])
    assert ended.value.exit_code == 1
