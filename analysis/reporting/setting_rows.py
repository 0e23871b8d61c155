"""What ran: every setting, version and property of the trace and of the machine, and in which of them runs differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_GROUPS = (
    ("trace", "Trace"),
    ("settings", "Settings"),
    ("hardware", "Hardware"),
    ("cost_model", "Cost model"),
    ("versions", "Versions"),
    ("slo", "Service level objectives (s)"),
)
NOT_SET = "not set"
_HIDDEN = ("format", "format_version", "complete")
"""Of the directory, not of the run."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting of all runs.

    Attributes:
        group: what it belongs to.
        name: its name in `meta.json`.
        texts: its value in each run; None where a run does not name it.
    """

    group: str
    name: str
    texts: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        """Whether runs have different values."""
        return len(set(self.texts)) > 1


def setting_rows(metas: Sequence[Mapping[str, Any]]) -> list[SettingRow]:
    """Takes all that the `meta.json` of runs say, in groups; nothing is left out but the form of the directory."""
    flat = [dict(_flattened(meta)) for meta in metas]
    names = list(dict.fromkeys(name for values in flat for name in values))
    rows = [SettingRow(group, name, tuple(values.get((group, name)) for values in flat)) for group, name in names]
    order = [title for _, title in _GROUPS]
    return sorted(rows, key=lambda row: order.index(row.group) if row.group in order else len(order))


def _flattened(meta: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    titles = dict(_GROUPS)
    for key, value in meta.items():
        if key in titles and isinstance(value, dict):
            for name, inner in value.items():
                yield (titles[key], name), _text(inner)
        elif key in titles and value is not None:
            yield (titles[key], key), _text(value)
        elif key not in titles and key not in _HIDDEN:
            yield ("Run", key), _text(value)


def _text(value: Any) -> str:  # noqa: ANN401  # a setting is of any type
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return NOT_SET if value is None else json.dumps(value, ensure_ascii=False)
