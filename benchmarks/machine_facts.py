"""What a result was measured with: machine, versions, command."""

import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

_PACKAGES = ("torch", "triton", "transformers", "flash-attn", "flash-attn-4", "numpy")


def machine_facts() -> dict[str, object]:
    """Facts as JSON values; loads no torch."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "gpus": _gpus(),
        "num_cpus": os.cpu_count(),
    }


def process_age_s() -> float | None:
    """Seconds since this process started, imports and all; None where the system does not tell."""
    try:
        # The command name, second, may hold spaces: count from the parenthesis that ends it.
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        uptime_s = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return None
    return uptime_s - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _gpus() -> list[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run([tool, *query], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):  # facts are not worth a run
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
