"""`python -m sim replay`."""

import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.completion import complete_backend, complete_gpu, complete_model, complete_policy
from sim.message import Messages, Quiet, Verbose

Offered = Callable[[str], list[str]]

# Listed here because help must come without reading the sheets; a test compares.
MODELS = "Llama-3.1-8B (sim only), Qwen3-0.6B, 1.7B, 4B, 8B, 14B, 32B"
GPUS = "A100-80, B200, H100, H200, L40S, RTX 4090"


def _option(text: str, *names: str, offered: Offered | None = None) -> Any:  # noqa: ANN401  # typer's are untyped
    return typer.Option(*names, help=text, show_default=False, autocompletion=offered)


def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="Trace file of a known format; gzip and zstd too.")],
    backend: Annotated[
        str | None,
        _option("sim: a cost model of a GPU; gpu: a real Qwen3 on torch. [sim]", offered=complete_backend),
    ] = None,
    cost: Annotated[
        str | None,
        _option(
            "With sim: roofline, a file of calibrate, or a run directory whose step times to use. "
            "[calibrated where there is one, else roofline]"
        ),
    ] = None,
    model: Annotated[
        str | None,
        _option(f"Model: {MODELS}, or a folder; with sim a sheet file too. [Qwen3-8B]", offered=complete_model),
    ] = None,
    gpu: Annotated[
        str | None,
        _option(f"With sim: {GPUS}, or a sheet file. [the calibration's, else H200]", offered=complete_gpu),
    ] = None,
    host_probe_us: Annotated[
        float | None, _option("With sim: speed of the host, as a real run's summary tells. [the calibration's]")
    ] = None,
    device: Annotated[str | None, _option("With gpu: cuda, cuda:N or cpu. [cuda]")] = None,
    load_format: Annotated[str | None, _option("With gpu: auto, or dummy for random weights. [auto]")] = None,
    dtype: Annotated[str | None, _option("With gpu: bfloat16, float16 or float32. [the model's]")] = None,
    attention: Annotated[str | None, _option("With gpu: kernels, by name. [by block size and hardware]")] = None,
    cuda_graphs: Annotated[
        bool | None, _option("With gpu: capture steps. [on]", "--cuda-graphs/--no-cuda-graphs")
    ] = None,
    free_run: Annotated[
        bool | None, _option("With gpu: keep the model's own samples. [off]", "--free-run/--no-free-run")
    ] = None,
    tp: Annotated[int | None, _option("Tensor-parallel degree. [1]")] = None,
    block_size: Annotated[int | None, _option("Tokens in a KV block. [16; with gpu 256]")] = None,
    num_blocks: Annotated[int | None, _option("KV blocks. [what fits into memory]")] = None,
    memory_utilization: Annotated[float | None, _option("Share of GPU memory to use. [0.9]")] = None,
    max_num_seqs: Annotated[
        int | None,
        _option("Most running sequences. [256; that is not vllm serve's own default: set what your server has]"),
    ] = None,
    max_num_batched_tokens: Annotated[int | None, _option("Token budget of a step. [8192; likewise]")] = None,
    max_model_len: Annotated[int | None, _option("Longest sequence. [the model's]")] = None,
    policy: Annotated[str | None, _option("vllm, nano-vllm or FILE.py:Name. [vllm]", offered=complete_policy)] = None,
    scheduling_policy: Annotated[str | None, _option("fcfs or priority. [fcfs]")] = None,
    prefix_caching: Annotated[
        bool | None, _option("Look prefixes up and keep them. [on]", "--prefix-caching/--no-prefix-caching")
    ] = None,
    chunked_prefill: Annotated[
        bool | None,
        _option("Compute a prompt in several steps. [on]", "--chunked-prefill/--no-chunked-prefill"),
    ] = None,
    long_prefill_token_threshold: Annotated[
        int | None, _option("Most prompt tokens of one request in a step; 0 is no limit. [0]")
    ] = None,
    watermark: Annotated[float | None, _option("Share of blocks that an admission leaves free. [0]")] = None,
    reserve_full_prompt: Annotated[
        bool | None,
        _option("Admit only what fits whole. [on]", "--reserve-full-prompt/--no-reserve-full-prompt"),
    ] = None,
    vllm_version: Annotated[str | None, _option("Whose details to follow: 0.25 or 0.33. [0.33]")] = None,
    trace_format: Annotated[
        str | None,
        _option(
            "Format of the trace: native (Mooncake too), azure, bailian, burstgpt, llmservingsim, servegen, sharegpt, "
            "tracelab, tracelab-replay, vidur or weka. [auto: by its content]",
            "--format",
        ),
    ] = None,
    trace_block_size: Annotated[int | None, _option("Prompt tokens of one hash id. [the trace's]")] = None,
    time_unit: Annotated[str | None, _option("s, ms, us or ns, of times that are numbers. [the format's]")] = None,
    delay_rule: Annotated[
        str | None, _option("Recorded sessions: think-only, original, api-scaled or open. [think-only]")
    ] = None,
    api_time_scale: Annotated[float | None, _option("Factor on service times, with api-scaled. [1]")] = None,
    max_delay: Annotated[str | None, _option("Longest delay inside a session, such as 10s. [no limit]")] = None,
    request_rate: Annotated[
        float | None, _option("Poisson arrivals a second, for a trace without times. [all at 0]")
    ] = None,
    tokenizer: Annotated[str | None, _option("tokenizer.json or its folder, for a trace of texts.")] = None,
    columns: Annotated[
        str | None,
        _option("A CSV trace of your own: time=NAME,input=NAME,output=NAME; also session=, id=, priority=."),
    ] = None,
    start: Annotated[str | None, _option("Begin of the window, such as 90s. [the trace's]")] = None,
    end: Annotated[str | None, _option("End of the window. [the trace's]")] = None,
    limit: Annotated[int | None, _option("Most requests. [all]")] = None,
    rate_scale: Annotated[float | None, _option("Factor on the request rate. [1]")] = None,
    oversize: Annotated[
        str | None, _option("Prompts that cannot be served: error, fail (count them) or truncate. [fail]")
    ] = None,
    output: Annotated[Path | None, _option("Run directory to make. [none is kept]", "--output", "-o")] = None,
    config: Annotated[Path | None, _option("TOML file with the same settings; flags win.")] = None,
    like: Annotated[Path | None, _option("Run directory to take settings, blocks and graphs from.")] = None,
    seed: Annotated[int | None, _option("Tells unique prompts of runs apart. [0]")] = None,
    pace: Annotated[str | None, _option("virtual: skip idle time; wall: wait for it. [virtual; with gpu wall]")] = None,
    warmup: Annotated[str | None, _option("Leave this out of a steady-state window, such as 60s. [no window]")] = None,
    slo: Annotated[str | None, _option("Limits, such as ttft=500ms,tpot=50ms. [none]")] = None,
    as_json: Annotated[bool, _option("Print only the summary, as JSON.", "--json")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Replay a request trace and say what latency and throughput come out."""
    durations = {"start_s": start, "end_s": end, "warmup_s": warmup, "max_delay_s": max_delay}
    options = {name: value for name, value in locals().items() if name not in _NOT_SETTINGS and value is not None}
    with clean_exit():
        messages = Messages(quiet=quiet, verbose=verbose)
        _print(_replay(trace, options, durations, config, like, output, messages), as_json)


_NOT_SETTINGS = (
    *("trace", "start", "end", "warmup", "max_delay", "output", "config", "like", "as_json", "durations"),
    *("quiet", "verbose"),
)


def _replay(
    path: Path,
    flags: dict[str, Any],
    durations: dict[str, str | None],
    config: Path | None,
    like: Path | None,
    output: Path | None,
    messages: Messages,
) -> dict[str, Any]:
    from analysis.run_writer import check_vacant
    from sim.choices import choices
    from sim.parts import make_parts
    from sim.prompt_texts import tokenise
    from sim.replay import check_slo, fit_trace, load_trace
    from sim.setting_sources import resolve, seconds

    flags |= {name: seconds(text, name.removesuffix("_s")) for name, text in durations.items() if text is not None}
    settings = resolve(flags, config, like)
    # What can be refused is refused before a model is loaded, which may take long.
    check_slo(settings)
    if output is not None:
        check_vacant(output)
    loaded = load_trace(path, settings)
    parts = make_parts(settings)
    with closing(parts.engine.backend), tempfile.TemporaryDirectory() as scratch:
        tokenised, token_ids = tokenise(loaded, parts.engine.tokenizer)
        trace = fit_trace(tokenised, parts)
        for notice in (*trace.notices, *parts.notices):
            messages.note(notice)
        if messages.is_verbose:
            for sentence in choices(settings, parts, trace):
                messages.detail(sentence)
        try:
            return _run(trace, token_ids, parts, output or Path(scratch) / "run", messages)
        finally:
            if output is not None and output.exists():
                messages.note(_kept(output))


def _kept(output: Path) -> str:
    return (
        f"The run is kept in {output}: `python -m analysis report|why|compare` read it, and analysis.run.load gives "
        "its tables as pandas frames."
    )


def _run(  # imported late
    trace: Any,  # noqa: ANN401
    token_ids: Any,  # noqa: ANN401
    parts: Any,  # noqa: ANN401
    output: Path,
    messages: Messages,
) -> dict[str, Any]:
    from sim.interrupt import Interrupt
    from sim.policy_fault import policy_faults
    from sim.progress import progress_bar
    from sim.replay import replay as replay_trace

    interrupt = Interrupt()
    progress = progress_bar(trace.num_requests, is_wanted=not messages.is_quiet)
    with policy_faults(parts.settings.policy), progress as on_progress, interrupt.listening():
        return replay_trace(trace, token_ids, parts, output, interrupt, on_progress)


def _print(summary: dict[str, Any], as_json: bool) -> None:
    from analysis.report import render_report

    print(json.dumps(summary, indent=2) if as_json else render_report(summary), end="\n" if as_json else "")
    if not summary["complete"]:
        raise typer.Exit(130)
