from pathlib import Path

import pytest

from tests.sim.command import ROOT, command, row, write_rows
from tests.sim.trace.side_files import meta_of
from traces import read_trace

EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"


def test_traces_are_merged_under_the_names_of_their_files(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "a.jsonl", row(0, hash_ids=[5]), row(10))
    second = write_rows(tmp_path / "b.v2.jsonl", row(5, hash_ids=[5], session_id="s"))
    output = tmp_path / "m.jsonl"
    done = command("trace", "merge", first, second, second, "-o", output)
    assert done.notes[-1] == f"{output} is written, and how it was made to {tmp_path / 'm.meta.json'}."
    merged = read_trace(output)
    assert [each.request_id for each in merged.requests] == ["a/r0", "b-2/r0", "b-3/r0", "a/r1"]
    assert [each.hash_ids for each in merged.requests] == [(0,), (1,), (2,), None]
    assert merged.num_sessions == 2
    assert [source["name"] for source in meta_of(output)["sources"]] == [str(first), str(second), str(second)]
    assert meta_of(output)["digest"] == merged.digest
    shared = tmp_path / "s.jsonl"
    assert command("trace", "merge", first, second, "-o", shared, "--shared-prefixes").code == 0
    assert [each.hash_ids for each in read_trace(shared).requests] == [(5,), (5,), None]


def test_one_trace_is_nothing_to_merge(tmp_path: Path) -> None:
    done = command("trace", "merge", EXAMPLE, "-o", tmp_path / "m.jsonl")
    assert "is the only trace; give two or more to merge" in done.error


def test_rate_and_lengths_are_scaled(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    flags = ("--rate-scale", 2, "--output-scale", 0.5, "--input-scale", 0.25)
    done = command("trace", "scale", EXAMPLE, output, *flags)
    assert "Lengths scaled: prompts by 0.25, outputs by 0.5." in done.notes
    before, after = read_trace(EXAMPLE), read_trace(output)
    assert after.requests[9].arrival_s == pytest.approx((before.requests[9].arrival_s or 0) / 2)
    assert after.requests[9].output_length == round(before.requests[9].output_length / 2)
    assert after.requests[9].input_length == round(before.requests[9].input_length / 4)
    assert meta_of(output)["command"].endswith("--rate-scale 2.0 --input-scale 0.25 --output-scale 0.5")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ((), "Nothing is scaled; give --rate-scale, --input-scale or --output-scale"),
        (("--rate-scale", 0), "the rate scale is 0.0, but it must be a number above 0"),
        (("--output-scale", -1), "the output scale is -1.0"),
    ],
)
def test_what_cannot_be_is_a_sentence(flags: tuple[object, ...], sentence: str, tmp_path: Path) -> None:
    assert sentence in command("trace", "scale", EXAMPLE, tmp_path / "s.jsonl", *flags).error
    assert list(tmp_path.iterdir()) == []


def test_quiet_says_nothing_but_errors(tmp_path: Path) -> None:
    done = command("trace", "scale", EXAMPLE, tmp_path / "s.jsonl", "--rate-scale", 2, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert command("trace", "scale", EXAMPLE, tmp_path / "s.jsonl", "--rate-scale", 2, "--quiet").error
