import os
import signal

import pytest

from sim.interrupt import Interrupt


def test_first_signal_asks_for_the_end_after_the_step() -> None:
    interrupt = Interrupt()
    with interrupt.listening():
        os.kill(os.getpid(), signal.SIGINT)

    assert interrupt.is_requested


def test_termination_is_handled_alike() -> None:
    interrupt = Interrupt()
    with interrupt.listening():
        os.kill(os.getpid(), signal.SIGTERM)

    assert interrupt.is_requested


def test_second_signal_does_not_wait() -> None:
    interrupt = Interrupt()
    with interrupt.listening():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_signal_while_idle_does_not_wait() -> None:
    interrupt = Interrupt()
    interrupt.is_idle = True
    with interrupt.listening(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ValueError, match="inside"), Interrupt().listening():
        raise ValueError("inside")

    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_no_signal_breaks_into_what_is_being_written_down() -> None:
    interrupt = Interrupt()
    interrupt.is_recording = True
    with interrupt.listening():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)

    assert interrupt.is_requested
