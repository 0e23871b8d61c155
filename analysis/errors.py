"""Errors that reading, writing or judging a run raises for what a caller or a file can cause."""


class AnalysisError(ValueError):
    """Base of every error of this package; each message is one sentence or two that name the value and the remedy."""


class RunError(AnalysisError):
    """A run directory cannot be written, is none, or holds something that a run cannot hold."""


class SloError(AnalysisError):
    """A service level objective or a duration is written in a way that has no meaning."""


class ReportError(AnalysisError):
    """A report cannot be made as it was asked for."""
