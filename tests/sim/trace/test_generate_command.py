from pathlib import Path

import numpy as np
import pytest

from tests.sim.command import ROOT, Done, command
from tests.sim.trace.side_files import meta_of
from traces import GeneratorSettings, Trace, generate, read_trace

EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"


def made(path: Path, *args: object) -> Trace:
    done = command("trace", "generate", path, *args)
    assert done.code == 0, done
    return read_trace(path)


def gaps_of(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.diff([request.arrival_s for request in trace.requests if request.arrival_s is not None])


def test_without_settings_it_is_the_generator_of_the_library(tmp_path: Path) -> None:
    trace = made(tmp_path / "t.jsonl.zst")
    assert trace.requests == generate(GeneratorSettings()).requests
    meta = meta_of(tmp_path / "t.jsonl.zst")
    assert (meta["digest"], meta["sources"]) == (trace.digest, [])
    assert meta["settings"]["arrivals"] == "poisson"


def test_arrivals_of_all_kinds(tmp_path: Path) -> None:
    many = ("-n", 2500, "--rate", 2)
    gaps = gaps_of(made(tmp_path / "g.jsonl", *many, "--arrivals", "gamma:cv=3"))
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(3, rel=0.2)
    bursts = made(tmp_path / "b.jsonl", *many, "--arrivals", "on-off:on=1s,off=4s")
    assert all((request.arrival_s or 0) % 5 < 1 for request in bursts.requests)
    day = made(tmp_path / "d.jsonl", *many, "--arrivals", "diurnal:amplitude=1,period=10min")
    in_day = [(request.arrival_s or 0) % 600 for request in day.requests if (request.arrival_s or 0) < 1200]
    # Between a quarter and three quarters of a day: 1/2 + amplitude / pi of all.
    assert np.mean([150 <= time < 450 for time in in_day]) == pytest.approx(0.5 + 1 / np.pi, abs=0.04)


def test_lengths_constant_and_from_a_trace(tmp_path: Path) -> None:
    trace = made(tmp_path / "c.jsonl", "-n", 50, "--input", "constant:512", "--output", "constant:tokens=3")
    assert {(request.input_length, request.output_length) for request in trace.requests} == {(512, 3)}
    drawn = made(tmp_path / "r.jsonl", "-n", 500, "--lengths-from", EXAMPLE)
    real = {(request.input_length, request.output_length) for request in read_trace(EXAMPLE).requests}
    assert {(request.input_length, request.output_length) for request in drawn.requests} <= real
    assert meta_of(tmp_path / "r.jsonl")["sources"][0]["name"] == str(EXAMPLE)


def test_prefixes_and_sessions(tmp_path: Path) -> None:
    flags = ("-n", 300, "--sessions", "chat:turns=4,delay=10s", "--prefixes", "tree:depth=2", "--block-size", 64)
    trace = made(tmp_path / "s.jsonl", *flags)
    assert (trace.num_requests, trace.block_size, trace.hash_id_count) == (300, 64, "ceil")
    assert 40 < trace.num_sessions < 140
    assert "--sessions chat:turns=4,delay=10s" in meta_of(tmp_path / "s.jsonl")["command"]


def refused(tmp_path: Path, flags: str) -> Done:
    return command("trace", "generate", tmp_path / "t.jsonl", *flags.split())


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ("--arrivals fast", "--arrivals is 'fast'; it must begin with one of poisson, gamma, on-off, diurnal"),
        ("--arrivals gamma", "--arrivals is 'gamma', but gamma needs cv; write --arrivals gamma:cv=N"),
        ("--arrivals gamma:cv=0", "--arrivals is 'gamma:cv=0': cv is 0.0, but it must be a number above 0"),
        ("--arrivals poisson:cv=2", "but poisson has no 'cv'; write --arrivals poisson"),
        ("--arrivals on-off:on=3,off=4s", "--arrivals: on is '3'; it must be a number with a unit"),
        ("--arrivals on-off:on=3s", "needs off; write --arrivals on-off:on=10s,off=10s"),
        ("--arrivals diurnal:amplitude=2", "amplitude is 2.0, but it must be a number from 0 to 1"),
        ("--arrivals gamma:cv=1,cv=2", "which gives cv twice"),
        ("--arrivals gamma:cv=x", "--arrivals: cv is 'x'; it must be a number"),
        ("--input constant:1.5", "--input: tokens is '1.5'; it must be a whole number"),
        ("--input lognormal:mean=9,min=5,max=4", "min is 5, but it must not be above max, 4"),
        ("--input lognormal:sigma=1", "lognormal needs mean; write --input lognormal:mean=N,[sigma=N],[min=N],[max=N]"),
        ("--prefixes tree:depth=0", "depth is 0, but it must be a whole number from 1"),
        ("--sessions chat:turns=0,delay=1s", "turns is 0.0, but it must be a number from 1"),
        ("--requests 0", "the number of requests is 0"),
        ("--rate 0", "rate is 0.0, but it must be a number above 0"),
        ("--rate 1e-9", "1000 requests at a rate of 1e-09 a second take"),
        ("--block-size 0", "block size is 0"),
        (f"--lengths-from {EXAMPLE} --input constant:5", "--input is constant:5, but lengths are drawn from"),
        ("--lengths-from nowhere.jsonl", "nowhere.jsonl does not exist"),
    ],
)
def test_what_cannot_be_is_a_sentence(flags: str, sentence: str, tmp_path: Path) -> None:
    assert sentence in refused(tmp_path, flags).error
    assert list(tmp_path.iterdir()) == []


def test_a_dash_is_no_file() -> None:
    assert command("trace", "generate", "-").error == (
        "A trace comes with a side file and does not go to stdout; name a new file."
    )


def test_a_device_is_not_replaced() -> None:
    assert command("trace", "generate", "/dev/null", "--force").error == (
        "/dev/null is a device or a pipe, which cannot be replaced; name a new file."
    )


def test_a_trace_without_its_side_file_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = command("trace", "generate", tmp_path / "t.jsonl", "-n", 5)
    assert done.error == f"{tmp_path / 't.meta.json'}: No space left on device."
    assert list(tmp_path.iterdir()) == []
