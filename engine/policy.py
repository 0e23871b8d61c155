"""The seam between what can be done and what should be done next."""

from collections.abc import Callable
from typing import Protocol

from engine.errors import PolicyError
from engine.rules import Rules
from engine.view import View


class Policy(Protocol):
    """Decides one step at a time.

    A policy may also have an attribute `rules: Rules`; without one the defaults hold. And a method `only_decodes(view)
    -> bool`: whether `select` will do nothing but let every running sequence decode one token, in order, and do so
    again after each such step, as long as the running set stays, nothing arrives and blocks are left. It is asked when
    every running sequence has sampled in the step before, changes nothing, and lets a simulation take many steps at a
    time; without it every step is asked for.
    """

    def select(self, view: View) -> None:
        """Ask the view for everything that this step shall do; asking for nothing is legal while others can go on."""
        ...


def rules_of(policy: Policy) -> Rules:
    """The rules that a policy names, else the defaults.

    Raises:
        PolicyError: it has an attribute `rules` that is something else.
    """
    rules = getattr(policy, "rules", Rules())
    if not isinstance(rules, Rules):
        raise PolicyError(f"{type(policy).__name__}.rules is {rules!r}; it must be an engine.Rules, or not be there.")
    return rules


def foresight_of(policy: Policy) -> Callable[[View], bool]:
    """The policy's `only_decodes`, else one that is never sure.

    It counts only for the very class that defines it: a subclass may decide otherwise, and must say it again.
    """
    if "only_decodes" not in vars(type(policy)):
        return lambda _: False
    only_decodes: Callable[[View], bool] = policy.only_decodes  # type: ignore[attr-defined]  # it may have it, see above
    return only_decodes
