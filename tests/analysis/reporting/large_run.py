"""A run of very many requests, written as whole tables at once: row by row it would take longer than what is tested."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.json_file import write_json
from analysis.run import Run, load
from analysis.schema import FORMAT, FORMAT_VERSION, SCHEMAS
from tests.run_builder import META

STEP_S = 2.0**-7


def large_run(path: Path, num: int) -> Run:
    """Request k arrives with step k, waits for k % 7 steps, and gets its tokens in the 1 + k % 50 steps from there."""
    rng = np.random.default_rng(0)
    k = np.arange(num)
    first, count = k + k % 7, 1 + k % 50
    num_steps = num + 60
    running = np.cumsum(np.bincount(first, minlength=num_steps) - np.bincount(first + count, minlength=num_steps))
    steps: dict[str, Any] = dict.fromkeys(SCHEMAS["steps"].names, np.zeros(num_steps, np.int64))
    steps |= {
        "step": np.arange(num_steps),
        "start_s": np.arange(num_steps) * STEP_S,
        "duration_s": np.full(num_steps, STEP_S),
        "host_s": np.full(num_steps, STEP_S / 4),
        "device_s": np.full(num_steps, STEP_S * 3 / 4),
        "graph_size": pa.nulls(num_steps, pa.int32()),
        "num_prefill_tokens": rng.integers(0, 500, num_steps),
        "num_prefill_seqs": np.ones(num_steps, np.int64),
        "num_decode_seqs": running,
        "num_running": running,
        "num_used_blocks": running,
    }
    requests: dict[str, Any] = {
        "index": k,
        "request_id": [f"r{row}" for row in range(num)],
        "session_id": pa.nulls(num, pa.string()),
        "line": k + 1,
        "priority": np.zeros(num, np.int64),
        "input_tokens": np.full(num, 100),
        "requested_output_tokens": count,
        "output_tokens": count,
        "arrival_s": k * STEP_S,
        "submit_s": k * STEP_S,
        "first_scheduled_s": first * STEP_S,
        "first_token_s": (first + 1) * STEP_S,
        "last_token_s": (first + count) * STEP_S,
        "finish_s": (first + count) * STEP_S,
        "status": ["finished"] * num,
        "reason": ["length"] * num,
        "hit_tokens": 10 * (k % 3),
        "reprefill_tokens": np.zeros(num, np.int64),
        "num_preemptions": np.zeros(num, np.int64),
        "preempted_s": np.zeros(num),
        "emission_first_steps": first[:, None].tolist(),
        "emission_counts": count[:, None].tolist(),
    }
    events: dict[str, Any] = {name: [] for name in SCHEMAS["events"].names}
    path.mkdir()
    for name, columns in (("steps", steps), ("requests", requests), ("events", events)):
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in SCHEMAS[name]]
        pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMAS[name]), path / f"{name}.parquet")
    write_json(path / "meta.json", {"format": FORMAT, "format_version": FORMAT_VERSION, "complete": True, **META})
    write_json(path / "summary.json", {})
    return load(path)
