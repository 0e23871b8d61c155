"""`python -m sim profile`."""

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.completion import complete_gpu, complete_model
from sim.message import Messages, Quiet, Verbose

if TYPE_CHECKING:
    from sim.parts import Parts
    from sim.profiling.profile_file import Profile


def _option(  # typer's own options are untyped
    text: str, *names: str, offered: Callable[[str], list[str]] | None = None
) -> Any:  # noqa: ANN401
    return typer.Option(*names, help=text, show_default=False, autocompletion=offered)


def profile(
    output: Annotated[Path, _option("File to write.", "--output", "-o")],
    max_seconds: Annotated[
        float, typer.Option(min=0.1, help="Time for the sweep; start-up is not counted.", show_default=True)
    ] = 180.0,
    backend: Annotated[str | None, _option("gpu: a real Qwen3 on torch; sim: a cost model. [gpu]")] = None,
    cost: Annotated[
        str | None, _option("With sim: the cost model, as of replay. [calibrated where there is one, else roofline]")
    ] = None,
    model: Annotated[
        str | None,
        _option("Model: name or folder; with sim a sheet file too. [Qwen3-8B]", offered=complete_model),
    ] = None,
    gpu: Annotated[
        str | None, _option("With sim: GPU, by name or as a sheet file. [cost's, else H200]", offered=complete_gpu)
    ] = None,
    device: Annotated[str | None, _option("With gpu: cuda, cuda:N or cpu. [cuda]")] = None,
    load_format: Annotated[str | None, _option("With gpu: auto, or dummy for random weights. [auto]")] = None,
    dtype: Annotated[str | None, _option("With gpu: bfloat16, float16 or float32. [the model's]")] = None,
    attention: Annotated[str | None, _option("With gpu: kernels, by name. [by block size and hardware]")] = None,
    cuda_graphs: Annotated[
        bool | None, _option("With gpu: capture decode steps. [on]", "--cuda-graphs/--no-cuda-graphs")
    ] = None,
    tp: Annotated[int | None, _option("Tensor-parallel degree. [1]")] = None,
    block_size: Annotated[int | None, _option("Tokens in a KV block. [16; with gpu 256]")] = None,
    num_blocks: Annotated[int | None, _option("KV blocks. [what fits into memory]")] = None,
    memory_utilization: Annotated[float | None, _option("Share of GPU memory to use. [0.9]")] = None,
    max_num_seqs: Annotated[int | None, _option("Most running sequences. [256]")] = None,
    max_num_batched_tokens: Annotated[int | None, _option("Token budget of a step. [8192]")] = None,
    max_model_len: Annotated[int | None, _option("Longest sequence. [the model's]")] = None,
    config: Annotated[Path | None, _option("TOML file with the same settings; flags win.")] = None,
    like: Annotated[Path | None, _option("Run directory to take settings, blocks and graphs from.")] = None,
    seed: Annotated[int | None, _option("Of random weights and contents. [0]")] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Measure how long steps of all shapes take, for `calibrate`."""
    flags = {name: value for name, value in locals().items() if name not in _NOT_SETTINGS and value is not None}
    with clean_exit():
        from sim.choices import engine_choices
        from sim.parts import make_parts
        from sim.profiling.profile_file import write_profile
        from sim.setting_sources import resolve

        messages = Messages(quiet=quiet, verbose=verbose)
        settings = resolve({"backend": "gpu", "pace": "virtual"} | flags, config, like)
        _check_output(output)
        parts = make_parts(settings)
        with closing(parts.engine.backend):
            for notice in parts.engine.notices:
                messages.note(notice)
            if messages.is_verbose:
                for sentence in engine_choices(settings, parts):
                    messages.detail(sentence)
            taken = take_profile(parts, max_seconds, counts=not messages.is_quiet)
        write_profile(taken, output)
        _print(taken, counts=not messages.is_quiet)


_NOT_SETTINGS = ("output", "max_seconds", "config", "like", "quiet", "verbose")


def _check_output(path: Path) -> None:
    """Refuse before a model is loaded, which may take long."""
    from sim.errors import SimError

    if path.exists():
        raise SimError(f"{path} exists; name a new file for the profile, or remove it.")


def take_profile(parts: "Parts", max_seconds: float, *, counts: bool = True) -> "Profile":
    """Sweep the engine of `parts`, which stays open; with `counts`, a terminal shows how far it is.

    Raises:
        SimError: a step could not be computed, or none was measured.
    """
    from sim.errors import SimError
    from sim.interrupt import Interrupt
    from sim.profiling.bounds import Bounds
    from sim.profiling.plan import plan
    from sim.profiling.profile_file import Profile
    from sim.profiling.profile_meta import profile_meta
    from sim.profiling.spread import spreads
    from sim.profiling.sweep import sweep

    interrupt = Interrupt()
    loads = plan(Bounds(parts.limits, parts.engine.backend.num_blocks, parts.engine.graph_sizes))
    with interrupt.listening():
        swept = sweep(
            parts,
            loads,
            max_seconds,
            interrupt,
            lambda number: _tell(number, len(loads), loads[number].name) if counts else None,
        )
    if not (swept.columns["is_warm_up"] == 0).any():
        raise SimError(f"No step was measured in {max_seconds:g} s, only steps to warm up; give more --max-seconds.")
    return Profile(swept.columns, profile_meta(parts, loads, swept, spreads(swept.columns), max_seconds))


def _tell(number: int, num_loads: int, name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{number + 1} of {num_loads}: {name}", end="", file=sys.stderr, flush=True)


def _print(taken: "Profile", *, counts: bool) -> None:
    from sim.profiling.profile_table import profile_table

    if counts and sys.stderr.isatty():
        print(file=sys.stderr)
    profile_table(taken)
