"""Versions of what takes part in a run."""

import contextlib
import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """By name; a package that is not installed is left out."""
    found = {"python": platform.python_version()}
    for name in ("twinserve", "simpy", "numpy", "xxhash", "torch", "triton", "flash-attn", "flash-attn-4"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
