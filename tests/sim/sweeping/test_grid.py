import pytest

from sim.errors import SimError
from sim.sweeping.grid import configurations, parse_policies
from tests.sim.command import ROOT

MINE = f"{ROOT}/examples/policies/shortest_prompt_first.py:ShortestPromptFirst"


def test_policies_in_the_order_given() -> None:
    assert parse_policies("nano-vllm, vllm") == ("nano-vllm", "vllm")


@pytest.mark.parametrize(("text", "part"), [("vllm,", "an empty name"), ("vllm,vllm", "gives vllm twice")])
def test_what_are_no_policies(text: str, part: str) -> None:
    with pytest.raises(SimError, match=part):
        parse_policies(text)


def test_product_of_all_values() -> None:
    kept, notices = configurations(["vllm", "nano-vllm"], {"max_num_seqs": (1, 2), "seed": (7, 8)})

    assert [tuple(each.values()) for each in kept] == [
        *(("vllm", 1, 7), ("vllm", 1, 8), ("vllm", 2, 7), ("vllm", 2, 8)),
        *(("nano-vllm", 1, 7), ("nano-vllm", 1, 8), ("nano-vllm", 2, 7), ("nano-vllm", 2, 8)),
    ]
    assert list(kept[0]) == ["policy", "max_num_seqs", "seed"]
    assert notices == []


def test_policy_without_a_setting_that_varies_is_skipped_with_a_note() -> None:
    kept, notices = configurations(["vllm", MINE], {"watermark": (0.0, 0.1), "seed": (1,)})

    assert {each["policy"] for each in kept} == {"vllm"}
    assert notices == [f"Policy {MINE} has no setting watermark, which varies: its 2 combinations are skipped."]


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(SimError, match=r"^Nothing is left to run. Policy .* its 1 combination is skipped\.$"):
        configurations([MINE], {"watermark": (0.1,)})


def test_unknown_policy() -> None:
    with pytest.raises(SimError, match="There is no policy 'fifo'"):
        configurations(["fifo"], {})
