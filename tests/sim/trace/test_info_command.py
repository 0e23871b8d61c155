import json
from pathlib import Path
from typing import Any

import pytest

from tests.sim.command import ROOT, Done, command, row, write_rows

EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"


def info(*args: object) -> Done:
    return command("trace", "info", *args)


def facts(*args: object) -> list[dict[str, Any]]:
    done = info(*args, "--json")
    assert done.code == 0, done
    value = json.loads(done.out)
    assert isinstance(value, list)
    return value


def test_text_says_format_unit_load_lengths_and_reuse() -> None:
    done = info(EXAMPLE, "--cache-tokens", "10k,1M", "--max-model-len", 8192)
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    for part in (
        "Read as native JSON lines (Mooncake fields), timestamp and delay in milliseconds. Format native,",
        "300 requests. 300 arrive over 244.176 s, 1.229 a second.",
        "coefficient of variation 1 (Poisson: 1), longest 4.325 s",
        "in 1 s (at most 5)",
        "prompt   3,069.3",
        "Prefix reuse, LRU caches of blocks of 512 tokens;",
        "Warning: 15 requests (5 %) are longer than 8,192 tokens",
    ):
        assert part in done.out
    lines = done.out.splitlines()
    assert [line.split()[:3] for line in lines if line.startswith("LRU")] == [
        ["LRU", "19", "10,000"],
        ["LRU", "1,953", "1,000,000"],
    ]


def test_json_has_the_figures_of_each_trace(tmp_path: Path) -> None:
    other = write_rows(
        tmp_path / "t.jsonl",
        row(0, 1024, session_id="s", hash_ids=[4, 5]),
        row(2000, 512, hash_ids=[4]),
        {"delay": 1000, "input_length": 1536, "output_length": 4, "session_id": "s", "hash_ids": [4, 5, 6]},
    )
    first, second = facts(EXAMPLE, other, "--cache-blocks", "1,2")
    assert (first["format"], first["num_requests"], first["is_streamed"]) == ("native", 300, True)
    assert (second["trace"], second["num_requests"], second["is_streamed"]) == (str(other), 3, False)
    assert (second["sessions"]["num"], second["sessions"]["mean_turns"]) == (1, 2.0)
    assert second["arrivals"]["rate"] == 1.0
    # The later turn comes at 1 s, before the other request.
    assert second["reuse"]["infinite"]["block_share"] == pytest.approx(3 / 6)
    assert [each["num_blocks"] for each in second["reuse"]["lru"]] == [1, 2]
    assert [each["block_share"] for each in second["reuse"]["lru"]] == pytest.approx([2 / 6, 3 / 6])
    assert second["dropped"] == {}


def test_a_trace_of_one_request_and_one_without_ids(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "t.jsonl", row(5))
    done = info(trace)
    assert "1 requests. 1 arrive at one time, 0.005 s." in done.out
    assert "Prefix reuse: the trace does not say what prompts hold" in done.out
    assert facts(trace)[0]["reuse"] is None


def test_dropped_rows_and_a_changed_file_are_told(tmp_path: Path) -> None:
    azure = tmp_path / "a.csv"
    azure.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-12 00:00:00,9,1\n2024-05-12 00:00:01,9,0\n")
    done = info(azure)
    assert "2 rows read: 1 kept, 1 dropped (1 because GeneratedTokens is 0)." in done.out
    assert "Warning: 1 rows are not replayed because GeneratedTokens is 0." in done.out
    trace = write_rows(tmp_path / "t.jsonl", row(0))
    (tmp_path / "t.meta.json").write_text('{"file": "t.jsonl", "digest": "0"}')
    assert "t.meta.json tells of another content of t.jsonl: it states digest 0" in info(trace).out
    replayed = command("replay", trace, "--num-blocks", 400, "--json")
    assert any("t.meta.json tells of another content" in note for note in replayed.notes)


def test_a_plot_is_one_file_that_needs_no_other(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "t.png"
    assert info(EXAMPLE, "--limit", 9, "--plot", path).err == f"note: The plot is written to {path}.\n"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert info(EXAMPLE, "--plot", path).error == f"{path} exists; name another file, or replace it with --force."
    path = tmp_path / "t.html"
    path.write_text("before")
    assert info(EXAMPLE, "--limit", 9, "--plot", path, "--force").code == 0
    page = path.read_text()
    assert page.count("<html") == page.count("<svg") == 1
    assert not any(word in page for word in ("<script", 'src="http', "@import"))
    # Equal traces give equal drawings.
    assert info(EXAMPLE, "--limit", 9, "--plot", tmp_path / "t.svg").code == 0
    drawing = (tmp_path / "t.svg").read_text()
    assert drawing[drawing.index("<svg") :] in page


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("--cache-tokens many", "--cache-tokens has 'many'; sizes are whole numbers with commas between"),
        ("--cache-blocks 0", "a cache has 0 blocks, but it must have at least 1"),
        ("--cache-blocks 1.5", "--cache-blocks has '1.5'"),
        ("--plot t.gif", "--plot is t.gif; its name must end in one of .png, .svg, .html"),
        ("--format xml", "trace format 'xml' is not known"),
        ("--start 5", "start is '5'; it must be a number with a unit"),
        ("--limit 0", "the limit of a window is 0 requests"),
        ("--time-unit h", "the time unit is 'h'"),
        ("--request-rate 2", "request rate is 2.0, but a trace of format native has no use for it"),
    ],
)
def test_what_cannot_be_is_a_sentence(flags: str, sentence: str) -> None:
    assert sentence in info(EXAMPLE, *flags.split()).error


def test_missing_and_empty_files(tmp_path: Path) -> None:
    assert info(tmp_path / "no.jsonl").error.endswith("no.jsonl does not exist.")
    assert info(tmp_path).error.endswith("is a directory, but a trace is one file.")
    (tmp_path / "e.jsonl").touch()
    assert "is empty" in info(tmp_path / "e.jsonl", "--json").error
