"""What a replay is put together from."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any

from backends.foreseeing_backend import ForeseeingBackend
from engine import Backend, Limits, Policy, Scheduler, Tokenizer
from sim.cost_source import CostSource
from sim.host_speed import HostSpeed
from sim.one_by_one import OneByOne
from sim.pace import Pace, VirtualPace, WallPace
from sim.policy_fault import policy_faults
from sim.policy_loader import load_policy
from sim.replay_settings import POLICY_SETTINGS, ReplaySettings
from sim.serving import Serving
from sim.simulated_gpu import simulated_gpu
from sim.spare_time import NoSpareTime, SpareTime
from sim.step_clock import StepClock
from sim.stepper import Stepper
from sim.stretches import Stretches


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A backend with what goes with it.

    Attributes:
        backend: what executes.
        step_clock: how long its steps last.
        max_model_len: longest sequence that its model knows.
        vocab_size: tokens that its model knows.
        graph_sizes: batch sizes of captured decode steps.
        mixed_graph_sizes: tokens of captured steps with chunks.
        hardware: what runs or is modelled, for the record.
        notices: sentences for the user about how it runs.
        tokenizer: of its model, if it has one.
        cost: where step times come from; None if they are measured.
        foreseeing: the same backend, if its predicted times are the steps' durations, so that many steps can be taken
            at a time; None if each is to be executed by itself.
        spare_time: when the backend has time for other work.
        host_speed: of this host, measured while it runs; None if nothing real runs.
    """

    backend: Backend
    step_clock: StepClock
    max_model_len: int
    vocab_size: int
    graph_sizes: tuple[int, ...]
    hardware: dict[str, Any]
    mixed_graph_sizes: tuple[int, ...] = ()
    notices: tuple[str, ...] = ()
    tokenizer: Tokenizer | None = None
    cost: CostSource | None = None
    foreseeing: ForeseeingBackend | None = None
    spare_time: SpareTime = field(default_factory=NoSpareTime)
    host_speed: HostSpeed | None = None

    def stepper(self, serving: Serving) -> Stepper:
        """What drives the steps of a run on it."""
        one_by_one = OneByOne(serving, self.backend, self.step_clock, self.spare_time)
        # Where another backend has been put around it, whatever that does to a step must happen to each.
        executing: object = self.backend
        if self.foreseeing is None or self.foreseeing is not executing:
            return one_by_one
        return Stretches(serving, self.foreseeing, one_by_one)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a replay needs but the trace.

    Attributes:
        settings: with everything filled in that follows from others.
        limits: of the scheduler.
        policy: how to schedule.
        engine: what executes.
        pace: the run's clock.
    """

    settings: ReplaySettings
    limits: Limits
    policy: Policy
    engine: Engine
    pace: Pace

    def with_policy(self, name: str) -> "Parts":
        """The same with another policy, whose settings are its own defaults.

        Raises:
            SimError: it is not known.
        """
        policy = load_policy(name, {})
        others: dict[str, Any] = dict.fromkeys(POLICY_SETTINGS) | _settings_of(policy)
        return replace(self, policy=policy, settings=replace(self.settings, policy=name, **others))

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for the user about what is run."""
        budget, seqs = self.limits.max_num_batched_tokens, self.limits.max_num_seqs
        if self.settings.policy != "vllm" or budget >= seqs:
            return self.engine.notices
        below = f"The token budget, {budget}, is below the sequence limit, {seqs}: vLLM itself refuses to start so."
        return (*self.engine.notices, below)


def make_parts(settings: ReplaySettings) -> Parts:
    """Make the parts; the one place where a setting decides which class stands behind a seam.

    Raises:
        SheetError: a model or GPU is not known.
        ModelError: a real model cannot be run.
        SimError: a policy is not known or lacks a setting.
        SettingError: settings are out of range or do not fit each other.
        PolicyError: a policy of one's own has rules that are none.
    """
    settings = _with_defaults(settings)
    policy = load_policy(settings.policy, settings.policy_settings)
    # What cannot be is refused before a model is loaded; its own longest sequence and its blocks are known only then.
    _check_start(_limits(settings, max_model_len=1), 1, policy, settings.policy)
    engine = _engine(settings)
    limits = _limits(settings, engine.max_model_len)
    with _closed_on_error(engine.backend):
        _check_start(limits, engine.backend.num_blocks, policy, settings.policy)
    settings = replace(settings, max_model_len=limits.max_model_len, **_settings_of(policy))
    pace = WallPace() if settings.pace == "wall" else VirtualPace()
    return Parts(settings, limits, policy, engine, pace)


def _with_defaults(settings: ReplaySettings) -> ReplaySettings:
    is_real = settings.backend == "gpu"
    default_size = 256 if is_real else 16
    return replace(
        settings,
        gpu=settings.gpu if is_real else simulated_gpu(settings.gpu, settings.cost),
        device=(settings.device or "cuda") if is_real else settings.device,
        block_size=default_size if settings.block_size is None else settings.block_size,
        pace=settings.pace or ("wall" if is_real else "virtual"),
    )


def _engine(settings: ReplaySettings) -> Engine:
    if settings.backend == "gpu":
        from sim.real_engine import make_real_engine  # loads torch

        return make_real_engine(settings)
    from sim.simulated_engine import make_simulated_engine

    return make_simulated_engine(settings)


def _limits(settings: ReplaySettings, max_model_len: int) -> Limits:
    assert settings.block_size is not None, "defaults are filled in by now"
    return Limits(
        block_size=settings.block_size,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        max_num_seqs=settings.max_num_seqs,
        max_model_len=max_model_len if settings.max_model_len is None else settings.max_model_len,
    )


def _check_start(limits: Limits, num_blocks: int, policy: Policy, name: str) -> None:
    """Raise what a run's scheduler would raise when it is made: a sweep has begun other runs by then."""
    with policy_faults(name):
        Scheduler(limits, num_blocks, policy)


@contextmanager
def _closed_on_error(backend: Backend) -> Iterator[None]:
    """A real backend may be other processes on a GPU, and nobody else knows it yet."""
    try:
        yield
    except BaseException:
        backend.close()
        raise


def _settings_of(policy: Policy) -> dict[str, Any]:
    """Settings that a policy has filled in by default, so that the record is complete."""
    values: dict[str, Any] = asdict(policy) if is_dataclass(policy) and not isinstance(policy, type) else {}
    return {name: value for name, value in values.items() if name in POLICY_SETTINGS}
