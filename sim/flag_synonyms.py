"""Flags as vLLM spells them: a command says what they are called here."""

from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

OURS = {
    "--tensor-parallel-size": "--tp",
    "-tp": "--tp",
    "--gpu-memory-utilization": "--memory-utilization",
    "--num-gpu-blocks-override": "--num-blocks",
    "--enable-prefix-caching": "--prefix-caching",
    "--no-enable-prefix-caching": "--no-prefix-caching",
    "--enable-chunked-prefill": "--chunked-prefill",
    "--no-enable-chunked-prefill": "--no-chunked-prefill",
    "--enforce-eager": "--no-cuda-graphs",
    "--num-prompts": "--limit",
}
"""By the flag of `vllm serve` or `vllm bench serve`; what is spelled alike there and here needs no entry."""


class CommandWithSynonyms(TyperCommand):
    """A command that knows what its options are called in vLLM."""

    # The context is click's, of which typer ships its own copy or uses the installed one, by version.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Refuses a flag of vLLM by the name of ours, before the parser looks for ones that are spelled like it."""
        own = {name for parameter in self.get_params(ctx) for name in _names(parameter)}
        for theirs in _flags(args):
            ours = OURS.get(theirs)
            if ours in own and theirs not in own:
                ctx.fail(f"No such option: {theirs}; it is {ours} here.")
        return super().parse_args(ctx, args)


def _names(parameter: Any) -> Iterator[str]:  # noqa: ANN401  # click's too
    yield from (*parameter.opts, *parameter.secondary_opts)


def _flags(args: Sequence[str]) -> Iterator[str]:
    for arg in args:
        if arg == "--":
            return
        if arg.startswith("-"):
            yield arg.partition("=")[0].replace("_", "-")
