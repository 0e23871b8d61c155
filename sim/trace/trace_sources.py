"""The files that a trace is read from."""

from pathlib import Path

from traces import ReadSettings
from traces.servegen import dataset_path


def source_files(path: Path, settings: ReadSettings, format: str) -> tuple[Path, ...]:
    """Return the trace file and what else is read with it."""
    lengths = (dataset_path(str(path)),) if format == "servegen" else ()
    return (path, *lengths, *_tokenizer(settings))


def _tokenizer(settings: ReadSettings) -> tuple[Path, ...]:
    if settings.tokenizer is None:
        return ()
    path = Path(settings.tokenizer)
    return (path / "tokenizer.json" if path.is_dir() else path,)
