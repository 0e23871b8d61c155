"""Errors that a model folder, a setting or the hardware can cause."""


class ModelError(ValueError):
    """The model, its files or the way to run it cannot work; the message names the value and the remedy."""
