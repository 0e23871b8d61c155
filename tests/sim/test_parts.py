from dataclasses import replace
from pathlib import Path

import pytest
import simpy

from engine import Limits, Scheduler, SettingError, VllmPolicy
from sim.arrivals import Arrivals
from sim.decision_digest import DecisionDigest
from sim.errors import SimError
from sim.interrupt import Interrupt
from sim.one_by_one import OneByOne
from sim.pace import VirtualPace, WallPace
from sim.parts import make_parts
from sim.recorder import Recorder
from sim.replay_settings import ReplaySettings
from sim.serving import Serving
from sim.stretches import Stretches
from tests.sim.small_world import Log, ScriptedBackend

POLICY = """
from dataclasses import dataclass

@dataclass
class Mine:
    seed: int = 77
    limit: int = 3
    watermark: float = 0.25

    def select(self, view):
        pass
"""


def test_defaults_are_the_models_length_the_gpus_memory_and_the_usual_graphs() -> None:
    parts = make_parts(ReplaySettings())

    assert parts.limits.max_model_len == 40960
    assert parts.engine.backend.num_blocks > 10_000
    assert (parts.engine.graph_sizes[0], parts.engine.graph_sizes[-1]) == (1, 256)
    assert (parts.engine.mixed_graph_sizes[0], parts.engine.mixed_graph_sizes[-1]) == (16, 352)  # 8B: 2**36 / 193e6
    assert isinstance(parts.pace, VirtualPace)


def test_record_is_complete_with_what_follows_from_sheets_and_policy() -> None:
    settings = make_parts(ReplaySettings(num_blocks=10)).settings

    assert settings.max_model_len == 40960
    assert settings.gpu == "H200"
    assert settings.policy_settings == {
        "scheduling_policy": "fcfs",
        "chunked_prefill": True,
        "prefix_caching": True,
        "long_prefill_token_threshold": 0,
        "watermark": 0.0,
        "reserve_full_prompt": True,
        "vllm_version": "0.33",
    }


def test_policy_without_settings_has_none_in_the_record() -> None:
    assert make_parts(ReplaySettings(num_blocks=10, policy="nano-vllm")).settings.policy_settings == {}


def test_fields_of_a_users_policy_stand_for_no_other_setting(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POLICY)
    settings = make_parts(ReplaySettings(num_blocks=10, policy=f"{tmp_path / 'mine.py'}:Mine")).settings

    assert (settings.seed, settings.limit, settings.watermark) == (0, None, 0.25)


def test_settings_reach_the_parts() -> None:
    parts = make_parts(
        ReplaySettings(num_blocks=10, block_size=8, max_num_seqs=3, graph_sizes=(2,), pace="wall", watermark=0.1, tp=2)
    )

    assert (parts.limits.block_size, parts.limits.max_num_seqs, parts.engine.backend.num_blocks) == (8, 3, 10)
    assert parts.engine.graph_sizes == (2,)
    assert parts.policy == VllmPolicy(watermark=0.1)
    assert isinstance(parts.pace, WallPace)
    assert parts.engine.hardware["num_gpus"] == 2


def test_limit_on_sequences_that_means_none_makes_no_endless_list_of_graphs() -> None:
    parts = make_parts(ReplaySettings(num_blocks=10, max_num_seqs=2**31 - 1, max_num_batched_tokens=64))

    assert parts.engine.graph_sizes[-1] == 64


def test_length_of_zero_is_an_error_and_not_the_models() -> None:
    with pytest.raises(SettingError, match="max_model_len is 0"):
        make_parts(ReplaySettings(max_model_len=0))


def test_settings_no_scheduler_can_have_are_refused_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.parts._engine", pytest.fail)
    with pytest.raises(SettingError, match="Chunked prefill is off"):
        make_parts(ReplaySettings(chunked_prefill=False, max_model_len=9000))


def test_backend_is_closed_if_its_model_turns_out_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, closed = make_parts(ReplaySettings()).engine, list[bool]()
    monkeypatch.setattr("sim.parts._engine", lambda _: engine)
    monkeypatch.setattr(type(engine.backend), "close", lambda _: closed.append(True))
    with pytest.raises(SettingError, match="Chunked prefill is off"):
        make_parts(ReplaySettings(chunked_prefill=False))
    assert closed == [True]


def test_cost_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SimError, match="cost is 'fast'; give roofline, a file of `sim calibrate`"):
        make_parts(ReplaySettings(cost="fast"))


def test_steps_are_taken_many_at_a_time_only_on_predicted_durations() -> None:
    assert make_parts(ReplaySettings()).engine.foreseeing is not None
    assert make_parts(ReplaySettings(pace="wall")).engine.foreseeing is None


def test_a_backend_around_the_predicting_one_sees_every_step() -> None:
    engine = make_parts(ReplaySettings()).engine
    environment, interrupt = simpy.Environment(), Interrupt()
    scheduler = Scheduler(Limits(block_size=16, max_num_seqs=1, max_model_len=10), 10, VllmPolicy())
    recorder = Recorder(Log(), 16, DecisionDigest(), lambda _, __: None)
    serving = Serving(environment, Arrivals([]), scheduler, recorder, interrupt)

    assert isinstance(engine.stepper(serving), Stretches)
    assert isinstance(replace(engine, backend=ScriptedBackend()).stepper(serving), OneByOne)


def test_what_vllm_would_refuse_is_run_and_told() -> None:
    few = ReplaySettings(num_blocks=10, max_num_batched_tokens=100, cost="roofline")
    assert make_parts(few).notices == (
        "The token budget, 100, is below the sequence limit, 256: vLLM itself refuses to start so.",
    )
    assert make_parts(replace(few, policy="nano-vllm")).notices == ()
    assert make_parts(replace(few, max_num_seqs=100)).notices == ()
