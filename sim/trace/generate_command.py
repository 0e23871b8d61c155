"""`python -m sim trace generate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.clean_exit import clean_exit
from sim.message import Messages, Quiet
from sim.trace.making_options import Force, OutputArgument, Seed

if TYPE_CHECKING:
    from traces.generation import IndependentLengths, ResampledLengths

_INPUT = "lognormal:mean=2048,sigma=1,max=32768"
_OUTPUT = "lognormal:mean=200,sigma=0.8,max=2048"


def generate(
    ctx: typer.Context,
    output: OutputArgument,
    requests: Annotated[int, typer.Option("--requests", "-n", help="Requests, turns of sessions included.")] = 1000,
    rate: Annotated[float, typer.Option(help="Mean arrivals a second; with sessions, of first turns.")] = 1.0,
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="poisson, gamma:cv=3, on-off:on=10s,off=50s or diurnal:amplitude=0.8,period=24h.",
        ),
    ] = "poisson",
    input: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"Prompt tokens: lognormal:mean=2048,sigma=1,min=1,max=32768 or constant:512. [{_INPUT}]",
            show_default=False,
        ),
    ] = None,
    output_tokens: Annotated[
        str | None,
        typer.Option("--output", metavar="KIND", help=f"Output tokens, likewise. [{_OUTPUT}]", show_default=False),
    ] = None,
    lengths_from: Annotated[
        Path | None,
        typer.Option(
            metavar="TRACE",
            help="Draw prompt and output together from the requests of this trace, in place of both.",
            show_default=False,
        ),
    ] = None,
    prefixes: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Shared prefixes: tree:roots=2,branching=3,depth=4,node-blocks=1. [none]",
            show_default=False,
        ),
    ] = None,
    sessions: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Turns that wait for each other: chat:turns=4,delay=10s,max=32768, mean number and delay, and the "
            "longest prompt. [none]",
            show_default=False,
        ),
    ] = None,
    block_size: Annotated[int, typer.Option(help="Prompt tokens of one hash id.")] = 512,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Make a trace of arrivals, lengths, shared prefixes and sessions.

    The same settings give the same file anywhere.
    """
    with clean_exit():
        from sim.trace.held_trace import write_held
        from sim.trace.made_file import MadeFile
        from sim.trace.part_spec import parse_part
        from sim.trace.parts_by_name import ARRIVALS, PREFIXES, SESSIONS
        from traces.generation import Recipe
        from traces.generation.recipe_maker import make_trace

        made = MadeFile(output, ctx, force)
        process = parse_part("--arrivals", arrivals, ARRIVALS, rate=rate)
        plan = None if prefixes is None else parse_part("--prefixes", prefixes, PREFIXES)
        turns = None if sessions is None else parse_part("--sessions", sessions, SESSIONS)
        recipe = Recipe(
            seed=seed,
            num_requests=requests,
            arrivals=process,
            lengths=_lengths(input, output_tokens, lengths_from),
            prefixes=plan,
            sessions=turns,
            block_size=block_size,
        )
        write_held(make_trace(recipe), made, () if lengths_from is None else (lengths_from,), {}, Messages(quiet=quiet))


def _lengths(input: str | None, output: str | None, source: Path | None) -> "IndependentLengths | ResampledLengths":
    from sim.errors import SimError
    from sim.trace.part_spec import parse_part
    from sim.trace.parts_by_name import LENGTHS
    from traces.generation import IndependentLengths

    if source is None:
        inputs = parse_part("--input", _INPUT if input is None else input, LENGTHS)
        return IndependentLengths(inputs, parse_part("--output", _OUTPUT if output is None else output, LENGTHS))
    for flag, value in (("--input", input), ("--output", output)):
        if value is not None:
            raise SimError(f"{flag} is {value}, but lengths are drawn from {source}; leave one of the two out.")
    return _of_trace(source)


def _of_trace(source: Path) -> "ResampledLengths":
    from traces import ReadSettings
    from traces.feed import feed
    from traces.generation import ResampledLengths
    from traces.length_pairs import LengthPairs

    _, lengths = feed(source, ReadSettings(), "auto", lambda block_size: LengthPairs())
    return ResampledLengths(lengths.pairs, source.name)
