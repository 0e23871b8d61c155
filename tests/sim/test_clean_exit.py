import errno

import pytest
import typer

from analysis.errors import RunError
from backends.errors import RecordedStepsError, SheetError
from engine import BackendError, SettingError
from sim.clean_exit import clean_exit
from sim.errors import SimError
from traces import TraceError


@pytest.mark.parametrize(
    "error", [RunError, SheetError, RecordedStepsError, SettingError, BackendError, SimError, TraceError]
)
def test_expected_error_becomes_a_sentence_and_exit_code_2(
    error: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, clean_exit():
        raise error("It cannot be")

    assert caught.value.exit_code == 2
    assert capsys.readouterr() == ("", "error: It cannot be.\n")


def test_full_stop_is_not_doubled(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), clean_exit():
        raise SimError("It cannot be.")

    assert capsys.readouterr().err == "error: It cannot be.\n"


def test_interrupt_becomes_exit_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, clean_exit():
        raise KeyboardInterrupt

    assert caught.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_fault_of_ours_shows_where_it_is() -> None:
    with pytest.raises(ZeroDivisionError), clean_exit():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENAMETOOLONG, "File name too long", "xxx"), "error: xxx: File name too long.\n"),
        (OSError(errno.ENOSPC, "No space left on device"), "error: No space left on device.\n"),
        (MemoryError(), "error: The memory of this machine does not hold that; use smaller sizes.\n"),
    ],
)
def test_what_the_machine_refuses_is_a_sentence_too(
    error: Exception, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, clean_exit():
        raise error

    assert caught.value.exit_code == 2
    assert capsys.readouterr().err == sentence


def test_output_that_nobody_reads_is_left_to_typer() -> None:
    with pytest.raises(BrokenPipeError), clean_exit():
        raise BrokenPipeError
