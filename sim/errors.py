"""Errors of the command line that are not another room's."""


class SimError(ValueError):
    """A setting, a file or a combination of them cannot work; the message is one sentence or two with the remedy."""
