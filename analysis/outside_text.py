"""What lies outside of a cost model, in words."""

from collections.abc import Mapping
from typing import Any

_MOST = 2
"""Sizes that are named; more are in the summary."""


def outside_text(block: Mapping[str, Any]) -> str | None:
    """One sentence on the steps of a simulation outside what its cost model was fitted to; None if there are none.

    Args:
        block: `cost_model` of a summary.
    """
    if not block.get("outside_share"):
        return None
    share = f"{share_text(block['outside_share'])} of the steps have shapes that the cost model was not calibrated for"
    sizes = [_size(each) for each in block.get("outside", [])[:_MOST]]
    return f"{share}: {', '.join(sizes)}." if sizes else f"{share}."


def _size(each: Mapping[str, Any]) -> str:
    share = share_text(each["share"])
    if each["furthest"] is None:
        return f"class {each['size']} ({share})"
    way = "up" if each["furthest"] > each["measured"] else "down"
    return f"{each['size']} {way} to {each['furthest']:,.0f}, measured {way} to {each['measured']:,.0f} ({share})"


def share_text(share: float) -> str:
    """A share in percent, with two digits or, from 10 % on, as a whole number."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
