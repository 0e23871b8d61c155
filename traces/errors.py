"""The error that reading, making or cutting a trace raises."""


class TraceError(ValueError):
    """A trace, or a setting for one, is not usable.

    The message is one or two sentences for the person who made the input. It names the file, the line, the field and
    the value where there are any, and says what would be right.

    Attributes:
        line: line in the file that the message names, from 1; None where it is about none.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class OwnTimesError(TraceError):
    """A request rate is given for a file that has times of its own."""


class UnstreamableError(Exception):
    """Requests cannot be taken from a file one by one: it must be held whole to be put in order or checked."""
