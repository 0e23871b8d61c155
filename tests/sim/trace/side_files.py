"""The side files of traces that a command has made."""

import json
from pathlib import Path
from typing import Any


def meta_of(path: Path) -> dict[str, Any]:
    """What the side file of a trace says."""
    value = json.loads(path.with_name(f"{path.name.partition('.')[0]}.meta.json").read_text())
    assert isinstance(value, dict)
    return value
