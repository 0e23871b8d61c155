import inspect
import re
from importlib import resources

import pytest

from backends.simulated import load_gpu_sheet, load_model_sheet
from sim.__main__ import app
from sim.grouped_help import CommandsHelp, ReplayHelp
from sim.replay_command import GPUS, MODELS, replay
from tests.sim.command import command


def test_options_stand_under_headings() -> None:
    text = command("replay", "--help").out
    places = [text.index(f"\n{title}:\n") for title in ("Argument", *ReplayHelp.GROUPS, "Run and report")]
    assert places == sorted(places)
    limits = text[text.index("\nLimits:") : text.index("\nPolicy:")]
    assert "--max-num-seqs" in limits
    assert "--policy" not in limits
    assert "--help" in text[places[-1] :]


def test_each_name_in_a_group_is_a_parameter_and_each_option_is_shown_once() -> None:
    names = [name for group in ReplayHelp.GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) <= set(inspect.signature(replay).parameters)
    text = command("replay", "--help").out
    assert text.count("\n  -") == len(inspect.signature(replay).parameters)  # --help in place of the trace


def test_models_and_gpus_are_those_that_have_a_sheet() -> None:
    sheets = resources.files("backends.simulated") / "sheets"
    gpus = [load_gpu_sheet(file.name.removesuffix(".toml")).name for file in (sheets / "gpus").iterdir()]
    assert ", ".join(sorted(gpus)) == GPUS
    models = {load_model_sheet(file.name.removesuffix(".toml")).name for file in (sheets / "models").iterdir()}
    sizes = MODELS.removeprefix("Llama-3.1-8B (sim only), Qwen3-").split(", ")
    assert models == {"Llama-3.1-8B", *(f"Qwen3-{size}" for size in sizes)}


def test_commands_stand_under_headings_each_with_a_sentence() -> None:
    text = command("--help").out
    places = [text.index(f"\n{title}:\n") for title in CommandsHelp.GROUPS]
    assert places == sorted(places)
    names = [info.name or getattr(info.callback, "__name__", "") for info in app.registered_commands]
    for name in names:
        (sentence,) = re.findall(rf"^  {name}  +(\S.*(?:\n {{6,}}\S.*)*)$", text, re.MULTILINE)
        assert sentence.endswith("."), "it is cut"
    assert "Others:" not in text


def test_nothing_in_help_is_cut_or_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for args in ((), *((info.name,) for info in app.registered_commands)):
        text = command(*filter(None, args), "--help").out
        assert max(map(len, text.splitlines())) <= 80
        assert not re.search(r"^(?!Usage).*\.\.\.$", text, re.MULTILINE), args
