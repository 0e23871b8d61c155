"""`python -m sim explain`, in this process."""

import pytest

from tests.sim.command import command


def _figures(out: str) -> list[tuple[float, float]]:
    """Microseconds and % of each term, the whole step last; a term that is wrapped goes on without figures."""
    rows = [[cell.strip() for cell in line.split("│")] for line in out.splitlines() if line.startswith("│")]
    return [(float(cells[5]), float(cells[6])) for cells in rows if cells[5]]


@pytest.mark.parametrize(
    "flags",
    [[], ["--eager"], ["--prefill-seqs", "2", "--prefill-tokens", "4096"], ["--tp", "8", "--decode-context", "32768"]],
)
def test_terms_add_up_to_the_step(flags: list[str]) -> None:
    done = command("explain", *flags)
    *terms, (total_us, total_percent) = _figures(done.out)
    rounding = 0.05 * (len(terms) + 1)

    assert done.code == 0
    assert len(terms) > 5
    assert sum(time_us for time_us, _ in terms) == pytest.approx(total_us, abs=rounding)
    assert sum(percent for _, percent in terms) == pytest.approx(total_percent, abs=rounding)
    assert total_percent == 100.0


def test_step_is_padded_to_the_graph_that_a_replay_would_run() -> None:
    assert "graph of 72 tokens" in command("explain", "--decode-seqs", "65").out
    assert "graph of 1 tokens" in command("explain", "--decode-seqs", "1").out
    assert "graph of 300 tokens" in command("explain", "--decode-seqs", "300").out
    mixed = ("--decode-seqs", "9", "--prefill-seqs", "2", "--prefill-tokens", "128")
    assert "graph of 288 tokens" in command("explain", *mixed).out


def test_large_prefill_and_eager_steps_run_no_graph() -> None:
    assert "uncalibrated: eager" in command("explain", "--eager").out
    assert "uncalibrated: eager" in command("explain", "--eager", "--prefill-seqs", "1", "--prefill-tokens", "9").out
    assert "uncalibrated: eager" in command("explain", "--prefill-seqs", "1").out


def test_longer_context_takes_longer() -> None:
    short, long = (_figures(command("explain", "--decode-context", size).out)[-1] for size in (100, 10_000))

    assert long > short


def test_piped_output_has_no_colour() -> None:
    assert "\x1b" not in command("explain").out


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
