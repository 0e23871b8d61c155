import gzip
import hashlib
import json
from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, read_trace
from traces.checker import CheckResult, TraceChecker


def checked(path: Path, max_problems: int = 20, max_model_len: int | None = None) -> CheckResult:
    result = TraceChecker(ReadSettings(), max_problems, max_model_len).check(path)
    stripped = tuple(problem.replace(f"{path.parent}/", "") for problem in result.problems)
    return CheckResult(stripped, result.num_requests, result.is_complete)


def row(timestamp: object, **more: object) -> str:
    return json.dumps({"timestamp": timestamp, "input_length": 20, "output_length": 4} | more) + "\n"


def test_a_clean_file_has_no_problem(trace_file: TraceFile) -> None:
    assert checked(trace_file(row(0) + "\n" + row(5))) == CheckResult((), 2, is_complete=True)


def test_every_faulty_line_is_named(trace_file: TraceFile) -> None:
    content = row(0) + row("x") + "{\n" + row(5) + row(6, hash_ids=[1, 2]) + row(7, request_id="r0")
    result = checked(trace_file(content))
    starts = ("t.jsonl line 2: timestamp is", "t.jsonl line 3: not valid JSON", "t.jsonl line 6: request_id is 'r0'")
    assert [problem.startswith(start) for problem, start in zip(result.problems, starts, strict=False)] == [True] * 3
    assert result.problems[3].startswith("t.jsonl line 5: hash_ids has 2 ids")
    assert (len(result.problems), result.num_requests, result.is_complete) == (4, 2, True)


def test_a_check_stops_when_there_are_enough(trace_file: TraceFile) -> None:
    result = checked(trace_file(row("x") * 9), max_problems=3)
    assert [problem.split(":")[0] for problem in result.problems] == [f"t.jsonl line {line}" for line in (1, 2, 3)]
    assert (result.num_requests, result.is_complete) == (None, False)


def test_a_file_of_faults_alone_has_no_request(trace_file: TraceFile) -> None:
    result = checked(trace_file(row("x") * 2))
    assert len(result.problems) == 3
    assert "t.jsonl is empty" in result.problems[2]
    assert not result.is_complete


def test_rows_out_of_order_are_named(trace_file: TraceFile) -> None:
    result = checked(trace_file(row(9) + row(5) + row(9) + row(7) + row(10)))
    assert result.problems == tuple(
        f"t.jsonl line {line}: this row arrives before one of an earlier line" for line in (2, 4)
    )
    assert (result.num_requests, result.is_complete) == (5, True)


def test_requests_that_are_too_long_are_named(trace_file: TraceFile) -> None:
    result = checked(trace_file(row(0) + row(1, output_length=5)), max_model_len=24)
    assert result.problems == ("t.jsonl line 2: prompt and output have 25 tokens, more than 24",)


def test_rows_that_a_replay_leaves_out_are_counted(trace_file: TraceFile) -> None:
    path = trace_file(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-12 00:00:00,1,1\n2024-05-12 00:00:00,0,1\n"
        "2024-05-12 00:00:00,1,x\n2024-05-12 00:00:00,0,1\n",
        "a.csv",
    )
    result = checked(path)
    assert [problem.split(", but")[0] for problem in result.problems] == [
        "a.csv line 4: GeneratedTokens is 'x'",
        "a.csv: 2 rows are not replayed because ContextTokens is 0",
    ]


@pytest.mark.parametrize(
    ("name", "content", "start"),
    [
        ("a.csv", "TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\nx,1,1,1\n", "a.csv line 1: the header names"),
        (
            "w.json",
            '{"id": "a", "block_size": 64, "requests": [{"t": -1}]}\n{}\n',
            "w.json line 1: requests[0].t is -1",
        ),
        ("e.jsonl", "", "e.jsonl is empty"),
        ("x.txt", "hello\n", "x.txt line 1: 'hello' is neither JSON"),
        ("z.jsonl.gz", b"\x1f\x8bno", "z.jsonl.gz line 1: the file is damaged or cut off"),
    ],
)
def test_a_fault_that_hides_the_rest_ends_the_check(
    name: str, content: str | bytes, start: str, trace_file: TraceFile
) -> None:
    result = checked(trace_file(content, name))
    (problem,) = result.problems
    assert problem.startswith(start)
    assert not result.is_complete


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert checked(tmp_path / "no.jsonl").problems == ("no.jsonl does not exist",)


def test_a_side_file_of_other_content_is_a_problem(trace_file: TraceFile) -> None:
    path = trace_file(row(0))
    digest = read_trace(path).digest
    trace_file(json.dumps({"digest": digest}), "t.meta.json")
    assert checked(path).problems == ()
    trace_file(json.dumps({"digest": "0" * 32}), "t.meta.json")
    assert checked(path).problems == (f"t.jsonl: t.meta.json states digest {'0' * 32}, but the file has {digest}",)


def test_a_file_that_is_cut_off_is_one_problem(trace_file: TraceFile) -> None:
    content = "".join(row(at, request_id=hashlib.md5(b"%d" % at).hexdigest()) for at in range(2000))
    path = trace_file(gzip.compress(content.encode())[:-2000], "t.jsonl.gz")
    (problem,) = checked(path).problems
    assert "the file is damaged or cut off" in problem
