"""The seam between what can be done and what should be done next."""

from typing import Protocol

from engine.errors import PolicyError
from engine.rules import Rules
from engine.view import View


class Policy(Protocol):
    """Decides one step at a time.

    A policy may also have an attribute `rules: Rules`; without one the defaults hold.
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
