"""Turns a policy's name into the policy."""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from engine import NanoVllmPolicy, Policy, VllmPolicy
from sim.errors import SimError
from sim.policy_fault import in_words

KNOWN: dict[str, type[Policy]] = {"vllm": VllmPolicy, "nano-vllm": NanoVllmPolicy}


def load_policy(name: str, settings: dict[str, Any]) -> Policy:
    """Make a policy.

    Args:
        name: a known one, or FILE.py:Name for a class of one's own with a `select(view)` method.
        settings: what its constructor is given by name.

    Raises:
        SimError: there is no such policy, or it does not have a setting that is given.
        SettingError: a value is out of range.
    """
    policy_class = KNOWN.get(name) or _class_in_file(name)
    parameters = inspect.signature(policy_class).parameters
    unknown = sorted(set(settings) - set(parameters))
    if unknown:
        has = f"it has {', '.join(parameters)}" if parameters else "it has no settings at all"
        raise SimError(f"Policy {name} has no setting {', '.join(unknown)}; {has}.")
    return policy_class(**settings) if name in KNOWN else _made(name, policy_class, settings)


def policy_parameters(name: str) -> tuple[str, ...]:
    """Names of the settings that a policy has.

    Raises:
        SimError: there is no such policy.
    """
    return tuple(inspect.signature(KNOWN.get(name) or _class_in_file(name)).parameters)


def _made(name: str, policy_class: type[Policy], settings: dict[str, Any]) -> Policy:
    """An instance of a user's class, which may be anything."""
    try:
        policy = policy_class(**settings)
    except Exception as error:
        raise SimError(f"Policy {name} cannot be made: {in_words(error)}.") from error
    try:
        inspect.signature(policy.select).bind(None)
    except (AttributeError, TypeError, ValueError) as error:
        raise SimError(f"Policy {name}: select must take one argument, the view ({error}).") from error
    if inspect.iscoroutinefunction(policy.select) or inspect.isgeneratorfunction(policy.select):
        raise SimError(f"Policy {name}: select must be a plain function, not a generator and not async.")
    return policy


def _class_in_file(name: str) -> type[Policy]:
    path, colon, class_name = name.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise SimError(f"There is no policy {name!r}; known: {', '.join(KNOWN)}, or FILE.py:Name for one of your own.")
    policy_class = getattr(_module(Path(path)), class_name, None)
    if not inspect.isclass(policy_class) or not callable(getattr(policy_class, "select", None)):
        raise SimError(f"{path} has no class {class_name!r} with a method select(view).")
    return cast("type[Policy]", policy_class)


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise SimError(f"{path} does not exist; name the Python file that holds the policy.")
    # Prefixed, so that a file named like another module does not take its place.
    spec = importlib.util.spec_from_file_location(f"_policy_{path.stem}", path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses with annotations kept as text look their module up.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever a user's file raises is the user's to mend
        raise SimError(f"{path} cannot be loaded: {in_words(error)}.") from error
    return module
