"""Ctrl-C anywhere within a step: the requests of that step fail, and all others get the tokens that they would get."""

import pytest

from backends.qwen3.qwen3_backend import Qwen3Backend
from engine import LLM, NanoVllmPolicy, SamplingParams
from tests.qwen3.tiny_model import save_tiny

OPTIONS = {"device": "cpu", "block_size": 16, "num_blocks": 60, "max_num_seqs": 4, "max_num_batched_tokens": 96}
GREEDY = SamplingParams(temperature=0, max_tokens=12)
DECODING = [[5, 6, 7], list(range(40, 75))]


def outputs_of(folder, interrupted=None):
    """Outputs of two requests that are decoding while a third one's prompt is, perhaps, interrupted."""
    with LLM(Qwen3Backend.from_folder(folder, max_model_len=96, **OPTIONS)[0], policy=NanoVllmPolicy()) as llm:
        names, outputs = [llm.add_request(prompt, GREEDY) for prompt in DECODING], {}
        for _ in range(3):
            llm.step()
        late = llm.add_request([9] * 20, GREEDY)
        if interrupted is not None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(*interrupted(llm._backend), _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    llm.step()
        while llm.has_unfinished:
            outputs |= {ended.request_id: ended.output_ids for ended in llm.step().ended}
    assert (late in outputs) == (interrupted is None)
    return [outputs[name] for name in names]


def _interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "interrupted",
    [
        lambda backend: (backend._builder, "_grown"),
        lambda backend: (backend._runner, "_apply"),
        lambda backend: (backend._runner._rows, "append_blocks"),
        lambda backend: (backend._runner, "_sample"),
        lambda backend: (backend._builder, "note_result"),
    ],
    ids=["command", "before-apply", "within-apply", "computed", "result"],
)
def test_who_is_not_in_the_interrupted_step_gets_the_same_tokens(tmp_path, interrupted):
    save_tiny(tmp_path)

    assert outputs_of(tmp_path, interrupted) == outputs_of(tmp_path)
