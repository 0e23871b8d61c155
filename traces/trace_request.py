"""One request of a trace: what was asked, how much of it, and when."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest:
    """One row of a trace.

    Two requests are equal when they ask for the same; the line they stand on does not count.

    The content of the prompt is known by `hash_ids` together with the trace's `block_size`: id k stands for prompt
    tokens `[k * block_size, (k + 1) * block_size)`, cut at `input_length`, and equal ids at equal positions mean equal
    tokens. Tokens behind the last id, and the whole prompt where `hash_ids` is None, are shared with no other request.

    Attributes:
        request_id: unique in the trace; `r<k>` where the file gives none, k being the position among data rows from 0.
        line: line in the file, from 1; where lines are no requests (a generated trace, sessions of many calls in a
            line), the position from 1.
        input_length: tokens of the prompt, at least 1. It holds with `prompt` too: no text is counted here.
        output_length: tokens that the original answer had, at least 1.
        arrival_s: seconds on the trace's own clock, a multiple of 2**-30; None for a later turn of a session, which
            arrives `delay_s` after the turn before it has ended.
        delay_s: seconds between the end of the turn before and this one, a multiple of 2**-30; None unless this is a
            later turn.
        session_id: conversation that this request is a turn of, or None.
        priority: smaller is more urgent.
        hash_ids: one id in [0, 2**64) for each trace block of the prompt, or None.
        prompt: the text, where the trace has it. It stands beside `hash_ids`, not instead of them.
    """

    request_id: str
    line: int = field(compare=False)
    input_length: int
    output_length: int
    arrival_s: float | None = None
    delay_s: float | None = None
    session_id: str | None = None
    priority: int = 0
    hash_ids: tuple[int, ...] | None = None
    prompt: str | None = None
