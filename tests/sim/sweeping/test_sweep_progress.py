import io
import sys

import pytest

from sim.sweeping.sweep_progress import sweep_progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", stream)
    with sweep_progress() as progress:
        progress.expect(6)
        progress.found(2)
        progress.run_ended(None)
        progress.run_ended("no memory")
        progress.expect(3)
        assert (progress.num_complete, progress.num_runs) == (3, 9)
    return stream.getvalue()


def test_terminal_shows_runs_that_have_ended_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _shown(_Terminal(), monkeypatch)

    assert "4/9" in text
    assert "runs" in text


def test_pipe_or_file_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(io.StringIO(), monkeypatch) == ""
