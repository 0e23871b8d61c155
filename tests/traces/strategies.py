"""Random traces for property tests."""

from hypothesis import strategies as st

from traces import Trace, TraceRequest
from traces.request_order import in_order
from traces.time_quantum import QUANTA_PER_SECOND

MAX_QUANTA = 2**22 * QUANTA_PER_SECOND

times_s = st.one_of(
    st.integers(0, 50),  # few values, so that arrivals tie
    st.integers(0, 10**7).map(lambda us: round(us * QUANTA_PER_SECOND / 10**6) / QUANTA_PER_SECOND),
    st.integers(0, MAX_QUANTA).map(lambda quanta: quanta / QUANTA_PER_SECOND),
).map(float)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """A trace with unsorted, tied and session rows, as a reader would hand it over."""
    block_size = draw(st.sampled_from([1, 7, 16, 512]))
    rule = draw(st.sampled_from(["ceil", "floor"]))
    num_rows = draw(st.integers(1, 8))
    ids = draw(st.lists(texts | st.none(), min_size=num_rows, max_size=num_rows, unique_by=lambda x: x or object()))
    seen: set[str] = set()
    requests = []
    for index in range(num_rows):
        session = draw(st.sampled_from([None, "a", "b"]))
        is_later = session in seen
        seen |= {session} if session else set()
        input_length = draw(st.integers(1, 40))
        num_ids = -(-input_length // block_size) if rule == "ceil" else input_length // block_size
        requests.append(
            TraceRequest(
                request_id=ids[index] or f"row {index}",
                line=index + 1,
                input_length=input_length,
                output_length=draw(st.integers(1, 2**31 - 1)),
                arrival_s=None if is_later else draw(times_s),
                delay_s=draw(times_s) if is_later else None,
                session_id=session,
                priority=draw(st.integers(-5, 5)),
                hash_ids=draw(
                    st.none() | st.lists(st.integers(0, 2**64 - 1), min_size=num_ids, max_size=num_ids).map(tuple)
                ),
                prompt=draw(st.none() | texts),
            )
        )
    return Trace(name="drawn", requests=in_order(requests), block_size=block_size)
