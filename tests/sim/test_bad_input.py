"""What a user can get wrong: a sentence on stderr, exit code 2, nothing on stdout and never a traceback."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from analysis.run import load
from tests.sim.command import Done, command, replay, row, write_rows

ROW = json.dumps(row())


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "trace.jsonl", row(), row(100, 40, 3))


def _replayed(content: bytes | str, tmp_path: Path, *args: object, name: str = "bad.jsonl") -> Done:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return replay(path, *args)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["bad.jsonl is empty"]),
        ("\n \r\n", ["bad.jsonl is empty"]),
        ("hello\n", ["bad.jsonl line 1", "'hello' is neither JSON nor a known CSV header"]),
        (ROW + "\nhello\n", ["bad.jsonl line 2", "not valid JSON", "hello"]),
        (ROW + "\n[1, 2]\n", ["bad.jsonl line 2", "it must be one JSON object"]),
        (ROW[:-1] + "\n", ["bad.jsonl line 1", "not valid JSON"]),
        ("[" * 100_000, ["bad.jsonl line 1"]),
        (bytes(range(256)) * 4, ["bad.jsonl line 1"]),
        ("\ufeff".encode("utf-16"), ["bad.jsonl", "UTF-16"]),
        (b"\x1f\x8bnot gzip at all", ["bad.jsonl line 1", "damaged or cut off"]),
        (gzip.compress(ROW.encode() * 1000)[:60], ["bad.jsonl", "damaged or cut off"]),
        (b"\x28\xb5\x2f\xfdnot zstd", ["bad.jsonl", "damaged or cut off"]),
        (
            '{"timestamp": 0, "input_length": 5, "prompt": "' + "x" * 17 * 2**20 + '"}',
            ["line 1", "output_length is missing"],
        ),
    ],
    ids=[
        "empty",
        "blank",
        "no JSON",
        "no JSON in line 2",
        "no object",
        "cut off",
        "deep",
        "binary",
        "UTF-16",
        "no gzip",
        "half a gzip",
        "no zstd",
        "long line",
    ],
)
def test_file_that_is_no_trace(content: bytes | str, parts: list[str], tmp_path: Path) -> None:
    error = _replayed(content, tmp_path).error

    assert [part for part in parts if part not in error] == []


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"input_length": "20"}, ['input_length is "20"', "whole number of tokens from 1"]),
        ({"input_length": 2.5}, ["input_length is 2.5"]),
        ({"input_length": None}, ["input_length is null"]),
        ({"input_length": 0}, ["input_length is 0"]),
        ({"input_length": -3}, ["input_length is -3"]),
        ({"output_length": 0}, ["output_length is 0"]),
        ({"output_length": -1}, ["output_length is -1"]),
        ({"output_length": 2**40}, ["output_length is 1099511627776"]),
        ({"timestamp": -1}, ["timestamp is -1", "a number of milliseconds, 0 or more"]),
        ({"timestamp": "0"}, ['timestamp is "0"']),
        ({"timestamp": float("nan")}, ["timestamp is NaN"]),
        ({"timestamp": float("inf")}, ["timestamp is Infinity"]),
        ({"timestamp": 1e30}, ["timestamp is 1e+30"]),
        (
            {"hash_ids": [1, 2, 3]},
            ["hash_ids has 3 ids, but 20 tokens in blocks of 512 make 1 (ceil)", "that fit"],
        ),
        ({"hash_ids": [-1]}, ["hash_ids[0] is -1"]),
        ({"hash_ids": ["a"]}, ['hash_ids[0] is "a"']),
        ({"hash_ids": 7}, ["hash_ids is 7"]),
        ({"request_id": ""}, ['request_id is ""']),
        ({"request_id": 7}, ["request_id is 7"]),
        ({"priority": "high"}, ['priority is "high"']),
        ({"delay": 5}, ["delay"]),
        ({"session_id": "s", "timestamp": None, "delay": 5}, ["session"]),
        ({"timestamp": None}, ["timestamp"]),
    ],
)
def test_field_that_cannot_be_names_line_field_and_value(
    change: dict[str, Any], parts: list[str], tmp_path: Path
) -> None:
    error = _replayed(f"{ROW}\n{json.dumps(row() | change)}\n", tmp_path).error

    assert "bad.jsonl line 2: " in error
    assert [part for part in parts if part not in error] == []


def test_missing_field_is_named(tmp_path: Path) -> None:
    error = _replayed('{"timestamp": 0, "input_length": 5}\n', tmp_path).error

    assert "line 1: output_length is missing" in error


def test_request_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    twice = json.dumps(row(request_id="a"))
    error = _replayed(f"{twice}\n{ROW}\n{twice}\n", tmp_path).error

    assert "line 3: request_id is 'a', which line 1 has too" in error


def test_both_times_on_a_later_turn_are_an_error(tmp_path: Path) -> None:
    first, second = row(session_id="s"), row(5, session_id="s", delay=3)
    error = _replayed(f"{json.dumps(first)}\n{json.dumps(second)}\n", tmp_path).error

    assert "line 2" in error
    assert "delay" in error


def test_unsorted_rows_are_sorted_with_a_note(tmp_path: Path) -> None:
    done = _replayed(f"{json.dumps(row(9))}\n{json.dumps(row(5))}\n", tmp_path, "--output", tmp_path / "run")

    assert done.notes[2] == "Rows were sorted by arrival: 1 rows stood behind a later arrival (first in line 2)."
    assert load(tmp_path / "run").table("requests").column("line").to_pylist() == [2, 1]


def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    done = _replayed(b"\xef\xbb\xbf" + f"{ROW}\r\n{ROW}\r\n".encode(), tmp_path, "--json")

    assert done.summary["completed"] == 2


def test_request_ids_may_hold_any_character(tmp_path: Path) -> None:
    names = ["a\x00b", "\U0001f600", "[bold]x[/bold]", "a,b"]
    rows = [row(request_id=name) for name in names]
    trace = write_rows(tmp_path / "odd.jsonl", *rows)

    assert replay(trace, "--output", tmp_path / "run").code == 0
    assert load(tmp_path / "run").table("requests").column("request_id").to_pylist() == names


def test_missing_trace(tmp_path: Path) -> None:
    assert replay(tmp_path / "nowhere.jsonl").error.endswith("nowhere.jsonl does not exist.")


def test_directory_as_trace(tmp_path: Path) -> None:
    assert replay(tmp_path).error.endswith("is a directory, but a trace is one file.")


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ("--model gpt", ["Unknown model 'gpt'; known are Llama-3.1-8B, Qwen3-0.6B", "Qwen3-32B"]),
        ("--model nowhere.toml", ["Cannot read the sheet nowhere.toml"]),
        ("--gpu abacus", ["Unknown GPU 'abacus'; known are A100-80, B200, H100, H200, L40S, RTX 4090"]),
        ("--policy fifo", ["There is no policy 'fifo'; known: vllm, nano-vllm"]),
        ("--backend abacus", ["backend is 'abacus'; it must be one of sim"]),
        ("--pace slow", ["pace is 'slow'; it must be one of virtual, wall"]),
        ("--oversize cut", ["oversize is 'cut'; it must be one of error, fail, truncate"]),
        ("--format xml", ["trace format 'xml' is not known; known are auto, azure"]),
        ("--scheduling-policy lifo", ["--scheduling-policy is 'lifo'; known: fcfs, priority"]),
        ("--vllm-version 0.3", ["--vllm-version is '0.3'; known: 0.25, 0.33"]),
        ("--policy nano-vllm --watermark 0.1", ["Policy nano-vllm has no setting watermark"]),
        ("--policy nano-vllm --no-chunked-prefill", ["Policy nano-vllm has no setting chunked_prefill"]),
        ("--no-chunked-prefill", ["Chunked prefill is off and --max-num-batched-tokens is 8192, below", "40960"]),
        ("--tp 0", ["tensor-parallel degree is 0"]),
        ("--tp -1", ["tensor-parallel degree is -1"]),
        ("--tp 3", ["32 query heads, which 3 GPUs cannot share evenly"]),
        ("--block-size 0", ["--block-size is 0; it must be at least 1"]),
        ("--block-size -16", ["--block-size is -16; it must be at least 1"]),
        ("--num-blocks 0", ["--num-blocks is 0; it must be at least 1"]),
        ("--num-blocks -1", ["--num-blocks is -1; it must be at least 1"]),
        ("--max-num-seqs 0", ["--max-num-seqs is 0; it must be at least 1"]),
        ("--max-num-batched-tokens 0", ["--max-num-batched-tokens is 0; it must be at least 1"]),
        ("--max-num-batched-tokens -8", ["--max-num-batched-tokens is -8; it must be at least 1"]),
        ("--max-model-len 0", ["--max-model-len is 0; it must be at least 1"]),
        ("--max-model-len 99999999999", ["max_model_len is 99999999999; it must be at most 2147483647"]),
        ("--memory-utilization 0", ["memory utilisation is 0.0; it must be above 0 and at most 1"]),
        ("--gpu=", ["Unknown GPU ''; known are A100-80"]),
        ("--long-prefill-token-threshold -1", ["--long-prefill-token-threshold is -1"]),
        ("--watermark 1", ["watermark is 1.0"]),
        ("--watermark -0.5", ["watermark is -0.5"]),
        ("--watermark nan", ["watermark is nan; it must be finite"]),
        ("--rate-scale 0", ["rate scale is 0.0, but it must be a number above 0"]),
        ("--rate-scale -2", ["rate scale is -2.0"]),
        ("--rate-scale inf", ["rate_scale is inf; it must be finite"]),
        ("--rate-scale 1e-300", ["stretches trace.jsonl beyond"]),
        ("--trace-block-size 0", ["trace block size is 0"]),
        ("--limit 0", ["the limit of a window is 0 requests, but it must be at least 1"]),
        ("--limit -1", ["the limit of a window is -1 requests"]),
        ("--start soon", ["start is 'soon'; it must be a number with a unit"]),
        ("--start=-1s", ["start is '-1s'; it must be a number with a unit"]),
        ("--start 1h", ["no whole session or request of trace.jsonl lies in the window"]),
        ("--end 0s", ["a window ends at 0.0 s"]),
        ("--end 60", ["end is '60'; it must be a number with a unit"]),
        ("--end nan", ["end is 'nan'; it must be a number with a unit"]),
        ("--start 2s --end 1s", ["a window ends at 1.0 s, but it must end after its start, 2.0 s"]),
        ("--warmup nan", ["warmup is 'nan'"]),
        ("--warmup=-5", ["warmup is '-5'"]),
        ("--warmup 5parsecs", ["warmup is '5parsecs'"]),
        ("--slo fast", ["SLO 'fast' is not metric=duration with one of ttft, tpot, itl, e2e"]),
        ("--slo=", ["SLO '' is not metric=duration"]),
        ("--slo ttft=5", ["'5' is not a duration; write a number and a unit"]),
        ("--slo ttft=1s,ttft=2s", ["limits ttft more than once"]),
        ("--config nowhere.toml", ["nowhere.toml: No such file or directory"]),
        ("--config .", [".: Is a directory"]),
        ("--config trace.jsonl", ["trace.jsonl is not TOML"]),
        ("--like nowhere", ["nowhere does not exist; name the directory of a run"]),
        ("--like .", [". is not a run directory: it holds no meta.json"]),
        ("--like trace.jsonl", ["trace.jsonl is not a run directory"]),
        ("--cost nowhere", ["cost is 'nowhere'; give roofline, a file of `sim calibrate`"]),
        ("--cost .", [". is not a run directory"]),
        ("--output .", [". exists and is not empty; name a new directory"]),
        ("--output trace.jsonl", ["cannot be written to trace.jsonl: File exists"]),
        ("--output trace.jsonl/run", ["cannot be written to trace.jsonl/run: Not a directory"]),
        ("--output /proc/run", ["cannot be written to /proc/run"]),
    ],
)
def test_setting_that_cannot_be(flags: str, parts: list[str], trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trace.parent)
    error = replay(Path("trace.jsonl"), *flags.split()).error

    assert [part for part in parts if part not in error] == []


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        ("--memory-utilization 0", "memory utilisation is 0.0"),
        ("--memory-utilization 1.01", "memory utilisation is 1.01"),
        ("--memory-utilization 0.1", "Qwen3-8B leaves no memory for KV blocks on 1 x H200"),
        ("--gpu l40s --model qwen3-32b", "leaves no memory for KV blocks on 1 x L40S"),
    ],
)
def test_memory_that_holds_no_block(flags: str, part: str, trace: Path) -> None:
    assert part in command("replay", trace, *flags.split()).error


@pytest.mark.parametrize("flag", ["--output", "--model", "--policy", "--cost", "--like", "--config"])
def test_name_that_no_file_can_have(flag: str, trace: Path) -> None:
    name = "x" * 300 + (".py:Mine" if flag == "--policy" else "")

    assert "File name too long" in replay(trace, flag, name).error


def test_no_limit_on_rows_takes_no_memory_for_each(trace: Path, tmp_path: Path) -> None:
    no_limit = 2**31 - 1
    config = tmp_path / "huge.toml"
    config.write_text(f"graph_sizes = [8, {no_limit}]")
    limits = ("--max-num-seqs", no_limit, "--max-num-batched-tokens", no_limit)

    assert replay(trace, "--json", *limits).summary["completed"] == 2
    assert replay(trace, "--json", "--config", config).summary["completed"] == 2
    config.write_text(f"graph_sizes = [8, {2**31}]")
    assert "graph_sizes is 2147483648; it must be at most 2147483647" in replay(trace, "--config", config).error


@pytest.mark.parametrize("flags", [["--tp", "two"], ["--limit", "1.5"], ["--rate-scale", "fast"], ["--colour"], ["x"]])
def test_flag_that_does_not_parse_is_named(flags: list[str], trace: Path) -> None:
    done = command("replay", trace, *flags)

    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert flags[0] in done.err


def test_refused_settings_make_no_run_directory(trace: Path, tmp_path: Path) -> None:
    for flags in (["--slo", "fast"], ["--tp", "0"], ["--policy", "fifo"], ["--no-chunked-prefill"]):
        assert replay(trace, *flags, "--output", tmp_path / "run").error
        assert not (tmp_path / "run").exists()


POLICY = """
class Raises:
    def select(self, view):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("raise KeyError('oops')", "line 4, in select: KeyError: 'oops'."),
        ("view.no_such_thing", "line 4, in select: AttributeError"),
        ("import sys; sys.exit(0)", "line 4, in select: SystemExit: 0."),
        ("view.admit(view.waiting.first(), [], 10**9)", "line 4, in select: "),
        ("pass", "The policy Raises scheduled nothing in step 0 with 0 running and 1 waiting requests"),
    ],
)
def test_policy_of_ones_own_that_fails_leaves_a_partial_run(
    body: str, sentence: str, trace: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(POLICY.format(body=body))
    error = replay(trace, "--policy", f"{path}:Raises", "--output", tmp_path / "run").error

    assert sentence in error
    run = load(tmp_path / "run")
    assert not run.is_complete
    assert run.table("requests").column("status").to_pylist() == ["unfinished", "unfinished"]


def test_policy_file_with_a_syntax_error(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Mine(\n")

    assert "mine.py cannot be loaded: SyntaxError: '(' was never closed" in replay(trace, "--policy", f"{path}:M").error


def test_side_file_that_is_broken(trace: Path) -> None:
    (trace.parent / "trace.meta.json").write_text("{")

    assert "trace.meta.json" in replay(trace).error
