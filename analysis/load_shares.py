"""How much of a load was open loop, and how much waited for answers."""

from typing import Any

import numpy as np

from analysis.arrow_values import to_numpy
from analysis.metrics import rate
from analysis.run import Run

COLUMNS = ["index", "session_id", "input_tokens", "requested_output_tokens"]


def load_shares(run: Run) -> dict[str, float | None]:
    """Computes the shares of open and closed loop in the requests of a run and in their tokens.

    A later turn of a session waits for the end of the turn before: closed loop. All else comes at a time that no answer
    moves: open loop. Tokens are those of the prompt and those asked for.

    Returns:
        `open_request_share`, `closed_request_share`, `open_token_share` and `closed_token_share`, from 0 to 1; None
        without requests.
    """
    table = run.table("requests", COLUMNS).sort_by("index")
    is_closed = _is_later_turn(table.column("session_id").to_pylist())
    tokens = to_numpy(table.column("input_tokens")) + to_numpy(table.column("requested_output_tokens"))
    num_closed, num_closed_tokens = int(is_closed.sum()), int(tokens[is_closed].sum())
    num, num_tokens = len(is_closed), int(tokens.sum())
    return {
        "open_request_share": rate(num - num_closed, num),
        "closed_request_share": rate(num_closed, num),
        "open_token_share": rate(num_tokens - num_closed_tokens, num_tokens),
        "closed_token_share": rate(num_closed_tokens, num_tokens),
    }


def _is_later_turn(sessions: list[str | None]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    seen: set[str | None] = {None}
    flags = np.zeros(len(sessions), np.bool_)
    for position, session in enumerate(sessions):
        flags[position] = session is not None and session in seen
        seen.add(session)
    return flags
