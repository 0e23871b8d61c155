"""Errors that the engine raises for what a caller or a file can cause; each message names the value and the remedy."""


class EngineError(Exception):
    """Base of every error that the engine raises on purpose."""


class SettingError(EngineError, ValueError):
    """A limit, a policy setting or a sampling parameter has a value that cannot work."""


class RequestError(EngineError, ValueError):
    """A request was refused when it was added; nothing was queued."""


class BackendError(EngineError, RuntimeError):
    """A backend could not execute a batch; the requests in it have failed."""


class BackendEndedError(BackendError):
    """A backend has come to its end, in this batch or before, and will execute nothing more."""


class PolicyError(EngineError, ValueError):
    """A policy asked for something that cannot be."""


class NoProgressError(EngineError, RuntimeError):
    """A policy scheduled nothing although requests wait or run, and would do so again."""
