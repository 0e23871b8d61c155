"""Which columns of a CSV file of one's own hold what."""

from dataclasses import dataclass

from traces.errors import TraceError

NEEDED = ("time", "input", "output")
OPTIONAL = ("session", "id", "priority")
COLUMNS_PATTERN = "time=NAME,input=NAME,output=NAME"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Names of columns, as the header of the file has them.

    Attributes:
        time: when a request arrives: a number in some unit, or a date and time.
        input: tokens of its prompt.
        output: tokens of its answer.
        session: conversation that it belongs to; None where the file has none.
        id: its own id; likewise.
        priority: whole number by which it is scheduled; likewise.
    """

    time: str
    input: str
    output: str
    session: str | None = None
    id: str | None = None
    priority: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ColumnMap":
        """Return the map that a text such as "time=request_time,input=prompt_len,output=gen_len" means.

        Raises:
            TraceError: a part is not written so, says what is not known or said twice, or one is missing.
        """
        names: dict[str, str] = {}
        for item in text.split(","):
            key, equals, name = (part.strip() for part in item.partition("="))
            if not (equals and name) or key not in _KEYS:
                raise _error(text, f"{item.strip()!r} is none of {', '.join(f'{each}=NAME' for each in _KEYS)}")
            if key in names:
                raise _error(text, f"{key} is given twice; leave one of them")
            if name in names.values():
                raise _error(text, f"column {name!r} is named for two things; name another for one of them")
            names[key] = name
        missing = [key for key in NEEDED if key not in names]
        if missing:
            raise _error(text, f"nothing says {' and '.join(missing)}; write {COLUMNS_PATTERN}")
        return cls(**names)

    @property
    def needed(self) -> tuple[str, str, str]:
        """The columns that each file has."""
        return self.time, self.input, self.output

    @property
    def optional(self) -> tuple[str, ...]:
        """Those that were named beside them."""
        return tuple(name for name in (self.session, self.id, self.priority) if name is not None)


_KEYS = (*NEEDED, *OPTIONAL)


def _error(text: str, sentence: str) -> TraceError:
    return TraceError(f"columns are {text!r}, in which {sentence}")
