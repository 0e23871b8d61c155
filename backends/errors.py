"""Errors of the backends for what a caller or a file can cause; each message names the value and the remedy."""


class SheetError(ValueError):
    """A model or GPU sheet is unknown, unreadable or holds a value that cannot be."""


class RecordedStepsError(ValueError):
    """Recorded step times do not belong to the steps that are being run."""
