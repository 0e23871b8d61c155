"""A run's own engine again, as the scheduler saw it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.run import Run
from backends.graph_table import GraphTable
from backends.replay_tokens import ReplayTokens
from backends.simulated import load_model_sheet
from engine import Limits, Tokenizer
from sim.errors import SimError
from sim.logged_tokens import LoggedTokens, TokenSource, load_outputs
from sim.pace import VirtualPace
from sim.parts import Engine, Parts
from sim.policy_loader import load_policy
from sim.prompt_texts import tokenise
from sim.recorded_backend import RecordedBackend
from sim.recorded_steps import RecordedSteps
from sim.recorded_trace import positive
from sim.replay_settings import ReplaySettings
from sim.setting_sources import resolve
from sim.step_clock import PredictedClock
from traces import Trace


def recorded_parts(run: Run, steps: RecordedSteps) -> Parts:
    """Parts that schedule as the run did and take as long as it took; the clock never waits.

    Raises:
        SheetError: its model is not known, and it has not recorded what is needed of it.
        SimError: its settings, policy or outputs cannot be had.
        SettingError: its settings do not fit each other.
    """
    settings = _settings(run)
    assert settings.block_size is not None, "checked with the settings"
    assert settings.max_model_len is not None, "checked with the settings"
    limits = Limits(
        block_size=settings.block_size,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        max_num_seqs=settings.max_num_seqs,
        max_model_len=settings.max_model_len,
    )
    policy = load_policy(settings.policy, settings.policy_settings)
    return Parts(settings, limits, policy, _engine(run, settings, steps), VirtualPace())


def recorded_token_ids(run: Run, trace: Trace) -> Mapping[str, Sequence[int]]:
    """Tokens of the prompts that a run has tokenised, by request id.

    Raises:
        ModelError: the tokenizer is broken.
        SimError: the tokenizer cannot be had.
    """
    if all(request.prompt is None for request in trace.requests):
        return {}
    return tokenise(trace, _tokenizer(run))[1]


def _settings(run: Run) -> ReplaySettings:
    settings = resolve({"backend": "sim"}, None, run.path)
    policy_file, _, _ = settings.policy.rpartition(":")
    if policy_file and not Path(policy_file).is_file():
        raise SimError(f"The policy of {run.path}, {settings.policy}, is not here; verify it where it was replayed.")
    for name in ("block_size", "max_model_len"):
        if getattr(settings, name) is None:
            raise SimError(f"{run.path / 'meta.json'} has no setting {name}; a run of sim replay has all of them.")
    return replace(settings, cost=None)


def _engine(run: Run, settings: ReplaySettings, steps: RecordedSteps) -> Engine:
    vocab_size = positive(run, "vocab_size", run.meta.get("vocab_size")) or load_model_sheet(settings.model).vocab_size
    assert settings.max_model_len is not None, "checked with the settings"
    graphs = GraphTable(settings.graph_sizes or (), settings.mixed_graph_sizes or ())
    tokens = _tokens(run, ReplayTokens(vocab_size))
    return Engine(
        backend=RecordedBackend(steps, tokens, num_blocks=run.meta["num_kv_blocks"], graphs=graphs),
        step_clock=PredictedClock(),
        max_model_len=settings.max_model_len,
        vocab_size=vocab_size,
        graph_sizes=graphs.sizes,
        mixed_graph_sizes=graphs.mixed_sizes,
        hardware={"kind": "recorded"},
    )


def _tokens(run: Run, replayed: ReplayTokens) -> TokenSource:
    if not run.meta["settings"].get("free_run"):
        return replayed
    return LoggedTokens(load_outputs(run.path / "outputs.jsonl", run.is_complete), replayed)


def _tokenizer(run: Run) -> Tokenizer | None:
    """The tokenizer that the run had; a run that does not say has the one in its model's folder."""
    had_one = run.meta.get("has_tokenizer", run.meta["settings"].get("backend") == "gpu")
    folder = Path(run.meta["settings"].get("model", ""))
    if not had_one:
        return None
    if not folder.is_dir():
        if "has_tokenizer" not in run.meta:
            return None
        raise SimError(f"{run.path}: prompts are texts, and the model folder {folder} that tokenises them is not here.")
    from backends.qwen3.tokenizer import HFTokenizer  # loads transformers

    tokenizer: Tokenizer | None = HFTokenizer.from_folder(folder)
    return tokenizer
