import pytest

from sim.message import tell

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
