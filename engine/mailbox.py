"""What has come for a request that somebody waits for."""

from dataclasses import dataclass, field

from engine.ended import Ended


@dataclass(slots=True)
class Mailbox:
    """Tokens that have not been fetched, and the end once there is one."""

    token_ids: list[int] = field(default_factory=list)
    ended: Ended | None = None
