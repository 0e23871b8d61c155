"""`python -m sim verify` on what cannot be verified: a sentence and exit code 2."""

import json
from pathlib import Path

import pytest

from analysis.run import Run, load
from analysis.vllm_import import import_vllm
from tests.analysis.vllm_files import write_result
from tests.sim.command import command, row, write_rows
from tests.sim.recorded_runs import change, change_json


@pytest.fixture
def run(tmp_path: Path) -> Run:
    trace = write_rows(tmp_path / "trace.jsonl", row(), row(0, 30, 2))
    assert command("replay", trace, "--num-blocks", 40, "--output", tmp_path / "run").code == 0
    return load(tmp_path / "run")


def test_run_that_is_none(tmp_path: Path) -> None:
    assert command("verify", tmp_path / "no").error == f"{tmp_path / 'no'} does not exist; name the directory of a run."
    assert "is not a run directory" in command("verify", tmp_path).error


def test_trace_that_is_missing_damaged_or_another(run: Run, tmp_path: Path) -> None:
    path = run.path / "trace.jsonl.zst"
    content = path.read_bytes()
    path.unlink()
    assert "trace.jsonl.zst does not exist" in command("verify", run.path).error

    path.write_bytes(content[: len(content) // 2])
    assert "trace.jsonl.zst" in command("verify", run.path).error

    write_rows(path, row(), row(0, 31, 2))
    assert "but the run replayed a trace of digest" in command("verify", run.path).error


def test_settings_that_do_not_suffice(run: Run) -> None:
    settings = run.meta["settings"]
    change_json(run.path / "meta.json", settings=settings | {"max_model_len": None})
    assert command("verify", run.path).error.endswith(
        "meta.json has no setting max_model_len; a run of sim replay has all of them."
    )

    change_json(run.path / "meta.json", settings=settings | {"colour": 1})
    assert "unknown setting colour" in command("verify", run.path).error


def test_policy_file_that_is_gone(run: Run) -> None:
    change_json(run.path / "meta.json", settings=run.meta["settings"] | {"policy": "gone.py:First"})

    assert command("verify", run.path).error == (
        f"The policy of {run.path}, gone.py:First, is not here; verify it where it was replayed."
    )


@pytest.mark.parametrize("value", ["x", 0, -1, True, 1.5, []])
def test_meta_that_cannot_be(value: object, run: Run) -> None:
    change_json(run.path / "meta.json", trace=run.meta["trace"] | {"block_size": value})
    assert f"block_size is {value!r}; it must be a whole number from 1." in command("verify", run.path).error

    change_json(run.path / "meta.json", trace=run.meta["trace"], vocab_size=value)
    assert f"vocab_size is {value!r}; it must be a whole number from 1." in command("verify", run.path).error


def test_aborted_request(run: Run) -> None:
    change(run, "events", lambda rows: rows[-1].update(kind="aborted", reason="abort"))

    assert "was aborted in step " in command("verify", run.path).error


def test_steps_that_do_not_begin_with_the_first(run: Run) -> None:
    change(run, "steps", lambda rows: rows.pop(0))

    assert "begins with step 1; all steps from 0 on are needed." in command("verify", run.path).error


def test_table_that_is_damaged(run: Run) -> None:
    (run.path / "steps.parquet").write_bytes(b"PAR1")

    assert "steps.parquet" in command("verify", run.path).error


def test_outputs_of_a_free_run_that_are_missing_or_damaged(run: Run) -> None:
    settings = run.meta["settings"] | {"backend": "gpu", "gpu": None, "free_run": True}
    change_json(run.path / "meta.json", settings=settings)
    assert "outputs.jsonl cannot be read" in command("verify", run.path).error

    good = json.dumps({"request_id": "r0", "token_ids": [1, 2, 3, 4]})
    (run.path / "outputs.jsonl").write_text(good + "\n" + good[:10])
    assert "outputs.jsonl line 2 is no output of a request" in command("verify", run.path).error


def test_run_that_a_client_has_recorded(tmp_path: Path) -> None:
    import_vllm(write_result(tmp_path / "result.json"), tmp_path / "client")

    assert "was recorded by a client, which cannot see decisions" in command("verify", tmp_path / "client").error


def test_no_run_at_all() -> None:
    assert command("verify").code == 2
