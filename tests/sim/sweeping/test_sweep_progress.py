import io
import sys

import pytest

from sim.message import Messages
from sim.sweeping.sweep_progress import sweep_progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, messages: Messages | None = None) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", stream)
    with sweep_progress(messages or Messages()) as progress:
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


def test_who_asks_for_details_is_told_of_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(io.StringIO(), monkeypatch, Messages(verbose=True)).splitlines() == [
        "detail: 2 of 6 runs are complete already.",
        "detail: 3 of 6 runs are complete.",
        "detail: 3 of 6 runs are complete, 1 failed.",
    ]


def test_quiet_shows_nothing_on_a_terminal_either(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(_Terminal(), monkeypatch, Messages(quiet=True)) == ""
