"""Request traces: what was asked of a server, and when."""

from traces.errors import TraceError
from traces.generator import generate
from traces.generator_settings import GeneratorSettings
from traces.reader import read_trace
from traces.trace import Trace
from traces.trace_request import TraceRequest
from traces.writer import write_trace

__all__ = ["GeneratorSettings", "Trace", "TraceError", "TraceRequest", "generate", "read_trace", "write_trace"]
