import gzip
import hashlib
import json
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings

from tests.sim.command import ROOT, Done, command, row, write_rows
from tests.sim.trace.side_files import meta_of
from tests.traces.strategies import traces
from traces import Trace, read_trace, write_trace

EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"
AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-12 00:00:00+00:00,374,44
2024-05-12 00:00:00.009930+00:00,396,109
2024-05-12 00:00:01+00:00,0,55
2024-05-12 00:00:02.5+00:00,12,5
"""


def convert(*args: object) -> Done:
    return command("trace", "convert", *args)


@settings(max_examples=5)
@given(traces())
def test_native_to_native_is_equal_byte_by_byte(trace: Trace) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_trace(trace, folder / "a.jsonl")
        for end in ("", ".gz", ".zst"):
            output = folder / f"b.jsonl{end}"
            assert convert(folder / "a.jsonl", output, "--force").code == 0
            content = output.read_bytes()
            if end == ".gz":
                content = gzip.decompress(content)
            if end == ".zst":
                content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
            assert content == (folder / "a.jsonl").read_bytes()
            assert read_trace(output).digest == trace.digest == meta_of(output)["digest"]
            assert not any("tells of another content" in notice for notice in read_trace(output).notices)


def test_rows_of_azure_become_native_with_a_side_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(AZURE)
    done = convert("a.csv", "b.jsonl")
    assert done.notes[-1] == "b.jsonl is written, and how it was made to b.meta.json."
    assert "4 rows read: 3 kept, 1 dropped (1 because ContextTokens is 0)." in done.notes
    assert Path("b.jsonl").read_text() == (
        '{"timestamp":0,"input_length":374,"output_length":44}\n'
        '{"timestamp":9.93,"input_length":396,"output_length":109}\n'
        '{"timestamp":2500,"input_length":12,"output_length":5,"request_id":"r3"}\n'
    )
    meta = meta_of(Path("b.jsonl"))
    assert (meta["file"], meta["block_size"], meta["counts"]) == ("b.jsonl", 512, {"requests": 3, "later_turns": 0})
    assert meta["command"] == "python -m sim trace convert a.csv b.jsonl"
    assert meta["dropped"] == {"ContextTokens is 0": 1}
    assert meta["digest"] == read_trace("b.jsonl").digest == read_trace("a.csv").digest
    assert meta["settings"]["seed"] == 0
    (source,) = meta["sources"]
    assert (source["name"], source["num_bytes"], len(source["sha256"])) == ("a.csv", len(AZURE), 64)
    assert str(tmp_path) not in Path("b.meta.json").read_text()
    assert {"python", "numpy", "msgspec"} <= set(meta["versions"])


def test_the_same_command_makes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("t.csv").write_text(AZURE)
        assert convert("t.csv", "o.jsonl.zst", "--spread-ties", "uniform", "--seed", "4").code == 0
        contents.append((Path("o.jsonl.zst").read_bytes(), Path("o.meta.json").read_bytes()))
    assert contents[0] == contents[1]


def test_what_is_there_stays_unless_forced(tmp_path: Path) -> None:
    output = tmp_path / "o.jsonl"
    assert convert(EXAMPLE, output).code == 0
    assert convert(EXAMPLE, output).error == f"{output} exists; name another file, or replace it with --force."
    other = tmp_path / "o.jsonl.gz"
    assert "o.meta.json exists; name another file" in convert(EXAMPLE, other).error
    assert not other.exists()
    assert convert(EXAMPLE, output, "--limit", 5, "--force").code == 0
    assert read_trace(output).num_requests == 5
    before = hashlib.sha256(output.read_bytes()).hexdigest()
    assert convert(output, output, "--force", "--limit", 2).code == 0
    assert read_trace(output).num_requests == 2
    assert meta_of(output)["sources"][0]["sha256"] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.jsonl", "o.meta.json"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    bad = write_rows(tmp_path / "t.jsonl", *(row(at) for at in range(100)), row(-1))
    assert "line 101: timestamp is -1" in convert(bad, tmp_path / "o.jsonl").error
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert "cannot be written: No such file" in convert(EXAMPLE, tmp_path / "no" / "o.jsonl").error
    assert "is a directory; name a new file" in convert(EXAMPLE, tmp_path).error


def test_mooncake_keeps_its_own_and_names_what_it_cannot_carry(tmp_path: Path) -> None:
    rows = [row(0, 600, hash_ids=[0, 1]), row(3000, 1024, hash_ids=[0, 2])]
    trace = write_rows(tmp_path / "m.jsonl", *rows)
    assert convert(trace, tmp_path / "n.jsonl", "--to", "mooncake").code == 0
    assert [json.loads(line) for line in (tmp_path / "n.jsonl").read_text().splitlines()] == rows
    assert meta_of(tmp_path / "n.jsonl")["digest"] == read_trace(tmp_path / "n.jsonl").digest
    later = {"delay": 1500.5, "input_length": 700, "output_length": 4, "session_id": "s"}
    chat = write_rows(tmp_path / "c.jsonl", row(0, 600, session_id="s"), later)
    output = tmp_path / "d.jsonl"
    error = convert(chat, output, "--to", "mooncake").error
    assert "c.jsonl line 1: session_id (s) cannot be carried by Mooncake's format" in error
    error = convert(chat, output, "--to", "mooncake", "--drop", "session_id").error
    assert "c.jsonl line 2: timestamp_fraction (1500.5) cannot be carried" in error
    flags = ("--to", "mooncake", "--drop", "session_id", "--drop", "timestamp_fraction")
    done = convert(chat, output, *flags)
    assert "Left out: session_id of 2 requests, timestamp_fraction of 1 requests." in done.notes
    assert [json.loads(line)["timestamp"] for line in output.read_text().splitlines()] == [0, 1500]
    assert [json.loads(line)["hash_ids"] for line in output.read_text().splitlines()] == [[0, 1], [2, 3]]
    assert meta_of(output)["command"].endswith("--to mooncake --drop session_id --drop timestamp_fraction")


def test_ties_are_spread(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "t.jsonl", row(0), row(0), row(3000), row(3000), row(3000))
    assert convert(trace, tmp_path / "o.jsonl", "--spread-ties", "even").code == 0
    assert [each.arrival_s for each in read_trace(tmp_path / "o.jsonl").requests] == [0.0, 1.5, 3.0, 4.0, 5.0]
    flags = ("--spread-ties", "even", "--tie-resolution", "1s", "--force")
    assert convert(trace, tmp_path / "o.jsonl", *flags).code == 0
    assert [each.arrival_s for each in read_trace(tmp_path / "o.jsonl").requests][:2] == [0.0, 0.5]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("--to csv", "a trace cannot be written as 'csv'; it must be one of native, mooncake"),
        ("--drop output_length", "the field 'output_length' cannot be dropped"),
        ("--spread-ties evenly", "ties are spread 'evenly'"),
        ("--tie-resolution 1s", "--tie-resolution is 1s, but no ties are spread"),
        ("--spread-ties even --tie-resolution 3", "tie-resolution is '3'; it must be a number with a unit"),
    ],
)
def test_what_cannot_be_is_a_sentence(flags: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in convert(EXAMPLE, tmp_path / "o.jsonl", *flags.split()).error
    assert list(tmp_path.iterdir()) == []
