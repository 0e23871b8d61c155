"""`python -m sim explain`: where the time of one step goes."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sim.clean_exit import clean_exit
from sim.completion import complete_gpu, complete_model
from sim.message import Messages, Quiet

if TYPE_CHECKING:
    from engine import StepShape


def explain(
    cost: Annotated[
        str | None,
        typer.Option(
            help="roofline, or a file of calibrate. [calibrated where there is one, else roofline]", show_default=False
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Model, by name or as a sheet file.", autocompletion=complete_model)
    ] = "Qwen3-8B",
    gpu: Annotated[
        str | None,
        typer.Option(
            help="GPU, by name or as a sheet file. [the calibration's, else H200]",
            autocompletion=complete_gpu,
            show_default=False,
        ),
    ] = None,
    tp: Annotated[int, typer.Option(help="Tensor-parallel degree.")] = 1,
    block_size: Annotated[int, typer.Option(help="Tokens in a KV block, by which calibrations differ.")] = 16,
    decode_seqs: Annotated[int, typer.Option(help="Sequences that decode one token.")] = 64,
    decode_context: Annotated[int, typer.Option(help="Tokens that each of them attends to.")] = 1024,
    prefill_seqs: Annotated[int, typer.Option(help="Prompt chunks.")] = 0,
    prefill_tokens: Annotated[int, typer.Option(help="Tokens of each chunk.")] = 512,
    prefill_context: Annotated[
        int | None,
        typer.Option(help="Tokens that the last token of a chunk attends to. [the chunk]", show_default=False),
    ] = None,
    eager: Annotated[bool, typer.Option(help="Run the step without a CUDA graph.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, times in seconds.")] = False,
    quiet: Quiet = False,
) -> None:
    """Show each term of a cost model for one step."""
    with clean_exit():
        from backends.graph_sizes import graph_sizes, mixed_graph_sizes
        from backends.graph_table import GraphTable
        from backends.simulated import ModelShard, load_gpu_sheet, load_model_sheet
        from sim.cost_source import cost_source
        from sim.errors import SimError
        from sim.explain_table import explain_json, explain_table
        from sim.replay_settings import ReplaySettings
        from sim.simulated_gpu import simulated_gpu

        context = prefill_tokens if prefill_context is None else prefill_context
        shape = _shape(decode_seqs, decode_context, prefill_seqs, prefill_tokens, context)
        sheet, usual, gpu = load_model_sheet(model), ReplaySettings(), simulated_gpu(gpu, cost)
        # The sizes that a replay captures, so that the same step is padded alike.
        graphs = GraphTable(
            graph_sizes(max(decode_seqs, usual.max_num_seqs)),
            mixed_graph_sizes(usual.max_num_batched_tokens, ModelShard(sheet, tp).layer_weights),
        )
        size = None if eager else graphs.size_for(shape)
        settings = ReplaySettings(cost=cost, model=model, gpu=gpu, tp=tp, block_size=block_size)
        source = cost_source(settings, sheet, load_gpu_sheet(gpu))
        if source.explain is None:
            raise SimError(
                f"cost is {cost!r}, {source.text}: these are not made of terms; give roofline or a calibration."
            )
        terms = source.explain(shape, size)
        title = f"{model} on {tp} x {gpu}, {source.text}: {'eager' if size is None else f'graph of {size} tokens'}"
        if as_json:
            print(explain_json(terms, title, size))
        else:
            explain_table(terms, title, sys.stdout)
        outside = source.outside_text(shape, size)
        for notice in (*source.notices, *([outside] if outside else [])):
            Messages(quiet=quiet).note(notice)


def _shape(decode_seqs: int, decode_context: int, prefill_seqs: int, tokens: int, context: int) -> "StepShape":
    from engine import StepShape
    from sim.errors import SimError
    from sim.replay_settings import MAX_COUNT

    if min(decode_seqs, prefill_seqs) < 0 or decode_seqs + prefill_seqs == 0:
        raise SimError(f"The step has {decode_seqs} decodes and {prefill_seqs} chunks; give at least one of either.")
    if max(decode_seqs, decode_context, prefill_seqs, tokens, context) > MAX_COUNT:
        raise SimError(f"A size of the step is above {MAX_COUNT}; give a step that an engine could run.")
    if decode_context < 1 or (prefill_seqs and (tokens < 2 or context < tokens)):
        raise SimError(
            f"A decode attends to at least 1 token (here {decode_context}); a chunk has at least 2 (here {tokens}) and "
            f"attends to no fewer than it has (here {context})."
        )
    return StepShape(
        num_prefill_tokens=prefill_seqs * tokens,
        num_prefill_seqs=prefill_seqs,
        prefill_qk=prefill_seqs * tokens * context,
        prefill_qq=prefill_seqs * tokens * tokens,
        prefill_context=prefill_seqs * context,
        max_query=tokens if prefill_seqs else 1,
        max_context=max(context if prefill_seqs else 0, decode_context if decode_seqs else 0),
        num_decode_seqs=decode_seqs,
        decode_context=decode_seqs * decode_context,
        decode_context_sq=decode_seqs * decode_context**2,
        max_decode_context=decode_context if decode_seqs else 0,
        shared_context=0,
        num_sampled=decode_seqs + prefill_seqs,
        num_new_blocks=0,
        num_admitted=0,
        num_released=0,
    )
