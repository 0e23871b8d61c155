import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.lines import lines_of
from traces import TraceError
from traces.json_values import JsonValues

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ['"', "\\", '\\"', "}", "[", "\n"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.lists(st.dictionaries(texts, values, max_size=4), min_size=1, max_size=4)


def read(content: str, max_bytes: int = 10**6) -> list[tuple[int, object]]:
    return [(line, json.loads(value)) for line, value in JsonValues(lines_of(content), max_bytes)]


@given(objects, st.sampled_from([None, 0, 3]), st.booleans())
def test_objects_come_out_as_they_went_in_however_they_are_laid_out(
    written: list[dict[str, object]], indent: int | None, is_list: bool
) -> None:
    if is_list:
        content = json.dumps(written, indent=indent)
    else:
        content = "\n".join(json.dumps(each, indent=indent) for each in written)
    assert [value for _, value in read(content)] == written


def test_lines_are_those_in_which_objects_begin() -> None:
    assert read('{"a":\n1} {"b": 2}\n\n{"c": 3}') == [(1, {"a": 1}), (2, {"b": 2}), (4, {"c": 3})]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": 1', "line 1: the file ends inside the object that begins in line 1"),
        ('[{"a": 1},\n', "line 1: the file ends inside its list of objects; it is cut off"),
        ('{"a": 1}\nx', "line 2: 'x' stands where a JSON object must begin"),
        ('{"a": 1}]', "line 1: ']' stands where a JSON object must begin"),
        ('{"a": 1} [', "line 1: '[' stands where a JSON object must begin"),
        ('"text" {"a": 1}', "line 1: '\"text\"' stands where a JSON object must begin"),
        ('{"a": "' + "x" * 100 + '"}', "line 1: the object that begins in line 1 is longer than 60 bytes"),
    ],
)
def test_what_is_wrong_is_named(content: str, sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        read(content, max_bytes=60)
    assert str(caught.value) == f"t.json {sentence}"
