"""A dense Qwen3 behind the engine's seam."""

import gc
import platform
import time
import traceback
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

import numpy as np
import torch

from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.command_builder import CommandBuilder
from backends.qwen3.config import Qwen3Config
from backends.qwen3.errors import ModelError
from backends.qwen3.named_config import named_config
from backends.qwen3.options import Options, device_of, num_ranks_of, settings_of
from backends.qwen3.ranks import Ranks
from backends.qwen3.runner import Runner, StepOutput
from backends.qwen3.runner_setup import build_runner
from backends.qwen3.step_command import StepCommand
from backends.qwen3.tokenizer import HFTokenizer
from backends.qwen3.worker_group import WorkerGroup, open_group
from backends.replay_tokens import ReplayTokens
from engine.batch import Batch
from engine.errors import BackendEndedError, BackendError
from engine.limits import Limits
from engine.step_result import StepResult

_T = TypeVar("_T")
_BAD_LOGITS = (
    "Its logits are not numbers (NaN, or none is finite), so no token can be chosen: the weights may be broken, or the "
    "dtype too narrow for this model."
)


class Qwen3Backend:
    """Really computes; satisfies `engine.Backend`. A context manager: leaving it closes it.

    Make one with `from_folder` or `from_dims`.

    Args:
        settings: what runs.
        runner: of this rank.
        workers: the other ranks.
        replay: gives the tokens to return in place of the samples, which are drawn all the same, for their cost;
            None = return the samples.
        meanwhile: called in each step when the device is busy and the host would only wait.

    Attributes:
        settings: what runs.
        notices: sentences for the user about how it runs.
    """

    def __init__(
        self,
        settings: BackendSettings,
        runner: Runner,
        workers: WorkerGroup,
        replay: ReplayTokens | None,
        meanwhile: Callable[[], None],
    ) -> None:
        self.settings = settings
        self.notices = (runner.notice,)
        self._runner: Runner | None = runner
        self._workers = workers
        self._replay = replay
        self._meanwhile = meanwhile
        self._num_blocks = runner.num_blocks
        self._graph_table = runner.graph_table
        self._hardware = _hardware(workers.ranks)
        assert runner.sampling is not None, "rank 0 samples"
        self._builder = CommandBuilder(settings.config.vocab_size, settings.block_size, runner.sampling)
        self._end_reason = "The backend has been closed; make a new one."

    @classmethod
    def from_folder(
        cls, path: str | Path, *, load_format: str = "auto", **options: Unpack[Options]
    ) -> "tuple[Qwen3Backend, HFTokenizer | None]":
        """Run the model of a Hugging Face folder.

        Args:
            path: folder with config.json, safetensors and tokenizer files.
            load_format: "auto" reads the weights; "dummy" draws random ones of the same shapes.
            **options: see `Options`.

        Returns:
            The backend, and the folder's tokenizer if it has one.

        Raises:
            ModelError: what does not work, and the remedy.
        """
        if load_format not in ("auto", "dummy"):
            raise ModelError(f"load_format is {load_format!r}; it must be 'auto' or 'dummy'.")
        folder = Path(path)
        config = Qwen3Config.from_folder(folder)
        tokenizer = HFTokenizer.from_folder(folder)
        if tokenizer is not None:
            tokenizer.check_vocabulary(config.vocab_size)
        return cls._open(config, folder if load_format == "auto" else None, options), tokenizer

    @classmethod
    def from_dims(cls, name: str, **options: Unpack[Options]) -> "Qwen3Backend":
        """Run a model of a published size, such as "Qwen3-0.6B", with random weights, for timing.

        Raises:
            ModelError: what does not work, and the remedy.
        """
        return cls._open(named_config(name), None, options)

    @classmethod
    def _open(cls, config: Qwen3Config, folder: Path | None, options: Options) -> "Qwen3Backend":
        settings = settings_of(config, folder, options)
        workers = open_group(device_of(options), num_ranks_of(options))
        try:
            workers.send(settings)
            runner = build_runner(settings, workers.ranks, workers.check if workers.has_workers else None)
        except (BackendError, RuntimeError) as error:  # of another rank, or of torch
            reason = workers.explain(error)
            _abandon(workers, error)
            raise ModelError(f"The model could not be started. {reason}") from error
        except BaseException as error:
            _abandon(workers, error)
            raise
        replay = ReplayTokens(config.vocab_size) if options.get("replay", False) else None
        return cls(settings, runner, workers, replay, options.get("meanwhile", lambda: None))

    @property
    def num_blocks(self) -> int:
        """Blocks of the KV cache."""
        return self._num_blocks

    @property
    def limits(self) -> Limits:
        """What the memory is laid out for."""
        settings = self.settings
        return Limits(**{name: getattr(settings, name) for name in Limits.__slots__})

    @property
    def graph_sizes(self) -> tuple[int, ...]:
        """Batch sizes of captured decode steps; none if every step runs eager."""
        return self._graph_table.sizes

    @property
    def mixed_graph_sizes(self) -> tuple[int, ...]:
        """Tokens of captured steps with chunks; none if all such steps run eager."""
        return self._graph_table.mixed_sizes

    @property
    def hardware(self) -> dict[str, str | int]:
        """What runs, for the record of a run."""
        return dict(self._hardware)

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """Process ids of the workers that this backend has started."""
        return self._workers.worker_pids

    def execute(self, batch: Batch) -> StepResult:
        """Compute every row; `duration_s` is the wall time of this call.

        Rows whose logits are no numbers fail, and rows whose prompt has tokens that the model does not know.

        Raises:
            BackendError: the step could not be computed.
            BackendEndedError: likewise, and the backend has ended: with workers, whose ranks may be out of step.
        """
        started = time.perf_counter()
        if self._runner is None:
            raise BackendEndedError(self._end_reason)
        command, refused = self._builder.build(batch)
        try:
            try:
                self._explained(batch, lambda runner: self._launch(runner, command))
            finally:  # whatever has gone wrong: it must see every batch
                replayed = self._replay.sample(batch) if self._replay else None
            replayed_ids = None if replayed is None else np.array(replayed, dtype=np.int32)
            self._meanwhile()
            output = self._explained(batch, Runner.collect)
        except BackendError:
            raise
        except BaseException:  # Ctrl-C within a step: the ranks are no longer in step
            self._give_up_if_shared("The backend was interrupted within a step; make a new one.")
            raise
        failed = refused | _failed_rows(batch, output)
        token_ids = tuple(output.token_ids.tolist()) if replayed is None else replayed
        self._builder.note_result(command, output.token_ids if replayed_ids is None else replayed_ids, failed)
        return StepResult(token_ids, time.perf_counter() - started, output.device_s, output.graph_size, failed)

    def close(self) -> None:
        """End the workers and give back all memory; idempotent."""
        self._end(is_broken=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def _launch(self, runner: Runner, command: StepCommand) -> None:
        self._workers.send(command)
        runner.launch(command)

    def _explained(self, batch: Batch, work: Callable[[Runner], _T]) -> _T:
        """Do a part of a step; says in an error what a user can do about it."""
        assert self._runner is not None
        try:
            return work(self._runner)
        except torch.OutOfMemoryError as error:
            raise self._failure(
                f"The GPU has run out of memory in a step of {sum(batch.num_tokens)} tokens; lower "
                f"memory_utilization, num_blocks or max_num_batched_tokens."
            ) from error
        except RuntimeError as error:
            raise self._failure(self._workers.explain(error)) from error

    def _failure(self, reason: str) -> BackendError:
        self._give_up_if_shared(reason)
        return BackendError(reason) if self._runner is not None else BackendEndedError(reason)

    def _give_up_if_shared(self, reason: str) -> None:
        """Ranks that may be out of step cannot go on; a rank alone can."""
        if self._workers.has_workers:
            self._end_reason = reason
            self._end(is_broken=True)

    def _end(self, *, is_broken: bool) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()  # before the ranks part: see there
        self._workers.close(is_broken=is_broken)
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


def _abandon(workers: WorkerGroup, error: BaseException) -> None:
    """End a start that has failed. Its frames still hold graphs, which the ranks would wait for: see `DecodeGraphs`."""
    chained: BaseException | None = error
    while chained is not None:
        traceback.clear_frames(chained.__traceback__)
        chained = chained.__context__
    workers.close(is_broken=True)


def _hardware(ranks: Ranks) -> dict[str, str | int]:
    device = ranks.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    return {"kind": device.type, "gpu": name, "num_gpus": ranks.group.size}


def _failed_rows(batch: Batch, output: StepOutput) -> dict[str, str]:
    if not output.is_bad.any():
        return {}
    sampling_rows = compress(batch.request_ids, batch.samples)
    return dict.fromkeys(compress(sampling_rows, output.is_bad), _BAD_LOGITS)
