"""The folder of a small sweep."""

import json
from pathlib import Path
from typing import Any

from analysis.summary import summarise
from analysis.sweep_record import SweepRecord
from tests.run_builder import small_run

RATES = {"vllm,max_num_seqs=4,rate=1": 1.0, "vllm,max_num_seqs=4,rate=2": 2.0}


def small_sweep(folder: Path, *, is_complete: bool = True, **changed: Any) -> Path:
    """Two equal runs, said to be at rates 1 and 2; the second one may be partial."""
    for name, rate in RATES.items():
        run = small_run(folder / name).build(complete=is_complete or rate == 1.0)
        (folder / name / "summary.json").write_text(json.dumps(summarise(run, decision_digest="d")))
    record: dict[str, Any] = {
        "trace": {"name": "tiny", "digests": {"": "abc"}},
        "settings": {"seed": 0},
        "files": {},
        "varied": ("policy", "max_num_seqs"),
        "slo": None,
        "attainment": 0.9,
        "runs": {name: {"rate_scale": rate, "policy": "vllm", "max_num_seqs": 4} for name, rate in RATES.items()},
    }
    SweepRecord(**record | changed).write(folder)
    return folder
