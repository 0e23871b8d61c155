"""A real Qwen3 on torch."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine import Tokenizer
from sim.errors import SimError
from sim.host_speed import HostSpeed
from sim.parts import Engine
from sim.replay_settings import ReplaySettings
from sim.spare_time import DeviceTime, Work
from sim.step_clock import MeasuredClock


def make_real_engine(settings: ReplaySettings) -> Engine:
    """Load a model, or make one of random weights.

    Raises:
        SimError: torch is not installed, or a name is given where weights are needed.
        ModelError: the model cannot be run as asked.
    """
    if find_spec("torch") is None:
        raise SimError("Backend gpu needs torch; install the gpu extra in the project's folder: pip install '.[gpu]'.")
    host_speed = HostSpeed()
    spare_time = DeviceTime(always=host_speed.probe)
    backend, tokenizer = _backend(settings, spare_time.use)
    notices = backend.notices
    if not settings.free_run:
        notices += ("Outputs are the trace's: the samples are drawn, for their cost, and replaced.",)
    return Engine(
        backend=backend,
        step_clock=MeasuredClock(),
        max_model_len=backend.settings.max_model_len,
        vocab_size=backend.settings.config.vocab_size,
        graph_sizes=backend.graph_sizes,
        mixed_graph_sizes=backend.mixed_graph_sizes,
        hardware=backend.hardware,
        notices=notices,
        tokenizer=tokenizer,
        spare_time=spare_time,
        host_speed=host_speed,
    )


def _backend(settings: ReplaySettings, meanwhile: Work) -> tuple[Any, Tokenizer | None]:  # torch is not typed here
    from backends.qwen3.qwen3_backend import Qwen3Backend

    options = _options(settings) | {"meanwhile": meanwhile}
    if Path(settings.model).is_dir():
        backend, tokenizer = Qwen3Backend.from_folder(
            settings.model, load_format=settings.load_format or "auto", **options
        )
        return backend, tokenizer
    if settings.load_format != "dummy":
        raise SimError(
            f"model is {settings.model!r}, which is no folder; give a folder with config.json and safetensors, or "
            "--load-format dummy for random weights of a published size."
        )
    return Qwen3Backend.from_dims(settings.model, **options), None


def _options(settings: ReplaySettings) -> dict[str, Any]:
    return {
        "device": settings.device or "cuda",
        "tensor_parallel": settings.tp,
        "dtype": settings.dtype,
        "block_size": settings.block_size,
        "num_blocks": settings.num_blocks,
        "memory_utilization": settings.memory_utilization,
        "max_num_seqs": settings.max_num_seqs,
        "max_num_batched_tokens": settings.max_num_batched_tokens,
        "max_model_len": settings.max_model_len,
        "attention": settings.attention or "auto",
        "graphs": settings.cuda_graphs is not False,
        "graph_sizes": settings.graph_sizes,
        "mixed_graph_sizes": settings.mixed_graph_sizes,
        "replay": not settings.free_run,
        "seed": settings.seed,
    }
