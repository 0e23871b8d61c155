"""`python -m sim sweep`. Where processes are not the point, runs are made in this one, which is quicker."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.run import load as load_run
from analysis.sweep import load
from sim.sweeping.work import attempt
from sim.sweeping.workers import Task
from tests.sim.command import ROOT, Done, command, in_process, replay, row, write_rows

DEADLINE_S = 60.0

# Behaves as files beside it say, so that a sweep can be stopped in the middle and go on.
POLICY = """
import os, time
from pathlib import Path
from engine import VllmPolicy

HERE = Path(__file__).parent

class Mine:
    def __init__(self):
        self.inner = VllmPolicy()
    def select(self, view):
        while (HERE / "wait").exists():
            (HERE / "waiting").touch()
            time.sleep(0.05)
        if (HERE / "kill").exists() and view.limits.max_num_seqs == 2:
            os.kill(os.getpid(), 9)
        if (HERE / "raise").exists():
            raise ValueError("not today")
        self.inner.select(view)
"""


class OneByOne:
    """Stands for `sim.sweeping.workers.Workers`."""

    def __init__(self, trace: Path, _: int) -> None:
        self._trace = trace

    def __enter__(self) -> "OneByOne":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, tasks: Sequence[Task], on_end: Callable[[str | None], None]) -> dict[str, str]:
        failures = {}
        for task in tasks:
            failure = attempt(self._trace, task.settings, task.output)
            if failure is not None:
                failures[task.output.name] = failure
            on_end(failure)
        return failures


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.sweeping.workers.Workers", OneByOne)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Forty requests over 3.9 s, each served alone in well under 0.1 s."""
    return write_rows(tmp_path / "trace.jsonl", *(row(100 * number, 30, 3) for number in range(40)))


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(POLICY)
    return f"{tmp_path / 'mine.py'}:Mine"


def sweep(trace: Path, *args: object, folder: str = "sweep") -> Done:
    fixed = ("--num-blocks", 400, "--cost", "roofline")
    return command("sweep", trace, "--output", trace.parent / folder, *fixed, *args)


def rows(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    value: list[dict[str, Any]] = json.loads(done.out)
    return value


def stamps(folder: Path) -> dict[str, int]:
    """When each run was written."""
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("*/summary.json")}


def test_each_run_equals_a_replay_and_the_frame_holds_them(trace: Path) -> None:
    done = sweep(
        *(trace, "--rates", "1,20", "--policies", "vllm,nano-vllm", "--set", "max_num_seqs=1,2"),
        *("--slo", "ttft=20ms", "--json", "--end", "3s"),
    )
    found = rows(done)

    assert [(each["policy"], each["max_num_seqs"], each["rate_scale"]) for each in found] == [
        *(("vllm", 1, 1.0), ("vllm", 1, 20.0), ("vllm", 2, 1.0), ("vllm", 2, 20.0)),
        *(("nano-vllm", 1, 1.0), ("nano-vllm", 1, 20.0), ("nano-vllm", 2, 1.0), ("nano-vllm", 2, 20.0)),
    ]
    single = replay(
        *(trace, "--cost", "roofline", "--policy", "nano-vllm", "--max-num-seqs", 1, "--rate-scale", 20),
        *("--slo", "ttft=20ms", "--end", "3s", "--json"),
    ).summary
    for name in ("decision_digest", "output_throughput", "p99_ttft_ms", "mean_tpot_ms", "slo_attainment", "completed"):
        assert found[5][name] == single[name], name
    assert found[5]["completed"] == 30
    assert found[5]["run"] == "nano-vllm,max_num_seqs=1,rate=20"
    assert load_run(trace.parent / "sweep" / found[5]["run"]).summary["decision_digest"] == single["decision_digest"]  # type: ignore[index]
    frame = load(trace.parent / "sweep")
    assert frame["run"].tolist() == [each["run"] for each in found]
    assert {path.name for path in (trace.parent / "sweep").iterdir() if path.is_file()} == {
        *("sweep.json", "sweep.parquet", "sweep.csv")
    }


def test_frame_does_not_depend_on_the_number_of_processes(trace: Path) -> None:
    args = (trace, "--rates", "1,8", "--set", "max_num_batched_tokens=64,128", "--json")
    first, second = (sweep(*args, "--jobs", jobs, folder=f"by-{jobs}") for jobs in (1, 3))

    assert first.out == second.out
    for name in ("sweep.parquet", "sweep.csv", "sweep.json"):
        assert (trace.parent / "by-1" / name).read_bytes() == (trace.parent / "by-3" / name).read_bytes()


@pytest.mark.usefixtures("in_this_process")
def test_only_what_is_not_complete_is_run_again(trace: Path) -> None:
    args = (trace, "--rates", "1,2,4", "--json")
    before = sweep(*args)
    folder = trace.parent / "sweep"
    frame = (folder / "sweep.parquet").read_bytes()
    stamped = stamps(folder)
    meta = folder / "vllm,rate=2" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"complete": False}))
    for file in (folder / "vllm,rate=4").iterdir():
        file.unlink()
    (folder / "vllm,rate=4" / "meta.json.tmp").write_text("{")
    after = sweep(*args)

    assert rows(after) == rows(before)
    assert (folder / "sweep.parquet").read_bytes() == frame
    changed = {name for name, stamp in stamps(folder).items() if stamped[name] != stamp}
    assert changed == {"vllm,rate=2", "vllm,rate=4"}


@pytest.mark.usefixtures("in_this_process")
def test_more_rates_and_another_slo_may_come_to_the_same_folder(trace: Path) -> None:
    sweep(trace, "--rates", "1", "--slo", "ttft=1s")
    stamped = stamps(trace.parent / "sweep")
    found = rows(sweep(trace, "--rates", "0.5,1", "--slo", "ttft=1us", "--attainment", "0.5", "--json"))

    assert [(each["rate_scale"], each["slo_attainment"], each["meets_slo"]) for each in found] == [
        (0.5, 0.0, False),
        (1.0, 0.0, False),
    ]
    assert stamps(trace.parent / "sweep").items() >= stamped.items()
    table = sweep(trace, "--rates", "1").out
    assert "knee not reached, rate 1 (10.3 req/s) is still kept up with.\n" in table
    assert "SLO" not in table


@pytest.mark.usefixtures("in_this_process")
def test_drain_of_a_short_trace_does_not_move_the_knee(tmp_path: Path) -> None:
    """At eight times its rate the example's requests come within 31 s, and the last ends 5 s later."""
    example = ROOT / "examples" / "shared_prefixes.jsonl"
    low, high = rows(
        command("sweep", example, "--rates", "1,8", "--cost", "roofline", "--json", "-o", tmp_path / "sweep")
    )

    assert high["output_throughput"] < 0.9 * high["offered_output_throughput"]
    assert (low["is_knee"], high["is_knee"]) == (False, True)


@pytest.mark.usefixtures("in_this_process")
def test_refinement_narrows_the_highest_rate(trace: Path) -> None:
    """Served one at a time, requests wait when they come quicker than they are served."""
    args = ("--rates", "1,41", "--set", "max_num_seqs=1", "--slo", "ttft=100ms", "--json", "--refine")
    found = rows(sweep(trace, *args, 3))
    by_rate = {each["rate_scale"]: each["meets_slo"] for each in found}

    assert list(by_rate) == sorted(by_rate)
    assert len(by_rate) == 5
    assert 21.0 in by_rate
    (best,) = [each["rate_scale"] for each in found if each["is_highest_in_slo"]]
    missed = min(rate for rate, is_met in by_rate.items() if not is_met)
    assert missed - best == 5.0  # 40 / 2**3
    stamped = stamps(trace.parent / "sweep")
    assert rows(sweep(trace, *args, 3)) == found
    assert stamps(trace.parent / "sweep") == stamped


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (["--max-num-seqs", "7"], "has max_num_seqs 256, not 7; name another folder"),
        (["--limit", "3"], "is of another trace or part of it"),
        (["--set", "seed=1,2"], "varies policy, not policy, seed"),
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_other_settings_in_the_same_folder_are_refused(change: list[str], part: str, trace: Path) -> None:
    sweep(trace, "--rates", "1", "--limit", "2")
    assert part in sweep(trace, "--rates", "1", "--limit", "2", *change).error


@pytest.mark.usefixtures("in_this_process")
def test_other_trace_policy_or_content_in_the_same_folder_is_refused(trace: Path, mine: str) -> None:
    args = ("--rates", "1", "--limit", "2", "--policies", mine)
    assert sweep(trace, *args).code == 0
    other = write_rows(trace.parent / "other.jsonl", row(0, 31, 3), row(100, 30, 3))
    assert "is of another trace" in sweep(other, *args).error
    (trace.parent / "mine.py").write_text(POLICY + "\n")
    assert "mine.py has changed since the sweep" in sweep(trace, *args).error


@pytest.mark.usefixtures("in_this_process")
def test_run_of_other_settings_in_the_place_of_one_is_refused(trace: Path) -> None:
    sweep(trace, "--rates", "1", "--limit", "2")
    folder = trace.parent / "sweep"
    (folder / "vllm,rate=1").rename(folder / "vllm,rate=2")
    assert "was run with rate_scale 1.0, not 2.0" in sweep(trace, "--rates", "2", "--limit", "2").error


@pytest.mark.usefixtures("in_this_process")
def test_folder_with_other_things_is_refused(trace: Path) -> None:
    (trace.parent / "sweep").mkdir()
    (trace.parent / "sweep" / "thesis.txt").write_text("all of it")
    assert "exists and is not the folder of a sweep" in sweep(trace, "--rates", "1").error


@pytest.mark.usefixtures("in_this_process")
def test_folder_in_the_place_of_a_run_is_kept(trace: Path) -> None:
    sweep(trace, "--rates", "1", "--limit", "2")
    (trace.parent / "sweep" / "vllm,rate=2").mkdir()
    (trace.parent / "sweep" / "vllm,rate=2" / "thesis.txt").write_text("all of it")
    assert "is not a run directory" in sweep(trace, "--rates", "1,2", "--limit", "2").error
    assert (trace.parent / "sweep" / "vllm,rate=2" / "thesis.txt").exists()


def test_killed_worker_is_named_and_others_go_on(trace: Path, mine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("--rates", "1", "--policies", mine, "--set", "max_num_seqs=1,2,3", "--jobs", "1", "--limit", "2")
    (trace.parent / "kill").touch()
    error = sweep(trace, *args).error

    assert "max_num_seqs=2,rate=1 failed: its process was killed by signal 9 (SIGKILL); if memory ran out" in error
    assert error.endswith("2 of 3 runs are complete; the same command makes what is missing.")
    assert len(load(trace.parent / "sweep", partial=True)) == 2
    (trace.parent / "kill").unlink()
    monkeypatch.setattr("sim.sweeping.workers.Workers", OneByOne)
    assert len(rows(sweep(trace, *args, "--json"))) == 3


@pytest.mark.usefixtures("in_this_process")
def test_fault_of_a_policy_is_told_with_its_line(trace: Path, mine: str) -> None:
    (trace.parent / "raise").touch()
    error = sweep(trace, "--rates", "1,2", "--policies", mine).error

    assert ",rate=1, and 1 more failed: " in error
    assert "mine.py line 18, in select: ValueError: not today. 0 of 2 runs are complete" in error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "terminated"])
def test_stopped_sweep_goes_on_where_it_was(
    number: signal.Signals, trace: Path, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = ("--rates", "1", "--policies", f"vllm,{mine}", "--limit", "2", "--jobs", "1")
    (trace.parent / "wait").touch()
    words = ("sweep", trace, "--output", trace.parent / "sweep", "--num-blocks", 400, "--cost", "roofline", *args)
    arguments, how = in_process(*words)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **how)
    try:
        deadline_s = time.monotonic() + DEADLINE_S
        while not (trace.parent / "waiting").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        other = sweep(trace, *args)
        # As a terminal does: to all processes of the group. A termination goes to the one that is named.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.communicate()
    assert "Another sweep is at work in" in other.error
    assert process.returncode == 130
    assert out == ""
    assert "note: 1 of 2 runs are complete; the same command goes on with the rest.\ninterrupted\n" in err
    assert "Traceback" not in err
    stamped = stamps(trace.parent / "sweep")
    assert list(stamped) == ["vllm,rate=1"]
    (trace.parent / "wait").unlink()
    monkeypatch.setattr("sim.sweeping.workers.Workers", OneByOne)
    assert len(rows(sweep(trace, *args, "--json"))) == 2
    assert stamps(trace.parent / "sweep").items() >= stamped.items()


@pytest.mark.usefixtures("in_this_process")
def test_policy_without_a_varied_setting_is_skipped_with_a_note(trace: Path, mine: str) -> None:
    done = sweep(trace, *("--rates", "1", "--policies", f"vllm,{mine}", "--set", "watermark=0.1", "--limit", "2"))

    assert f"Policy {mine} has no setting watermark, which varies: its 1 combination is skipped." in done.notes
    assert load(trace.parent / "sweep")["policy"].tolist() == ["vllm"]


@pytest.mark.usefixtures("in_this_process")
def test_config_file_and_run_give_settings(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--output", tmp_path / "run", "--max-num-batched-tokens", 77, "--policy", "nano-vllm", "--limit", 2)
    (tmp_path / "settings.toml").write_text('max-num-seqs = 5\nslo = "ttft=1s"\n')
    done = sweep(trace, "--rates", "1", "--config", tmp_path / "settings.toml", "--like", tmp_path / "run", "--json")
    (found,) = rows(done)
    settings = load_run(tmp_path / "sweep" / found["run"]).meta["settings"]

    assert (settings["policy"], settings["max_num_batched_tokens"], settings["max_num_seqs"]) == ("nano-vllm", 77, 5)
    assert found["slo_attainment"] == 1.0


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["--rates", "none"], "'none' is no rate"),
        (["--set", "max_num_seqs=no"], "max_num_seqs is 'no'; it must be a whole number."),
        (["--set", "max_num_seqs=0,1"], "policy vllm, max_num_seqs 0 cannot run: max_num_seqs is 0; it must be"),
        (["--max-num-seqs", "4", "--set", "max_num_seqs=1"], "max_num_seqs is given both as a setting of all runs and"),
        (["--policies", "fifo"], "There is no policy 'fifo'"),
        (["--policies", "vllm,nano-vllm", "--watermark", "0.1"], "Policy nano-vllm has no setting watermark"),
        (["--set", "model=Qwen9"], "Qwen9"),
        (["--slo", "soon=1s"], "SLO 'soon=1s' is not metric=duration"),
        (["--refine", "2"], "--refine needs limits to meet; give them with --slo"),
        (["--attainment", "0.5"], "--attainment needs limits to meet"),
        (["--attainment", "90", "--slo", "ttft=1s"], "--attainment is 90.0; it must be a share"),
        (["--refine", "-1", "--slo", "ttft=1s"], "--refine is -1; it must be from 0 to 50"),
        (["--jobs", "0"], "--jobs is 0; it must be at least 1"),
        (["--start", "50s"], "lies in the window (from 50 s)"),
        (["--format", "azure"], "trace.jsonl"),
        (
            ["--set", "chunked_prefill=true,false"],
            "policy vllm, chunked_prefill false cannot run: Chunked prefill is off and --max-num-batched-tokens is "
            "8192, below --max-model-len 40960: a long prompt could never run. Raise --max-num-batched-tokens to 40960",
        ),
        (["--no-chunked-prefill", "--set", "max_num_batched_tokens=40960,99"], "Raise max_num_batched_tokens to 40960"),
        (["--set", "max_model_len=40,9"], "max_model_len 9 cannot run: No request of trace.jsonl can be served"),
        (["--set", "seed=1,9223372036854775808"], "seed is 9223372036854775808; values that vary must be"),
        (["--request-rate", "20"], "10.26 a second on average; --rate-scale 1.95 in its place (in a sweep --rates"),
        (["--rates", "1e-8,1"], "a rate scale of 1e-08 stretches trace.jsonl beyond"),
    ],
)
def test_bad_input_is_a_sentence_and_makes_no_folder(args: list[str], part: str, trace: Path) -> None:
    assert part in sweep(trace, *(() if "--rates" in args else ("--rates", "1")), *args).error
    assert not (trace.parent / "sweep").exists()


def test_policy_whose_rules_are_none_is_refused_before_others_run(trace: Path) -> None:
    (trace.parent / "odd.py").write_text("class Odd:\n    rules = 7\n    def select(self, view):\n        pass\n")
    error = sweep(trace, "--rates", "1", "--policies", f"vllm,{trace.parent / 'odd.py'}:Odd").error

    assert "odd.py:Odd cannot run: Odd.rules is 7; it must be an engine.Rules" in error
    assert not (trace.parent / "sweep").exists()


def test_step_times_of_one_run_are_none_for_several_rates(trace: Path, tmp_path: Path) -> None:
    assert replay(trace, "--output", tmp_path / "run").code == 0
    error = sweep(trace, "--rates", "1,2", "--cost", tmp_path / "run").error

    assert "a run's step times, which hold for the steps of that run alone and not at 2 rates" in error
    assert not (trace.parent / "sweep").exists()


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('backend = "gpu"', "backend is 'gpu', but a sweep runs on cost models"),
        ('pace = "wall"', "pace is 'wall', but a sweep runs side by side at virtual pace"),
        ("rate_scale = 2.0", "a sweep's rates are given with --rates"),
    ],
)
def test_config_that_is_none_of_a_sweep(line: str, part: str, trace: Path) -> None:
    (trace.parent / "settings.toml").write_text(line)
    done = command("sweep", trace, "--rates", "1", "-o", trace.parent / "s", "--config", trace.parent / "settings.toml")
    assert part in done.error


def test_help_names_options_of_its_own_and_of_replay() -> None:
    text = command("sweep", "--help").out

    assert text.index("\nSweep:\n") < text.index("  --rates ") < text.index("\nWhat runs:\n") < text.index("  --model ")
    own = ("--rates", "--policies", "--set", "--attainment", "--refine", "--jobs", "--output", "--json")
    shared = ("--model", "--gpu", "--cost", "--slo", "--start", "--end", "--limit", "--config", "--like", "--tp")
    assert [flag for flag in (*own, *shared) if f"{flag} " not in text] == []
    assert [flag for flag in ("--policy ", "--rate-scale", "--device", "--pace", "--backend") if flag in text] == []
