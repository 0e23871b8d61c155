"""Conversations as texts, in the manner of ShareGPT and LMSYS: JSON, no times, no lengths."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from traces.drawn_arrivals import DrawnArrivals
from traces.errors import TraceError
from traces.json_values import JsonValues
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.row_decoder import RowDecoder
from traces.text_tokenizer import TextTokenizer
from traces.trace_lines import TraceLines

CONVERSATION_FIELDS = ("conversations", "conversation", "messages")
ASKING = ("human", "user")
ANSWERING = ("gpt", "chatgpt", "assistant", "bing", "bard")
BATCH = 1000


class Turn(Struct, rename={"speaker": "from"}):
    """One turn, in either manner of naming."""

    speaker: str | None = None
    value: str | None = None
    role: str | None = None
    content: str | None = None


class Conversation(Struct):
    """One object of the file."""

    conversations: list[Turn] | None = None
    conversation: list[Turn] | None = None
    messages: list[Turn] | None = None


MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(CONVERSATION_FIELDS, "a list of turns"),
    **dict.fromkeys(("from", "value", "role", "content"), "a text"),
}
UNUSED = ("id", "conversation_id", "model", "turn", "language", "openai_moderation", "redacted", "idx", "source")


def read_sharegpt(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the first question of each conversation with its answer, and count their tokens.

    Nothing is filtered by length; special tokens and chat templates are not added. Conversations arrive at 0, or as a
    Poisson process at the request rate; those without a question and answer, or with one of zero tokens, are dropped
    and counted.

    Raises:
        TraceError: there is no tokenizer, or the file is not what it must be.
    """
    settings.check_arrivals(False, "times", lines)
    if settings.tokenizer is None:
        raise TraceError(
            f"{lines.path} holds texts, whose lengths need a tokenizer; give the path of a tokenizer.json (--tokenizer)"
        )
    tokenizer = TextTokenizer(settings.tokenizer)
    decoder = RowDecoder(Conversation, MEANINGS, lines, UNUSED)
    recording = Recording(lines, settings, origin_ns=0)
    arrivals = DrawnArrivals(settings)
    for batch in _batches(lines, settings, decoder, recording):
        num_inputs = tokenizer.num_tokens([prompt for _, prompt, _ in batch])
        num_outputs = tokenizer.num_tokens([answer for _, _, answer in batch])
        for (index, prompt, _), *lengths in zip(batch, num_inputs, num_outputs, strict=True):
            if not recording.drops(("the question", lengths[0]), ("the answer", lengths[1])):
                row = RecordedRow(index, index + 1, arrivals.next_ns(), lengths[0], lengths[1], prompt=prompt)
                recording.add(row)
    return recording.parsed(
        "Read as conversations in the manner of ShareGPT: of each the first question with its answer.",
        arrivals.notice("requests"),
        f"Tokens were counted with {tokenizer.name}, without special tokens; nothing was filtered by length.",
        *decoder.notices,
    )


def _batches(
    lines: TraceLines, settings: ReadSettings, decoder: RowDecoder[Conversation], recording: Recording
) -> Iterator[list[tuple[int, str, str]]]:
    """Yield (position in the file, question, answer), many at once since a tokenizer is quick with many."""
    batch: list[tuple[int, str, str]] = []
    for index, (line, content) in enumerate(JsonValues(lines, settings.max_line_bytes)):
        conversation = decoder.decode(line, content)
        turns = conversation.conversations or conversation.conversation or conversation.messages
        pair = _question_and_answer(turns or ())
        if pair is None:
            recording.drop("they have no question with an answer")
            continue
        batch.append((index, *pair))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _question_and_answer(turns: Sequence[Turn]) -> tuple[str, str] | None:
    for question, answer in pairwise(turns):
        if _speaker(question) in ASKING and _speaker(answer) in ANSWERING:
            return _text(question), _text(answer)
    return None


def _speaker(turn: Turn) -> str:
    return turn.speaker or turn.role or ""


def _text(turn: Turn) -> str:
    return turn.value or turn.content or ""
