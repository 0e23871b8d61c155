import pyarrow as pa
import pytest

from analysis.rows import EventRow, RequestRow, StepRow
from analysis.schema import EVENTS, REQUESTS, SCHEMAS, STATUSES, STEPS
from engine.step_shape import StepShape


@pytest.mark.parametrize("name", ["steps", "events", "requests"])
def test_every_column_says_what_it_means(name: str) -> None:
    for field in SCHEMAS[name]:
        doc = (field.metadata or {}).get(b"doc", b"").decode()
        assert len(doc) > 8, f"{name}.{field.name}"


@pytest.mark.parametrize("name", ["steps", "events", "requests"])
def test_doc_of_a_nullable_column_says_when_it_is_null(name: str) -> None:
    for field in SCHEMAS[name]:
        assert field.nullable == ("null" in (field.metadata or {})[b"doc"].decode() or field.name == "reason"), (
            field.name
        )


@pytest.mark.parametrize(("row", "schema"), [(StepRow, STEPS), (EventRow, EVENTS), (RequestRow, REQUESTS)])
def test_row_has_the_columns_of_its_schema_in_order(row: type[StepRow], schema: pa.Schema) -> None:
    assert list(row._fields) == schema.names


def test_steps_hold_the_whole_step_shape_in_order() -> None:
    start = STEPS.names.index("num_prefill_tokens")
    assert tuple(STEPS.names[start : start + len(StepShape._fields)]) == StepShape._fields


def test_docs_of_status_name_every_status() -> None:
    doc = (REQUESTS.field("status").metadata or {})[b"doc"].decode()
    assert all(status in doc for status in STATUSES)
