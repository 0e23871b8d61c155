import pytest

from sim import version_option
from tests.sim.command import command


def test_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_option, "versions", lambda _: {"python": "3", "twinserve": "7.8.9"})
    assert command("--version").out == "twinserve 7.8.9\n"
    monkeypatch.setattr(version_option, "versions", lambda _: {"python": "3"})
    assert command("--version").out == "twinserve (a checkout that is not installed)\n"
