"""Which configurations a sweep runs."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from sim.errors import SimError
from sim.policy_loader import policy_parameters
from sim.replay_settings import POLICY_SETTINGS
from sim.sweeping.axes import Axes

Configuration = dict[str, Any]


def parse_policies(text: str) -> tuple[str, ...]:
    """Read names of policies with commas between them.

    Raises:
        SimError: one is empty or comes twice.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if not name:
            raise SimError(f"--policies {text!r} has an empty name; give vllm, nano-vllm or FILE.py:Name.")
        if names.count(name) > 1:
            raise SimError(f"--policies gives {name} twice; leave one of them.")
    return names


def configurations(policies: Sequence[str], axes: Axes) -> tuple[list[Configuration], list[str]]:
    """All combinations, policies first, the last axis changing quickest.

    A policy that does not have a setting that varies is left out, as its runs would not differ in it.

    Returns:
        The configurations, and a sentence on each policy that is left out.

    Raises:
        SimError: a policy is not known, or none is left.
    """
    kept: list[Configuration] = []
    notices: list[str] = []
    combinations = list(product(*axes.values()))
    for policy in policies:
        lacking = _lacking(policy, axes)
        if lacking:
            notices.append(
                f"Policy {policy} has no setting {', '.join(lacking)}, which varies: its {len(combinations)} "
                f"combination{'s are' if len(combinations) > 1 else ' is'} skipped."
            )
        else:
            kept += [{"policy": policy, **dict(zip(axes, values, strict=True))} for values in combinations]
    if not kept:
        raise SimError(f"Nothing is left to run. {' '.join(notices)}")
    return kept, notices


def _lacking(policy: str, axes: Axes) -> list[str]:
    parameters = policy_parameters(policy)
    return [name for name in axes if name in POLICY_SETTINGS and name not in parameters]
