"""Progress of `generate`."""

import io
import sys

import pytest

from engine import LLM, SamplingParams, StepShape
from engine.progress_line import ProgressLine
from tests.engine.fakes import ScriptedBackend


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def _shape(prefilled: int, decoded: int) -> StepShape:
    values = dict.fromkeys(StepShape._fields, 0) | {"num_prefill_tokens": prefilled, "num_decode_seqs": decoded}
    return StepShape(**values)


def test_rates_are_those_since_the_line_before_and_last_those_of_the_whole() -> None:
    stream, clock = _Terminal(), _Clock()
    line = ProgressLine(4, lambda: 1, stream, clock)
    clock.now_s += 0.125
    line.note(_shape(3000, 2))
    assert stream.getvalue() == ""  # no line for every step
    clock.now_s += 0.125
    line.note(_shape(1000, 3))
    assert stream.getvalue() == "\r1/4 requests, prefill 16,000 tok/s, decode 20 tok/s"
    clock.now_s += 0.5
    line.note(_shape(0, 10))
    assert stream.getvalue().split("\r")[2].rstrip() == "1/4 requests, prefill 0 tok/s, decode 20 tok/s"
    clock.now_s += 0.25
    line.close()
    assert stream.getvalue().split("\r")[3].rstrip() == "1/4 requests, prefill 4,000 tok/s, decode 15 tok/s"
    assert stream.getvalue().endswith("\n")


def test_a_shorter_line_covers_the_longer_one_before() -> None:
    stream, clock = _Terminal(), _Clock()
    line = ProgressLine(1, lambda: 0, stream, clock)
    for num_prefilled in (10**6, 0):
        clock.now_s += 1
        line.note(_shape(num_prefilled, 1))
    _, first, second = stream.getvalue().split("\r")
    assert len(first) == len(second)


def _generate(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, prompts: list[list[int]], *, show: bool) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    LLM(ScriptedBackend([7, 8]), block_size=4).generate(prompts, SamplingParams(max_tokens=2), show_progress=show)
    return stream.getvalue()


def test_generate_leaves_a_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _generate(monkeypatch, _Terminal(), [[1, 2], [3, 4]], show=True)
    assert "2/2 requests, prefill " in text
    assert text.endswith(" tok/s\n")


def test_nothing_is_written_elsewhere_or_unasked_or_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _generate(monkeypatch, io.StringIO(), [[1, 2]], show=True) == ""
    assert _generate(monkeypatch, _Terminal(), [[1, 2]], show=False) == ""
    assert _generate(monkeypatch, _Terminal(), [], show=True) == ""


def test_the_line_ends_before_an_error_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, backend = _Terminal(), ScriptedBackend([7])
    backend.errors[1] = ZeroDivisionError("oops")
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(ZeroDivisionError):
        LLM(backend, block_size=4).generate([[1]], SamplingParams(max_tokens=3))
    assert stream.getvalue().endswith(" tok/s\n")
