import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine import Ended, IncrementalDecoder
from sim.output_log import NoLog, OutputLog


class _Letters:
    """A token a letter; the log decodes whole outputs and asks for nothing else."""

    end_token_ids: frozenset[int] = frozenset()

    def encode(self, text: str) -> list[int]:
        raise AssertionError("a log only decodes")

    def decode(self, token_ids: Sequence[int]) -> str:
        return "".join(map(chr, token_ids))

    def decoder(self) -> IncrementalDecoder:
        raise AssertionError("a log only decodes")

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        raise AssertionError("a log only decodes")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_one_line_a_request_with_text_where_there_is_a_tokenizer(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "outputs.jsonl", _Letters())
    log.add(Ended("a", "finished", "length", (72, 228)))
    log.add(Ended("b", "failed", "lost", ()))
    log.close()

    assert _rows(tmp_path / "outputs.jsonl") == [
        {"request_id": "a", "token_ids": [72, 228], "text": "Hä"},
        {"request_id": "b", "token_ids": [], "text": ""},
    ]


def test_without_a_tokenizer_there_is_no_text(tmp_path: Path) -> None:
    log = OutputLog(tmp_path / "outputs.jsonl", None)
    log.add(Ended("a", "finished", "length", (1, 2)))
    log.close()

    assert _rows(tmp_path / "outputs.jsonl") == [{"request_id": "a", "token_ids": [1, 2]}]


def test_no_log_keeps_nothing() -> None:
    log = NoLog()
    log.add(Ended("a", "finished", "length", (1,)))
    log.close()
