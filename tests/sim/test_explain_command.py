"""`python -m sim explain`, in this process."""

import json
import re

import pytest

from tests.sim.command import command


def _figures(out: str) -> list[tuple[float, float]]:
    """Milliseconds and % of each term, the whole step last."""
    found = re.findall(r" ([\d,]+\.\d{4}) +(\d+\.\d)(?: |$)", out, re.MULTILINE)
    return [(float(time_ms.replace(",", "")), float(percent)) for time_ms, percent in found]


@pytest.mark.parametrize(
    "flags",
    [[], ["--eager"], ["--prefill-seqs", "2", "--prefill-tokens", "4096"], ["--tp", "8", "--decode-context", "32768"]],
)
@pytest.mark.parametrize(("cost", "least_terms"), [(["--cost", "roofline"], 6), ([], 5)])
def test_terms_add_up_to_the_step(flags: list[str], cost: list[str], least_terms: int) -> None:
    done = command("explain", *flags, *cost)
    *terms, (total_ms, total_percent) = _figures(done.out)
    rounding = 0.05 * (len(terms) + 1)

    assert done.code == 0
    assert len(terms) >= least_terms
    assert sum(time_ms for time_ms, _ in terms) == pytest.approx(total_ms, abs=rounding / 1000)
    assert sum(percent for _, percent in terms) == pytest.approx(total_percent, abs=rounding)
    assert total_percent == 100.0


def test_step_is_padded_to_the_graph_that_a_replay_would_run() -> None:
    assert "graph of 72 tokens" in command("explain", "--decode-seqs", "65").out
    assert "graph of 1 tokens" in command("explain", "--decode-seqs", "1").out
    assert "graph of 300 tokens" in command("explain", "--decode-seqs", "300").out
    mixed = ("--decode-seqs", "9", "--prefill-seqs", "2", "--prefill-tokens", "128")
    assert "graph of 288 tokens" in command("explain", *mixed).out


@pytest.mark.parametrize(("cost", "rests_on"), [(["--cost", "roofline"], "uncalibrated"), ([], r"error \d+\.\d %")])
def test_large_prefill_and_eager_steps_run_no_graph(cost: list[str], rests_on: str) -> None:
    for flags in (["--eager"], ["--eager", "--prefill-seqs", "1", "--prefill-tokens", "9"], ["--prefill-seqs", "1"]):
        title = command("explain", *flags, *cost).out.splitlines()[0]
        assert re.search(rf"{rests_on}: eager$", title), title


def test_without_flags_a_calibration_is_explained() -> None:
    title = "Qwen3-8B on 1 x H200, qwen3-8b-h200-block16-flash4, calibrated on H200, "
    assert command("explain").out.startswith(title)
    for flags in (["--block-size", "32"], ["--gpu", "H100"], ["--tp", "2"], ["--model", "Qwen3-4B"]):
        assert "uncalibrated: graph" in command("explain", *flags).out.splitlines()[0]


@pytest.mark.parametrize("cost", [["--cost", "roofline"], []])
def test_longer_context_takes_longer(cost: list[str]) -> None:
    short, long = (_figures(command("explain", "--decode-context", size, *cost).out)[-1] for size in (100, 10_000))

    assert long > short


@pytest.mark.parametrize("width", ["40", "200"])
@pytest.mark.parametrize("cost", [["--cost", "roofline"], []])
def test_piped_output_is_plain_columns_and_whole_at_any_width(
    width: str, cost: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    out = command("explain", *cost).out
    assert out.isascii()
    assert "\x1b" not in out
    # The title is one line, however long a calibration's name.
    assert max(len(line) for line in out.splitlines()[0 if cost else 1 :]) < 90
    heading = next(line for line in out.splitlines() if line.startswith("term"))
    assert heading.split() == ["term", "count", "GFLOP", "MB", "ms", "%", "limited", "by"]


@pytest.mark.parametrize("cost", [["--cost", "roofline"], []])
def test_as_json(cost: list[str]) -> None:
    step = json.loads(command("explain", "--decode-seqs", 64, "--json", *cost).out)
    assert step["graph_size"] == 64
    assert step["time_s"] == pytest.approx(sum(term["time_s"] for term in step["terms"]))
    assert {"name", "count", "flops", "num_bytes", "time_s", "limited_by"} == set(step["terms"][0])


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        (["--decode-seqs", "0"], "The step has 0 decodes and 0 chunks; give at least one of either"),
        (["--decode-seqs", "-1"], "The step has -1 decodes and 0 chunks"),
        (["--prefill-seqs", "-1"], "The step has 64 decodes and -1 chunks"),
        (["--decode-context", "0"], "A decode attends to at least 1 token (here 0)"),
        (["--prefill-seqs", "1", "--prefill-tokens", "1"], "a chunk has at least 2 (here 1)"),
        (["--prefill-seqs", "1", "--prefill-context", "7"], "attends to no fewer than it has (here 7)"),
        (["--decode-seqs", str(10**12)], "is above 2147483647"),
        (["--decode-context", str(10**400)], "is above 2147483647"),
        (["--tp", "0"], "tensor-parallel degree is 0"),
        (["--model", "gpt"], "Unknown model 'gpt'; known are Llama-3.1-8B"),
        (["--gpu", "abacus"], "Unknown GPU 'abacus'; known are A100-80"),
    ],
)
def test_step_that_cannot_be(flags: list[str], part: str) -> None:
    assert part in command("explain", *flags).error


def test_a_step_beyond_what_was_measured_is_noted() -> None:
    assert command("explain").notes == []
    (note,) = command("explain", "--decode-seqs", 500, "--decode-context", 9000).notes
    assert note.startswith(
        "No such step was calibrated for: num_decode_seqs (measured: 256), decode_context (measured: "
    )
    (note,) = command("explain", "--decode-seqs", 4, "--eager").notes
    assert note == "No such step was calibrated for: decode eager."


def test_where_a_cost_model_counts_no_work_none_is_shown() -> None:
    rows = [line.split() for line in command("explain").out.splitlines()[2:-1]]
    assert all("-" in row and "0.00" not in row for row in rows)
    assert not any("-" in line.split() for line in command("explain", "--cost", "roofline").out.splitlines())
