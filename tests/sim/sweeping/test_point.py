from sim.sweeping.point import Point


def name(rate: float = 1.0, **configuration: object) -> str:
    return Point({"policy": "vllm"} | configuration, rate).name


def test_name_says_what_varies() -> None:
    assert name(max_num_seqs=64, watermark=0.05, prefix_caching=True) == (
        "vllm,max_num_seqs=64,watermark=0.05,prefix_caching=True,rate=1"
    )
    assert name(0.5) == "vllm,rate=0.5"


def test_values_say_everything_in_which_points_differ() -> None:
    assert Point({"policy": "vllm", "seed": 3}, 2.0).values == {"rate_scale": 2.0, "policy": "vllm", "seed": 3}


def test_paths_are_cut_to_their_end_and_told_apart() -> None:
    names = [name(policy=text) for text in ("a/mine.py:Mine", "b/mine.py:Mine", "Mine")]

    assert names[2] == "Mine,rate=1"
    assert names[0].startswith("Mine~")
    assert len(set(names)) == 3
    assert all("/" not in each and ":" not in each for each in names)


def test_names_are_the_same_every_time() -> None:
    assert name(gpu="RTX 4090") == "vllm,gpu=RTX-4090~45252bf5,rate=1"


def test_nothing_is_hidden_or_leaves_the_folder() -> None:
    for text in ("..", ".hidden", "a/..", "~"):
        assert not name(policy=text).startswith(".")
        assert "/" not in name(policy=text)


def test_rates_that_differ_have_names_that_differ() -> None:
    assert name(0.1 + 0.2) == "vllm,rate=0.30000000000000004"
    assert name(0.3) == "vllm,rate=0.3"


def test_long_names_are_cut_and_told_apart() -> None:
    long, other = (name(tokenizer=letter + "t" * 400) for letter in "ab")

    assert len(long) < 200
    assert long != other
