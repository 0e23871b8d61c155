import json
from pathlib import Path

import pytest

from analysis.errors import RunError
from analysis.story import tell
from tests.run_builder import RunBuilder, small_run


def test_story_of_a_preempted_request(tmp_path: Path) -> None:
    story = tell(small_run(tmp_path).build(), "b")
    assert [(chapter.time_s, chapter.kind, chapter.step) for chapter in story.chapters] == [
        (0.0, "arrived", None),
        (0.0, "queued", None),
        (0.5, "admitted", 1),
        (0.5, "chunk", 1),
        (1.5, "first token", 1),
        (1.5, "decoded", 2),
        (1.5, "preempted", 2),
        (3.5, "resumed", 3),
        (3.5, "chunk", 3),
        (5.5, "finished", None),
    ]
    assert story.latencies_s["preempted"] == 2.0


def test_story_as_text(tmp_path: Path) -> None:
    assert tell(small_run(tmp_path).build(), "b").render() == (
        "Request b (line 2 of the trace): 10 prompt tokens, 3 of 3 output tokens,\n"
        "finished\n"
        "queue 500.00 ms, prefill 1,000.00 ms, decode 2,000.00 ms, preempted 2,000.00 ms,\n"
        "ttft 1,500.00 ms, e2e 5,500.00 ms\n"
        "        0.00 ms  arrived at 500.00 ms: 1 running, 0 waiting\n"
        "        0.00 ms  waits 500.00 ms: the step under way had to end\n"
        "      500.00 ms  admitted in step 1, 4 prompt tokens hit the prefix cache\n"
        "      500.00 ms  computes 6 prompt tokens, step 1\n"
        "    1,500.00 ms  first token, at the end of step 1\n"
        "    1,500.00 ms  decodes 2 further tokens, 2,000.00 ms apart on average,\n"
        "                 3,000.00 ms at most\n"
        "    1,500.00 ms  preempted in step 2: KV blocks ran out\n"
        "    3,500.00 ms  resumed in step 3, 0 tokens hit the prefix cache\n"
        "    3,500.00 ms  computes 11 prompt tokens, step 3\n"
        "    5,500.00 ms  finished: length; 2 KV blocks had been handed out to it\n"
    )


def test_what_held_it_and_behind_whom(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[64], waiting=7)
    builder.step(prefill=[64], waiting=7)
    builder.step(decode=4, running=4, waiting=7)
    for _ in range(8):
        builder.step(decode=1)
    for k in range(7):
        builder.request(f"r{k}", arrival_s=0.0, emissions=[(3 + k, 1)])
    builder.request("x", arrival_s=0.0, emissions=[(10, 1)])
    story = tell(builder.build(), "x")
    assert story.behind == ("r0", "r1", "r2", "r3", "r4", "r5", "r6")
    assert story.chapters[1].text == (
        "waits 10,000.00 ms, behind r0, r1, r2, r3, r4 and 2 more: "
        "held by the token budget in 2 of 10 steps, the sequence limit in 1 of 10 steps"
    )


def chunk_text(path: Path, sizes: list[int]) -> str:
    builder = RunBuilder(path)
    for size in sizes:
        builder.event(builder.step(prefill=[size]), "a", "chunk", num_tokens=size)
    builder.request("a", scheduled=0, emissions=[(len(sizes) - 1, 1)])
    (chapter,) = (chapter for chapter in tell(builder.build(), "a").chapters if chapter.kind == "chunk")
    return chapter.text


def test_chunks_in_a_row_are_one_chapter(tmp_path: Path) -> None:
    few = chunk_text(tmp_path / "few", [8, 8, 2])
    assert few == "computes 18 prompt tokens in 3 chunks (8, 8, 2), steps 0 to 2"
    many = chunk_text(tmp_path / "many", [8] * 9 + [1])
    assert many == "computes 73 prompt tokens in 10 chunks (of 1 to 8 tokens), steps 0 to 9"


def test_story_of_a_refused_request(tmp_path: Path) -> None:
    story = tell(small_run(tmp_path).build(), "c")
    assert story.chapters[-1].text == ("refused: prompt of 500 tokens is too long")
    assert [chapter.kind for chapter in story.chapters] == ["arrived", "refused"]


def test_story_of_a_request_that_never_came(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.request("d", arrival_s=None, status="unfinished")
    story = tell(builder.build(complete=False), "d")
    assert [chapter.text for chapter in story.chapters] == ["never arrived: the run ended before its turn came"]
    assert json.loads(json.dumps(story.as_dict(), allow_nan=False))["latencies_s"]["ttft"] is None


def test_story_of_a_request_that_had_not_ended(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.request("d", arrival_s=5.5, status="unfinished")
    chapters = tell(builder.build(complete=False), "d").chapters
    assert [chapter.kind for chapter in chapters] == ["arrived", "queued", "unfinished"]
    assert chapters[-1].time_s == 0.5


def test_unknown_request(tmp_path: Path) -> None:
    run = small_run(tmp_path).build()
    with pytest.raises(RunError, match=r"has no record of request 'z'; it has 3, such as a, b, c\.$"):
        tell(run, "z")


def test_unknown_request_of_a_partial_run(tmp_path: Path) -> None:
    run = RunBuilder(tmp_path).build(complete=False)
    with pytest.raises(RunError, match=r"it has 0\. The run is partial"):
        tell(run, "z")
