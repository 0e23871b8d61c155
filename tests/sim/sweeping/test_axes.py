import pytest

from sim.errors import SimError
from sim.sweeping.axes import parse_axes


def test_values_have_the_types_of_their_settings() -> None:
    axes = parse_axes(
        ["max-num-seqs=64,128", "watermark=0,0.05", "prefix_caching=true,false", "model=Qwen3-0.6B,Qwen3-8B", "seed=1"]
    )

    assert axes == {
        "max_num_seqs": (64, 128),
        "watermark": (0.0, 0.05),
        "prefix_caching": (True, False),
        "model": ("Qwen3-0.6B", "Qwen3-8B"),
        "seed": (1,),
    }
    assert list(axes) == ["max_num_seqs", "watermark", "prefix_caching", "model", "seed"]


def test_flags_that_take_durations_take_them_here() -> None:
    assert parse_axes(["end=90s,2min", "start_s=10"]) == {"end_s": (90.0, 120.0), "start_s": (10.0,)}


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        (["max_num_seqs"], "'max_num_seqs' is not NAME=VALUE,VALUE"),
        (["max_seqs=1"], "unknown setting max_seqs"),
        (["max_num_seq=1"], "unknown setting max_num_seq (did you mean max_num_seqs?); known: "),
        (["max_num_seqs=64,many"], "max_num_seqs is 'many'; it must be a whole number."),
        (["max_num_seqs=64,"], "max_num_seqs is ''; it must be a whole number."),
        (["max_num_seqs=64.5"], "max_num_seqs is '64.5'; it must be a whole number."),
        (["num_blocks=null"], "num_blocks is 'null'; it must be a whole number."),
        (["gpu="], "gpu is ''; it must be text."),
        (["prefix_caching=maybe"], "prefix_caching is 'maybe'; it must be true or false."),
        (["oversize=drop"], "oversize is 'drop'; it must be one of error, fail, truncate."),
        (["max_num_seqs=64,64"], "max_num_seqs the value 64 twice"),
        (["watermark=0.5,0.50"], "watermark the value 0.5 twice"),
        (["max_num_seqs=1", "max-num-seqs=2"], "gives max_num_seqs twice"),
        (["policy=vllm"], "give policies with --policies"),
        (["rate-scale=1"], "give rates with --rates"),
        (["dtype=float16"], "a setting of backend gpu"),
        (["slo=ttft=1s"], "a sweep has one SLO"),
        (["graph_sizes=1,2"], "a list has no place here"),
    ],
)
def test_what_cannot_vary(texts: list[str], part: str) -> None:
    with pytest.raises(SimError) as raised:
        parse_axes(texts)
    assert part in str(raised.value)
