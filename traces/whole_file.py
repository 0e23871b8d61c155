"""A file that appears as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Gives the place to write to; what is there at the end is put at `path` and replaces what was there.

    If the writing fails, nothing is left and what was there stays. A pipe or a device cannot be replaced, so it is
    written as it goes.

    Raises:
        OSError: it cannot be written; the error names `path`, whatever was tried in its place.
    """
    is_special = path.exists() and not path.is_file()
    draft = path if is_special else draft_path(path)
    try:
        yield draft
        if not is_special:
            draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if not is_special:
            draft.unlink(missing_ok=True)


def draft_path(path: Path) -> Path:
    """Return where a file is written until it is whole; two programs that write one file do not share it."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
