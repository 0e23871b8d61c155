import pytest

from sim.errors import SimError
from sim.message import Messages, tell

SENTENCE = "--max-num-seqs is 0; it must be at least 1. " + "A word and another one. " * 5


def test_one_line_where_it_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tell("error", SENTENCE.strip())
    assert capsys.readouterr().err == f"error: {SENTENCE.strip()}\n"


@pytest.mark.parametrize(("columns", "widest"), [("200", 80), ("40", 40)])
def test_wrapped_on_a_terminal(
    columns: str, widest: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    tell("note", SENTENCE)
    first, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("note: --max-num-seqs is 0;")
    assert widest - 12 < len(first) <= widest
    assert all(line.startswith("      ") and len(line) <= widest for line in others)


@pytest.mark.parametrize(
    ("messages", "wanted"),
    [
        (Messages(), "note: a\n"),
        (Messages(quiet=True), ""),
        (Messages(verbose=True), "note: a\ndetail: b\n"),
    ],
)
def test_what_is_said_is_what_a_user_wants_to_hear(
    messages: Messages, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.note("a")
    messages.detail("b")
    captured = capsys.readouterr()
    assert (captured.err, captured.out) == (wanted, "")


def test_quiet_and_verbose_exclude_each_other() -> None:
    with pytest.raises(SimError, match="--quiet and --verbose say the opposite"):
        Messages(quiet=True, verbose=True)
