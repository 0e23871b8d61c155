"""Result files as `vllm bench serve --save-result --save-detailed` writes them, small and with round times."""

import json
from pathlib import Path
from typing import Any

GOOD: dict[str, Any] = {
    "date": "20260301-120000",
    "endpoint_type": "openai",
    "backend": "openai",
    "label": None,
    "model_id": "Qwen/Qwen3-8B",
    "tokenizer_id": "Qwen/Qwen3-8B",
    "num_prompts": 3,
    "request_rate": 2.0,
    "burstiness": 1.0,
    "max_concurrency": None,
    "duration": 5.0,
    "completed": 2,
    "failed": 1,
    "total_input_tokens": 30,
    "total_output_tokens": 5,
    "mean_ttft_ms": 375.0,
    "input_lens": [10, 20, 40],
    "output_lens": [3, 2, 0],
    "ttfts": [0.5, 0.25, 0.0],
    "itls": [[0.25, 0.5], [1.0], []],
    "start_times": [1000.0, 1000.5, 1002.0],
    "generated_texts": ["a b c", "d e", ""],
    "errors": ["", "", "Traceback (most recent call last):\n  ...\nTimeoutError: 300 s"],
}
"""Tokens come at 0.5, 0.75 and 1.25 s, and at 0.75 and 1.75 s, after the first start; the third fails."""


def write_result(path: Path, *leave_out: str, **changes: Any) -> Path:
    """Writes GOOD with some keys changed or left out."""
    values = {name: value for name, value in (GOOD | changes).items() if name not in leave_out}
    path.write_text(json.dumps(values))
    return path
