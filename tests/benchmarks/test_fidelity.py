"""The runs for the comparison with a GPU, on a cost model in place of one."""

import tarfile
from pathlib import Path

import pytest

from analysis.run import load
from benchmarks.fidelity.archive import archive_new
from benchmarks.fidelity.bench import Bench, finish_rate
from benchmarks.fidelity.borrowed_backend import BorrowedBackend
from benchmarks.fidelity.measurement import Measurement, chosen, measurements, named, parsed_shares, workload_and_share
from benchmarks.fidelity.workload import Workload
from benchmarks.fidelity.workloads import TINY_WORKLOADS, WORKLOADS
from sim.errors import SimError
from sim.parts import make_parts
from sim.replay_settings import POLICY_SETTINGS, ReplaySettings
from sim.step_clock import PredictedClock
from tests.sim.command import command
from traces import GeneratorSettings

EVEN = Workload(
    name="even",
    source=GeneratorSettings(
        num_requests=400, rate=1.0, input_mean=20, input_sigma=0, output_mean=40, output_sigma=0, burstiness=1e6
    ),
    saturated_s=5.0,
    pool_tokens=800,
)


def bench(folder: Path) -> Bench:
    parts = make_parts(ReplaySettings(model="Qwen3-0.6B", num_blocks=200, block_size=16, max_num_seqs=4))
    return Bench(parts, PredictedClock, folder, folder)


def test_a_run_has_the_rate_and_length_asked_for(tmp_path: Path) -> None:
    summary = bench(tmp_path).run(Measurement(EVEN, 70), rate=20.0, window_s=3.0)
    assert summary["completed"] == 60
    assert summary["duration"] == pytest.approx(3.0, rel=0.1)
    run = load(tmp_path / "runs" / "even-070")
    assert run.meta["num_kv_blocks"] == 50
    assert run.meta["settings"]["rate_scale"] == pytest.approx(20.0, rel=0.02)


def test_a_trace_that_is_too_short_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SimError, match="has 400 requests"):
        bench(tmp_path).run(Measurement(EVEN, 70), rate=200.0, window_s=3.0)


def test_the_sustained_rate_is_that_of_a_full_engine(tmp_path: Path) -> None:
    rate = bench(tmp_path).sustained_rate(EVEN)
    summary = bench(tmp_path).run(Measurement(EVEN, 300), rate=3 * rate, window_s=390 / (3 * rate))
    assert summary["request_throughput"] == pytest.approx(rate, rel=0.1)
    assert not (tmp_path / "run").exists()


def test_requests_that_end_in_the_second_half_count() -> None:
    assert finish_rate([(0, 0.0), (0, 1.0), (10, 2.0), (20, 3.0), (40, 4.0)]) == 15
    assert finish_rate([(0, 0.0), (7, 2.0)]) == 3.5


def test_a_lent_backend_stays_open_and_shows_some_of_its_blocks(tmp_path: Path) -> None:
    backend = bench(tmp_path).parts.engine.backend
    lent = BorrowedBackend(backend, 10)
    assert lent.num_blocks == 10
    assert lent.execute == backend.execute
    lent.close()


def test_runs_are_named_and_ordered() -> None:
    names = [each.name for each in measurements([EVEN, TINY_WORKLOADS[0]], [70, 110], 70)]
    assert names == [
        "even-070",
        "bursty-070",
        "even-110",
        "bursty-110",
        "even-070-repeat2",
        "bursty-070-repeat2",
        "even-070-wall",
    ]


@pytest.mark.parametrize(
    ("name", "measurement"),
    [
        ("even-070", Measurement(EVEN, 70)),
        ("even-110-repeat2", Measurement(EVEN, 110, repeat=2)),
        ("even-030-wall", Measurement(EVEN, 30, pace="wall")),
        ("even-070-nano-vllm", Measurement(EVEN, 70, policy="nano-vllm")),
        ("even-070-repeat3-wall-nano-vllm", Measurement(EVEN, 70, 3, "wall", "nano-vllm")),
    ],
)
def test_a_measurement_can_be_found_by_its_name(name: str, measurement: Measurement) -> None:
    assert named(name, [TINY_WORKLOADS[0], EVEN]) == measurement
    assert measurement.name == name
    assert workload_and_share(name) == ("even", measurement.share)


@pytest.mark.parametrize("name", ["even", "even-70", "even-000", "odd-070", ""])
def test_a_name_of_no_measurement_is_an_error(name: str) -> None:
    with pytest.raises(SimError, match=r"names no measurement; write WORKLOAD-070, .* one of even\."):
        named(name, [EVEN])


def test_shares_are_whole_percents() -> None:
    assert parsed_shares("70, 110,030") == [70, 110, 30]
    for text in ("x", "70,0", "-5", "7.5", "1000", "nan"):
        with pytest.raises(SimError, match=r"--shares has '.*'; give whole percents from 1 to 999"):
            parsed_shares(text)


def test_a_name_that_a_flag_does_not_know_is_an_error() -> None:
    assert chosen("--stage", "profile,runs", ["profile", "plan", "runs"]) == ["profile", "runs"]
    assert chosen("--only", "", ["even"]) == []
    with pytest.raises(SimError, match=r"--stage names 'plans'; known are profile, plan, runs\."):
        chosen("--stage", "plans", ["profile", "plan", "runs"])


def test_another_policy_is_run_as_if_it_had_been_asked_for_alone(tmp_path: Path) -> None:
    bench(tmp_path).run(Measurement(EVEN, 70, policy="nano-vllm"), rate=20.0, window_s=3.0)
    settings = load(tmp_path / "runs" / "even-070-nano-vllm").meta["settings"]
    alone = make_parts(ReplaySettings(model="Qwen3-0.6B", num_blocks=200, block_size=16, policy="nano-vllm")).settings
    assert {name: settings[name] for name in ("policy", *POLICY_SETTINGS)} == {
        name: getattr(alone, name) for name in ("policy", *POLICY_SETTINGS)
    }
    assert command("verify", str(tmp_path / "runs" / "even-070-nano-vllm")).code == 0


def test_workloads_have_names_of_their_own() -> None:
    assert len({workload.name for workload in WORKLOADS}) == len(WORKLOADS)


def test_only_what_is_new_is_packed(tmp_path: Path) -> None:
    folder, out = tmp_path / "results", tmp_path / "out"
    run = folder / "runs" / "a"
    run.mkdir(parents=True)
    (run / "steps.parquet").write_bytes(b"1" * 100)
    (folder / "sustained.json").write_text("{}")
    (first,) = archive_new(folder, out, "x")
    assert names_in(first) == ["sustained.json"]  # the run has no summary yet: it is not finished
    (run / "summary.json").write_text("{}")
    (second,) = archive_new(folder, out, "y")
    assert names_in(second) == ["runs/a/steps.parquet", "runs/a/summary.json"]
    assert archive_new(folder, out, "z") == []


def names_in(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def test_large_results_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.fidelity.archive.PART_BYTES", 4096)
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "a.bin").write_bytes(bytes(range(256)) * 40)
    parts = archive_new(folder, tmp_path / "out", "x")
    assert len(parts) > 1
    whole = tmp_path / "whole.tar"
    whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    with tarfile.open(whole) as tar:
        member = tar.extractfile("a.bin")
        assert member is not None
        assert member.read() == bytes(range(256)) * 40
