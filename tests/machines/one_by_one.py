"""A policy that decides as another one but never schedules all decodes at a stroke."""

from dataclasses import dataclass
from typing import Any, cast

from engine import Policy, Rules, View
from engine.policy import rules_of


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Hides `View.decode_leading` from a policy, so that it calls `compute` for each sequence."""

    policy: Policy

    @property
    def rules(self) -> Rules:
        """Those of the policy."""
        return rules_of(self.policy)

    def select(self, view: View) -> None:
        """Let the policy decide on a view without `decode_leading`."""
        self.policy.select(cast(View, _WithoutDecodeLeading(view)))


class _WithoutDecodeLeading:
    def __init__(self, view: View) -> None:
        self._view = view

    def decode_leading(self, _: int) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)
