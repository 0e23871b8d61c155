from pathlib import Path

from tests.sim.command import ROOT, command, replay, row, write_rows

EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"


def test_clean_traces_have_a_line_each_and_exit_code_0(tmp_path: Path) -> None:
    other = write_rows(tmp_path / "t.jsonl", row(0))
    done = command("trace", "check", EXAMPLE, other)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{EXAMPLE}: 300 requests, no problem\n{other}: 1 requests, no problem\n"


def test_problems_are_lines_and_exit_code_2(tmp_path: Path) -> None:
    bad = write_rows(tmp_path / "t.jsonl", row(0), row(1, 0), row(2, -4), row(3, 50))
    done = command("trace", "check", bad, EXAMPLE, "--max-model-len", 40, "--max-problems", 3)
    lines = done.out.splitlines()
    assert done.code == 2
    assert lines[0].startswith(f"{bad} line 2: input_length is 0, but input_length must be a whole number")
    assert lines[1].startswith(f"{bad} line 3: input_length is -4")
    assert lines[2] == f"{bad} line 4: prompt and output have 54 tokens, more than 40"
    assert lines[3].startswith(f"{EXAMPLE} line 1: prompt and output have")
    assert lines[-1] == f"{EXAMPLE}: there may be more, the check ended here"
    assert len(lines) == 7


def test_a_setting_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    assert "end is '5'" in command("trace", "check", EXAMPLE, "--end", "5").error
    assert "does not exist" in command("trace", "check", tmp_path / "no").out


def test_odd_arrivals_are_notes_and_no_problem(tmp_path: Path) -> None:
    tied = write_rows(tmp_path / "tied.jsonl", *(row(1000 * (i // 2)) for i in range(40)))
    slow = write_rows(tmp_path / "slow.jsonl", *(row(1_000_000 * i) for i in range(10)))
    done = command("trace", "check", tied, slow)
    assert done.code == 0
    first, second = done.notes
    assert first.startswith(
        f"{tied}: 40 arrivals (100 %) have the same time as another; different times lie at least 1 s"
    )
    assert second.startswith(
        f"{slow}: A rate of 0.0011 a second over 2 h is so low that requests hardly meet: check the"
    )
    assert any("40 arrivals (100 %) have the same time" in note for note in replay(tied, "--json").notes)
    assert any("A rate of 0.0011 a second over 2 h" in note for note in replay(slow, "--json").notes)


def test_of_a_file_that_is_not_there_no_more_is_expected(tmp_path: Path) -> None:
    done = command("trace", "check", tmp_path / "no.jsonl")
    assert (done.code, done.out) == (2, f"{tmp_path / 'no.jsonl'} does not exist\n")
