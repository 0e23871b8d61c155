"""Options of `replay` for commands that replay in other ways."""

import inspect
from collections.abc import Callable, Collection

from sim.replay_command import replay


def with_replay_options(command: Callable[..., None], left_out: Collection[str]) -> Callable[..., None]:
    """Give a command that ends with `**options` those of `replay` that it has no option of the same name for.

    Args:
        command: the function that typer makes a command of.
        left_out: names of options that it shall not have.
    """
    own = [
        parameter
        for parameter in inspect.signature(command).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    names = {parameter.name for parameter in own} | set(left_out)
    further = [each for name, each in inspect.signature(replay).parameters.items() if name not in names]
    # Typer asks for these; an option of `replay` has a default, so the order stays legal.
    parameters = [*own, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in further)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may carry one
    command.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    return command
