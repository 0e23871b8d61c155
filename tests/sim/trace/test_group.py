import subprocess

import pytest

from tests.sim.command import ROOT, command, in_process

COMMANDS = ("info", "check", "convert", "generate", "merge", "scale")


def test_help_lists_the_commands() -> None:
    text = command("trace", "--help").out
    assert [
        line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2:].split()[0] in COMMANDS
    ] == [*COMMANDS]
    assert "..." not in text.replace("[ARGS]...", "")
    assert "trace " in command("--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_its_own_options_first(name: str) -> None:
    text = command("trace", name, "--help").out
    assert text.startswith("Usage: ")
    own = text.index("\nOptions:\n")
    assert "--help" in text[own:]
    if name != "generate":
        assert own < text.index("\nHow a trace is read:\n") < text.index("--delay-rule")
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_reader_that_stops_early_is_no_fault() -> None:
    words, options = in_process("trace", "info", *[ROOT / "examples" / "shared_prefixes.jsonl"] * 3)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert "Traceback" not in errors
