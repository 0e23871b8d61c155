"""What a policy asks of the queues and the block manager; nothing else in the engine knows which policy runs."""

from dataclasses import dataclass
from typing import Literal

from engine.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A small value that a policy names; the defaults are those of policy `vllm`.

    Attributes:
        waiting_order: "arrival" keeps first come, first served, with preempted sequences put back at the head;
            "priority" orders by (priority, arrival).
        prefix_caching: whether full blocks get keys and can be hit.
        register_when: "scheduled" makes a block's key known when the step that fills it is planned, so that a later
            request of the same step can hit it; "computed" only after the step has run.
        keep_duplicates: True keeps all blocks of one key and returns the oldest; False lets the newest replace it.
        reuse_unkeyed_first: True puts freed blocks without a key at the head of the free list (they hold nothing
            that anyone could hit); False keeps the list first in, first out.
        chunked_prefill: whether a prompt may be computed in several steps; if not, one above the step's token budget
            is refused when added.

    Raises:
        SettingError: an order or a time is not one of these.
    """

    waiting_order: Literal["arrival", "priority"] = "arrival"
    prefix_caching: bool = True
    register_when: Literal["scheduled", "computed"] = "scheduled"
    keep_duplicates: bool = True
    reuse_unkeyed_first: bool = True
    chunked_prefill: bool = True

    def __post_init__(self) -> None:
        _check("waiting_order", self.waiting_order, ("arrival", "priority"))
        _check("register_when", self.register_when, ("scheduled", "computed"))


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SettingError(f"{name} is {value!r}; known: {', '.join(known)}.")
