"""What comes back for one request."""

from dataclasses import dataclass

from engine.ended import EndStatus


@dataclass(frozen=True, slots=True)
class RequestOutput:
    """Result of one request.

    Attributes:
        request_id: which.
        prompt_token_ids: the prompt as it was computed.
        token_ids: the output tokens.
        text: the output as text, or None without a tokenizer.
        status: "finished", "aborted" or "failed".
        finish_reason: "length" or "stop" when finished, else why not.
    """

    request_id: str
    prompt_token_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    text: str | None
    status: EndStatus
    finish_reason: str
