import re
from importlib import import_module
from pathlib import Path

from analysis.metric_definitions import MetricDefinitions
from analysis.metrics import LATENCIES
from analysis.summary import summarise
from analysis.sweep_columns import FIGURES, JUDGED, VERDICT
from tests.run_builder import small_run

DEFINITIONS = MetricDefinitions()
NO_METRICS = {
    *("description", "backend", "model_id", "request_rate", "max_concurrency", "complete", "not_known"),
}
"""Keys of a summary that say what ran."""


def test_every_latency_is_defined() -> None:
    assert {*LATENCIES, "itl"} <= set(DEFINITIONS)


def test_every_source_is_there() -> None:
    for definition in DEFINITIONS.values():
        *path, name = definition.source.split(".")
        # The last part of the path may be a class.
        module, owner = (path, None) if path[-1].islower() else (path[:-1], path[-1])
        found = import_module(".".join(module))
        found = found if owner is None else getattr(found, owner)
        assert hasattr(found, name), definition.source


def test_meanings_are_sentences() -> None:
    for definition in DEFINITIONS.values():
        assert re.match(r"^[A-Z].*[\w)]\.$", definition.meaning), definition.meaning
        assert "\n" not in definition.meaning
        assert definition.unit


def test_names_make_anchors_of_their_own() -> None:
    assert DEFINITIONS["queue"].anchor == "queue-time"
    assert DEFINITIONS["highest_in_slo"].anchor == "highest-rate-within-the-slo"
    assert len({definition.anchor for definition in DEFINITIONS.values()}) == len(DEFINITIONS)


def test_every_figure_of_a_summary_has_one_definition(tmp_path: Path) -> None:
    keys = set(summarise(small_run(tmp_path).build())) - NO_METRICS
    keys |= {column.name for column in (*FIGURES, *VERDICT, *JUDGED)}
    for key in keys:
        assert sum(definition.is_under(key) for definition in DEFINITIONS.values()) == 1, key
    assert DEFINITIONS.of_summary("p99_ttft_ms") is DEFINITIONS["ttft"]
    assert DEFINITIONS.of_summary("description") is None
