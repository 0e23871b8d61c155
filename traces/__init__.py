"""Request traces: what was asked of a server, and when."""

from traces.delay_rule import DelayRule
from traces.errors import TraceError
from traces.generator import generate
from traces.generator_settings import GeneratorSettings
from traces.read_settings import ReadSettings
from traces.reader import read_trace
from traces.trace import Trace
from traces.trace_request import TraceRequest
from traces.window import Window
from traces.writer import write_trace

__all__ = [
    "DelayRule",
    "GeneratorSettings",
    "ReadSettings",
    "Trace",
    "TraceError",
    "TraceRequest",
    "Window",
    "generate",
    "read_trace",
    "write_trace",
]
