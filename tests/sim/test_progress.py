import io
import sys

import pytest

from sim.progress import progress_bar


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, is_wanted: bool = True, **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(40, is_wanted=is_wanted) as on_progress:
        on_progress(10, 5.0)
    return stream.getvalue()


def test_terminal_shows_requests_clock_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _shown(_Terminal(), monkeypatch)

    assert "10/40" in text
    assert "requests, 5 s served" in text
    assert "times as fast" in text


def test_pipe_or_file_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(io.StringIO(), monkeypatch) == ""


def test_asking_for_colours_makes_no_terminal_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(io.StringIO(), monkeypatch, FORCE_COLOR="1") == ""


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_terminal_that_cannot_redraw_shows_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(_Terminal(), monkeypatch, TERM=name) == ""


def test_nothing_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(_Terminal(), monkeypatch, is_wanted=False) == ""
