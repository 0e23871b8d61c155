from pathlib import Path
from typing import Any

from analysis.run import Run
from analysis.run_differences import have_one_trace, run_differences
from tests.run_builder import META, small_run

REAL = {
    "backend": "gpu",
    "device": "cuda",
    "attention": "flash4",
    "memory_utilization": 0.8,
    "num_blocks": None,
    "max_num_seqs": 4,
    "start_s": 5.0,
    "slo": "ttft=1s",
}
SIMULATED = {"backend": "sim", "cost": "model.toml", "gpu": "H200", "num_blocks": 100, "max_num_seqs": 4}


def _run(path: Path, **meta: Any) -> Run:
    return small_run(path, **meta).build()


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    assert [*run_differences(_run(tmp_path / "a"), _run(tmp_path / "b"))] == []


def test_each_kind_has_a_sentence(tmp_path: Path) -> None:
    a = _run(tmp_path / "a", versions={"twinserve": "0.1", "torch": "2.11"}, graph_sizes=[1], hardware={"kind": "cuda"})
    b = small_run(
        tmp_path / "b",
        trace={"digest": "xyz"},
        settings=META["settings"] | {"block_size": 256, "extra": 1},
        num_kv_blocks=200,
        graph_sizes=[1, 2],
        seed=1,
        hardware={"kind": "cuda", "gpu": "other"},
        versions={"twinserve": "0.2"},
    ).build(complete=False)

    assert [*run_differences(a, b)] == [
        f"{b.path} is partial: it was stopped before its end.",
        "The traces differ: digest abc and xyz; requests are not compared one by one.",
        "KV blocks differ: 100 and 200.",
        "Graph sizes differ: [1] and [1, 2].",
        "Seeds differ: 0 and 1.",
        "Hardware differs: {'kind': 'cuda'} and {'kind': 'cuda', 'gpu': 'other'}.",
        "Versions differ: twinserve 0.1 and 0.2.",
        "Settings differ: block_size 16 and 256, extra None and 1.",
    ]


def test_what_must_differ_between_a_run_and_its_simulation_is_left_out(tmp_path: Path) -> None:
    real = {"kind": "cuda", "gpu": "NVIDIA H200", "num_gpus": 1}
    modelled = {"kind": "simulated", "model": "Qwen3-8B", "gpu": "H200", "num_gpus": 1}
    a = _run(tmp_path / "a", settings=REAL, hardware=real, versions={"torch": "2.11", "twinserve": "0.1"})
    versions = {"torch": "2.13", "twinserve": "0.1"}

    simulated = _run(tmp_path / "b", settings=SIMULATED, hardware=modelled, versions=versions)
    assert [*run_differences(a, simulated)] == []
    other = _run(
        tmp_path / "c",
        settings=SIMULATED | {"max_num_seqs": 5},
        hardware=modelled | {"num_gpus": 2},
        versions={"twinserve": "0.2"},
    )
    assert [*run_differences(a, other)] == [
        "Numbers of GPUs differ: 1 and 2.",
        "Versions differ: twinserve 0.1 and 0.2.",
        "Settings differ: max_num_seqs 4 and 5.",
    ]


def test_window_counts_where_traces_are_not_known_to_be_one(tmp_path: Path) -> None:
    a, b = (_run(tmp_path / name, trace={}, settings={"limit": limit}) for name, limit in (("a", 1), ("b", 2)))

    assert [*run_differences(a, b)] == ["Settings differ: limit 1 and 2."]


def test_one_trace(tmp_path: Path) -> None:
    a, b, unknown = (_run(tmp_path / str(digest), trace={"digest": digest}) for digest in ("x", "y", None))

    assert have_one_trace(a, a)
    assert not have_one_trace(a, b)
    assert have_one_trace(a, unknown)


def test_hosts_that_are_not_equally_quick_are_told(tmp_path: Path) -> None:
    quick = small_run(tmp_path / "quick", settings=REAL).build(summary={"host_probe_us": 10.0})
    alike = small_run(tmp_path / "alike", settings=REAL).build(summary={"host_probe_us": 10.2})
    slow = small_run(tmp_path / "slow", settings=REAL).build(summary={"host_probe_us": 12.666})
    said = "Hosts were not equally quick: a probe took {} us, and steps wait for them{}."
    assert [*run_differences(quick, alike)] == []
    assert [*run_differences(quick, slow)] == [said.format("10.0 and 12.7", "")]

    model = {"kind": "fitted", "text": "", "host_probe_us": 11.0}
    simulated = small_run(tmp_path / "sim", settings=SIMULATED).build(summary={"cost_model": model})
    told = "; --host-probe-us {} simulates the real one"
    assert [*run_differences(slow, simulated)] == [said.format("12.7 and 11.0", told.format("12.67"))]
    assert [*run_differences(simulated, quick)] == [said.format("11.0 and 10.0", told.format("10"))]

    unknown = small_run(tmp_path / "roofline", settings=SIMULATED).build(summary={"cost_model": {"kind": "roofline"}})
    assert [*run_differences(slow, unknown)] == []
