import pytest

from engine import Limits
from sim.profiling.bounds import Bounds
from sim.profiling.load import Load
from sim.profiling.plan import interleaved, plan

H200 = Bounds(Limits(block_size=256), 4510, (1, 2, 4, *range(8, 257, 8)))
SMALL_POOL = Bounds(Limits(block_size=16, max_num_seqs=32, max_num_batched_tokens=512, max_model_len=2048), 300, ())
SHORT = Bounds(Limits(block_size=16, max_num_seqs=4, max_num_batched_tokens=64, max_model_len=128), 40, (1, 2, 4))
FEW_BLOCKS = Bounds(Limits(block_size=16, max_num_seqs=4), 200, (1, 2, 4))
ALL = pytest.mark.parametrize(
    "bounds", [H200, SMALL_POOL, SHORT, FEW_BLOCKS], ids=["h200", "small_pool", "short", "few_blocks"]
)


def lives(load: Load) -> list[tuple[int, int, int]]:
    """(first step, first step after it, tokens at its end) of each request; the set-up is step 0."""
    found = [(0, each.num_outputs, each.num_tokens + each.num_outputs) for each in load.standing]
    if load.num_cached:
        found.append((0, 1, load.num_cached + 2))
    for step, chunks in enumerate(load.arrivals, 1):
        found += [
            (step, step + each.num_outputs, each.num_cached + each.num_tokens + each.num_outputs) for each in chunks
        ]
    return found


@ALL
def test_no_load_asks_for_more_than_the_engine_may_run(bounds: Bounds) -> None:
    limits = bounds.limits
    for load in plan(bounds):
        alive = lives(load)
        assert max(tokens for _, _, tokens in alive) <= limits.max_model_len, load.name
        for step, chunks in enumerate([(), *load.arrivals]):
            running = [life for life in alive if life[0] <= step < life[1]]
            assert len(running) <= limits.max_num_seqs, load.name
            decoding = len(running) - len(chunks)
            assert decoding + sum(each.num_tokens for each in chunks) <= limits.max_num_batched_tokens, load.name
            # Cached blocks are counted with each prompt that finds them: more than are needed.
            assert sum(bounds.num_blocks_for(tokens) for _, _, tokens in running) <= bounds.num_blocks, load.name


@ALL
def test_every_kind_of_step_is_there(bounds: Bounds) -> None:
    families = {load.family for load in plan(bounds)}
    assert families >= {"warm-up", "decode", "prefill", "mixed", "traffic"}


def test_decode_rows_pass_through_all_graph_sizes_in_the_first_round() -> None:
    first = next(load for load in plan(H200) if load.family == "decode")
    assert first.num_steps == max(each.num_outputs for each in first.standing)
    outputs = [each.num_outputs for each in first.standing]
    rows_at = {sum(end > step for end in outputs) for step in range(1, max(outputs))}
    assert rows_at == set(H200.graph_sizes)


def test_a_short_sweep_still_sees_every_family() -> None:
    families = [load.family for load in plan(H200)]
    first_round = families[: len(families) // 6]
    assert set(first_round) == {"warm-up", "decode", "shared", "prefill", "mixed", "unlike", "skewed", "traffic"}


def test_kinds_take_turns() -> None:
    a, b = Load("a", "decode"), Load("b", "mixed")
    assert [load.name for load in interleaved([[a] * 4, [b] * 2, []])] == list("abaaba")


def test_chunks_of_any_size_are_computed_behind_long_cached_text_alone_and_beside_rows() -> None:
    for family in ("prefill", "mixed"):
        chunks = [
            chunk
            for load in plan(H200)
            if load.family == family
            for chunk in [chunk for chunks in load.arrivals for chunk in chunks]
            if chunk.num_cached >= 8000
        ]
        assert {chunk.num_cached // 8000 for chunk in chunks} >= {1, 2, 3}
        assert {16, 64, 256, 1024, 4096} <= {chunk.num_tokens for chunk in chunks}
        assert max(chunk.num_tokens for chunk in chunks) > 8000


def test_a_sweep_takes_minutes_and_no_family_takes_most_of_it() -> None:
    # A step that holds next to nothing takes about 3 ms on an H200.
    sizes = {load.family: 0.0 for load in plan(H200)}
    for load in plan(H200):
        sizes[load.family] += load.size
    assert 60 < sum(sizes.values()) * 3e-3 < 180
    assert max(sizes.values()) < sum(sizes.values()) / 2


def test_graphs_that_are_not_full_are_measured_too() -> None:
    loads = [load for load in plan(H200) if "below" in load.name]
    outputs = [each.num_outputs for each in loads[0].standing]
    rows_at = {sum(end > step for end in outputs) for step in range(1, max(outputs))}
    assert 253 in rows_at
    assert not rows_at & set(range(8, 257, 8))


def test_cached_text_is_whole_blocks() -> None:
    for load in plan(H200):
        assert load.num_cached % 256 == 0
        assert all(each.num_cached in (0, load.num_cached) for chunks in load.arrivals for each in chunks)
