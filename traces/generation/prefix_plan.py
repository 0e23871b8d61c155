"""How prompts of a made trace share prefixes."""

from dataclasses import dataclass

from traces.generation.checks import check_count


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixPlan:
    """Trees of shared prefixes.

    A prompt begins with the nodes on a path from a root, of 0 to `depth` nodes, all lengths alike likely, as far as it
    has full blocks for them.

    Attributes:
        roots: number of trees.
        branching: children of each node.
        depth: levels of a tree.
        node_blocks: blocks in one node.

    Raises:
        TraceError: a setting is not a number from 1.
    """

    roots: int = 1
    branching: int = 2
    depth: int = 1
    node_blocks: int = 1

    def __post_init__(self) -> None:
        for name in ("roots", "branching", "depth", "node_blocks"):
            check_count(name.replace("_", "-"), getattr(self, name))
