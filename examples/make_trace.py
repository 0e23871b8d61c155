"""Makes a trace from the generator settings in its side file.

    python -m examples.make_trace examples/shared_prefixes.meta.json

writes `examples/shared_prefixes.jsonl` beside it. For a trace of your own, copy the side file and change the settings.
"""

import json
import sys
from pathlib import Path
from typing import Any

from traces import GeneratorSettings, TraceError, generate, write_trace

SIDE_SUFFIX = ".meta.json"


def make_trace(side_path: Path) -> Path:
    """Write the trace that a side file describes and return its path.

    Raises:
        TraceError: the settings are wrong, or the trace exists already.
    """
    trace_path = side_path.with_name(side_path.name.removesuffix(SIDE_SUFFIX) + ".jsonl")
    try:
        settings = GeneratorSettings(**_stated_settings(side_path))
    except TypeError as error:  # the constructor was called with a setting that it does not have
        raise TraceError(f"{side_path} does not fit the generator: {error}") from error
    write_trace(generate(settings), trace_path)
    return trace_path


def _stated_settings(side_path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(side_path.read_text(encoding="utf-8-sig"))["generator"]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TraceError(f"{side_path} holds no generator settings ({error})") from error
    if not isinstance(settings, dict):
        raise TraceError(f"{side_path} holds no generator settings: generator is {settings!r}, but must be an object")
    return settings


def main(arguments: list[str]) -> int:
    """Make the trace named on the command line; return the exit code."""
    if len(arguments) != 1 or not arguments[0].endswith(SIDE_SUFFIX):
        print(f"usage: python -m examples.make_trace NAME{SIDE_SUFFIX}", file=sys.stderr)
        return 2
    try:
        print(make_trace(Path(arguments[0])))
    except TraceError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
