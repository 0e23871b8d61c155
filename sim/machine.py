"""What this process runs on, as far as step times depend on it."""

import os
import platform
import re
from pathlib import Path

_CPU_NAME = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_DRIVER_VERSION = re.compile(r"Kernel Module[^0-9]*([0-9.]+)")


def machine() -> dict[str, str | int]:
    """The processor, which sets what the host's work costs, and the version of the GPU's driver where there is one."""
    facts: dict[str, str | int] = {
        "cpu": _found(_CPU_NAME, "/proc/cpuinfo") or platform.processor() or platform.machine(),
        "num_cpus": os.cpu_count() or 1,
    }
    driver = _found(_DRIVER_VERSION, "/proc/driver/nvidia/version")
    return facts | ({"driver": driver} if driver else {})


def _found(pattern: re.Pattern[str], path: str) -> str | None:
    try:
        match = pattern.search(Path(path).read_text("utf-8"))
    except OSError:  # not this kind of system
        return None
    return match.group(1).strip() if match else None
