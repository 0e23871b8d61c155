"""Batches as a scheduler makes them, from rows."""

from collections.abc import Sequence

from engine.batch import Admission, Batch
from engine.sampling_params import SamplingParams
from engine.token_prompt import TokenPrompt
from tests.backends.step_shapes import Row, shape_of


def batch_of(
    rows: dict[str, Row],
    *,
    samples: Sequence[bool] | None = None,
    admitted: Sequence[str] = (),
    released: Sequence[str] = (),
) -> Batch:
    """A batch of the given rows; all of them sample unless `samples` says otherwise."""
    samples = (True,) * len(rows) if samples is None else tuple(samples)
    prompt = TokenPrompt((1,))
    return Batch(
        step=0,
        request_ids=tuple(rows),
        first_positions=tuple(row.history for row in rows.values()),
        num_tokens=tuple(row.query for row in rows.values()),
        samples=samples,
        new_blocks=(),
        admitted=tuple(Admission(name, prompt, SamplingParams(), (), (), 0, False) for name in admitted),
        preempted=(),
        released=tuple(released),
        ended=(),
        shape=shape_of(list(rows.values()), num_sampled=sum(samples), num_admitted=len(admitted)),
    )
