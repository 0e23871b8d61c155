"""Options that several commands have which make a trace."""

from pathlib import Path
from typing import Annotated

import typer

OutputArgument = Annotated[
    Path,
    typer.Argument(metavar="OUT", help="File to make; a name in .gz or .zst is compressed. NAME.meta.json tells how."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
To = Annotated[str, typer.Option("--to", help="native, or mooncake: what it cannot carry is an error.")]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="Field to leave out, may come several times: hash_ids, priority, prompt, request_id, session_id (turns "
        "come at their earliest times), timestamp_fraction. [none]",
        metavar="FIELD",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Of all that is drawn.", min=0)]
