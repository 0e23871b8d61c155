"""Versions of what takes part in a run, or in making a trace."""

import contextlib
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

RUN_PACKAGES = ("twinserve", "simpy", "numpy", "xxhash", "torch", "triton", "flash-attn", "flash-attn-4")
TRACE_PACKAGES = ("twinserve", "numpy", "msgspec", "zstandard")


def versions(packages: Iterable[str] = RUN_PACKAGES) -> dict[str, str]:
    """By name; a package that is not installed is left out."""
    found = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
