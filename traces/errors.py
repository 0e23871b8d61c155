"""The one error that reading, making or cutting a trace raises."""


class TraceError(ValueError):
    """A trace, or a setting for one, is not usable.

    The message is one or two sentences for the person who made the input. It names the file, the line, the field and
    the value where there are any, and says what would be right.
    """
