"""What a shell offers for options whose values have names; a shell offers files where nothing fits."""

import sys
from collections.abc import Callable

from sim.message import tell

POLICIES = ("vllm", "nano-vllm")
GPUS = ("A100-80", "B200", "H100", "H200", "L40S", "RTX-4090")
MODELS = ("Llama-3.1-8B", *(f"Qwen3-{size}" for size in ("0.6B", "1.7B", "4B", "8B", "14B", "32B")))
BACKENDS = ("sim", "gpu")
# Listed here because a shell must not wait for the sheets to be read; a test compares.

_FLAGS = ("--install-completion", "--show-completion")


def offer(*names: str) -> Callable[[str], list[str]]:
    """Makes what typer calls with the beginning of a value."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def offer_sheets(*names: str) -> Callable[[str], list[str]]:
    """The same for names of sheets, which may be written in any case: what is there already stays as it is."""

    def complete(incomplete: str) -> list[str]:
        fitting = [name for name in names if name.lower().startswith(incomplete.lower())]
        return [incomplete + name[len(incomplete) :] for name in fitting]

    return complete


def offer_list(*names: str) -> Callable[[str], list[str]]:
    """The same for values with commas between them: the last one is completed."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in offer(*names)(last)]

    return complete


def refuse_for_module(arguments: list[str]) -> None:
    """End with a sentence if completion is asked for of `python -m sim`, which shells cannot complete.

    Raises:
        SystemExit: it is.
    """
    asked = [argument for argument in arguments if argument.partition("=")[0] in _FLAGS]
    if asked:
        tell("error", f"Shells complete commands, not modules; run `twinserve {asked[0]}` instead.")
        sys.exit(2)


complete_policy = offer(*POLICIES)
complete_policies = offer_list(*POLICIES)
complete_backend = offer(*BACKENDS)
complete_model = offer_sheets(*MODELS)
complete_gpu = offer_sheets(*GPUS)
