"""Limits of an engine that stands before a backend with limits of its own."""

from collections.abc import Mapping
from dataclasses import asdict

from engine.backend import Backend, LimitedBackend
from engine.errors import SettingError
from engine.limits import Limits


def limits_for(backend: Backend, values: Mapping[str, int]) -> Limits:
    """Limits by name; where a name is missing, the backend's own if it has any, else the default.

    Raises:
        SettingError: a name is unknown, a limit is below 1, or more than the backend was made for.
    """
    own = backend.limits if isinstance(backend, LimitedBackend) else None
    if own is None:
        return Limits.of(values)
    most = asdict(own)
    limits = Limits.of(most | dict(values))
    if limits.block_size != most["block_size"]:
        raise SettingError(
            f"block_size is {limits.block_size}, but the backend's blocks have {most['block_size']} tokens; leave it "
            f"out here, or make the backend with it."
        )
    for name, limit in asdict(limits).items():
        if limit > most[name]:
            raise SettingError(
                f"{name} is {limit}, but the backend was made for at most {most[name]}; lower it, or make the backend "
                f"with as much."
            )
    return limits
