import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, Window, read_trace

LENGTHS = {
    "0": {"input_tokens": "{40: 0.25, 50: 0.75}", "output_tokens": "{7: 1.0}", "reason_ratio": "{0.0: 0.5, 0.1: 0.5}"},
    "1200": {"input_tokens": "{}", "output_tokens": "{}", "reason_ratio": "{}"},
    "2400": {"input_tokens": "{1: 0.5, 0: 0.5}", "output_tokens": "{9: 1}", "reason_ratio": "{0.0: 1}"},
}
RATES = (
    "0,0.5,1.0,Gamma,1.0,2.0\n600,0,0,,0,0\n1200,0.01,1.5,Weibull,0.7,70\n1800,0,0,,0,0\n2400,1,6.7,Gamma,0.0223,9\n"
)
Client = Callable[..., Path]


@pytest.fixture
def client(trace_file: TraceFile) -> Client:
    """Writes the two files of a client and returns the path of its rates."""

    def write(rates: str = RATES, lengths: object = LENGTHS) -> Path:
        trace_file(lengths if isinstance(lengths, str) else json.dumps(lengths), "chunk-3-dataset.json")
        return trace_file(rates, "chunk-3-trace.csv")

    return write


def test_each_window_has_as_many_requests_as_its_rate_says(client: Client) -> None:
    trace = read_trace(client(), ReadSettings(seed=3))
    arrivals = [request.arrival_s or 0 for request in trace.requests]
    assert Counter(int(arrival // 600) for arrival in arrivals)[0] == 300
    # 6 of window 1200 have no lengths; of the 600 of window 2400 about half were drawn with an empty prompt.
    notice = next(notice for notice in trace.notices if "rows read" in notice)
    num_empty = 600 - Counter(int(arrival // 600) for arrival in arrivals)[4]
    assert 240 < num_empty < 360
    assert f"6 because the dataset has no lengths for their time, {num_empty} because a drawn prompt is 0" in notice


def test_lengths_are_drawn_from_the_distribution_of_their_time(client: Client) -> None:
    requests = read_trace(client(), ReadSettings(seed=3)).requests
    early = Counter(request.input_length for request in requests if (request.arrival_s or 0) < 600)
    assert set(early) == {40, 50}
    assert 50 < early[40] < 105
    assert {r.output_length for r in requests if (r.arrival_s or 0) < 600} == {7}
    assert {(r.input_length, r.output_length) for r in requests if (r.arrival_s or 0) > 2000} == {(1, 9)}


@pytest.mark.parametrize(("pattern", "shape", "low", "high"), [("Gamma", 0.05, 3, 6), ("Weibull", 3, 0.3, 0.4)])
def test_gaps_have_the_burstiness_of_the_pattern(
    client: Client, pattern: str, shape: float, low: float, high: float
) -> None:
    rates = f"0,10,1,{pattern},{shape},1\n"
    arrivals = [request.arrival_s or 0 for request in read_trace(client(rates)).requests]
    gaps = np.diff(arrivals)
    assert len(arrivals) == 6000
    # The CV of a gamma distribution of shape 0.05 is 4.5, of a Weibull of shape 3 it is 0.36.
    assert low < gaps.std() / gaps.mean() < high


def test_the_same_seed_gives_the_same_trace_and_windows_agree_with_the_whole(client: Client) -> None:
    path = client()
    whole = read_trace(path, ReadSettings(seed=3))
    assert whole == read_trace(path, ReadSettings(seed=3))
    assert whole != read_trace(path, ReadSettings(seed=4))
    part = read_trace(path, ReadSettings(seed=3, window=Window(start_s=2400)))
    assert part == whole.window(start_s=2400)


def test_parts_of_a_multimodal_prompt_add_up(client: Client) -> None:
    fields = {"text_tokens": "{100: 1.0}", "image_tokens": "{1000: 1.0}", "audio_tokens": "{0: 1.0}"}
    path = client("0,0.1,1,Gamma,1,10\n", {"0": {**fields, "image_count": "{1: 1.0}", "output_tokens": "{5: 1.0}"}})
    assert {request.input_length for request in read_trace(path).requests} == {1100}


def test_the_choice_and_the_seed_are_said(client: Client) -> None:
    notices = read_trace(client(), ReadSettings(seed=3)).notices
    assert notices[0] == (
        "Read as a ServeGen client, windows and rates in seconds. Format servegen, recognised by its first row, six "
        "values without a header."
    )
    assert any("Drawn with seed 3: 906 requests in 5 windows, lengths from chunk-3-dataset.json" in n for n in notices)


@pytest.mark.parametrize(
    ("rates", "lengths", "sentence"),
    [
        (
            f"{RATES}3000,x,1,Gamma,1,1",
            LENGTHS,
            "line 6: '3000,x,1,Gamma,1,1' is no window: a window must be start, rate",
        ),
        (f"{RATES}3000,1,1,Pareto,1,1", LENGTHS, "line 6: '3000,1,1,Pareto,1,1' is no window"),
        (f"{RATES}3000,1,1,,0,0", LENGTHS, "line 6: the rate is 1.0, but pattern and shape are '' and 0.0; a busy"),
        (f"{RATES}2400,1,1,Gamma,1,1", LENGTHS, "line 6: this window does not begin behind the one before"),
        (f"{RATES}3000,1e9,1,Gamma,1,1", LENGTHS, "line 6: a rate of 1000000000.0 a second makes more than 5,000,000"),
        (
            f"{RATES}3000,-1,1,Gamma,1,1",
            LENGTHS,
            "line 6: start and rate are 3000.0 s and -1.0 a second, but they must",
        ),
        (RATES, "[]", "chunk-3-dataset.json must be a JSON object of windows by start in seconds"),
        (RATES, {"a": LENGTHS["0"]}, "a window starts at 'a', but it must be a whole number of seconds"),
        (RATES, {"0": {"input_tokens": "{1: 1.0}"}}, "window 0 has no output_tokens, the distribution of a length"),
        (RATES, {"0": LENGTHS["0"] | {"input_tokens": "__import__('os')"}}, 'window 0, input_tokens is "__import__'),
        (RATES, {"0": LENGTHS["0"] | {"input_tokens": "{1: 0.4}"}}, "the shares sum to 0.4, but they must sum to 1"),
        (RATES, {"0": LENGTHS["0"] | {"input_tokens": "{-1: 1.0}"}}, "has -1: 1.0, but each entry must be a number of"),
    ],
)
def test_what_is_wrong_is_named(client: Client, rates: str, lengths: object, sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(client(rates, lengths))
    assert sentence in str(caught.value)


def test_both_files_must_be_there(trace_file: TraceFile) -> None:
    with pytest.raises(TraceError, match=r"a-dataset.json does not exist, but the length distributions of a-trace.csv"):
        read_trace(trace_file(RATES, "a-trace.csv"))
    with pytest.raises(TraceError, match=r"rates.csv is a ServeGen client, whose name must end in trace.csv"):
        read_trace(trace_file(RATES, "rates.csv"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_distributions_are_read_or_refused(client: Client, data: st.DataObject) -> None:
    content = json.dumps(LENGTHS)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        part = data.draw(st.text(max_size=2) | st.sampled_from(["{", ": ", "0.0", "1e999", "-", "[", "'"]))
        content = content[:start] + part + content[start + data.draw(st.integers(0, 4)) :]
    with suppress(TraceError):
        assert read_trace(client(lengths=content)).num_requests > 0
