"""The sampler's kernels pick what plain torch picks, keep what top-k and top-p say, and draw by the softmax."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from backends.qwen3 import torch_sampling
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.simulated import load_model_sheet
from benchmarks.gpu_checks.case import Case, NotHereError, Verdict
from benchmarks.gpu_checks.setup import Setup


def cases(setup: Setup) -> Iterator[Case]:
    """On logits of the model's vocabulary."""
    for num_rows in (1, 32, 256):
        yield Case(f"draws {num_rows} rows", partial(_draws, setup, num_rows))
    yield Case("top-k and top-p", partial(_filters, setup))
    yield Case("rows that are no numbers", partial(_bad_rows, setup))
    yield Case("chi-square", partial(_chi_square, setup))


class _Problem:
    """Random logits and settings."""

    def __init__(self, setup: Setup, num_rows: int, vocab_size: int | None = None) -> None:
        if not setup.is_cuda and os.environ.get("TRITON_INTERPRET") != "1":
            raise NotHereError("skipped: needs CUDA, or TRITON_INTERPRET=1")
        self.random = torch.Generator(setup.device).manual_seed(num_rows)
        self._on: dict[str, Any] = {"generator": self.random, "device": setup.device}
        self.num_tokens = vocab_size or load_model_sheet(setup.model).vocab_size
        self.logits = (torch.randn(num_rows, self.num_tokens, **self._on) * 3).bfloat16()

    def inputs(self, temperatures: list[float], top_k: int | None = None, top_p: float = 1.0) -> SamplingInputs:
        """Settings by row, `temperatures` in turn."""
        num_rows, device = self.logits.shape[0], self.logits.device
        return SamplingInputs(
            temperatures=torch.tensor(temperatures, device=device).repeat(num_rows)[:num_rows],
            top_ks=torch.full((num_rows,), top_k or self.num_tokens, dtype=torch.int32, device=device),
            top_ps=torch.full((num_rows,), top_p, device=device),
            keys=torch.randint(-(2**63), 2**63 - 1, (num_rows,), **self._on),
            positions=torch.randint(0, 40960, (num_rows,), **self._on),
            has_filter=top_k is not None or top_p < 1,
        )


def _draws(setup: Setup, num_rows: int) -> Verdict:
    problem = _Problem(setup, num_rows)
    from backends.qwen3 import sampler_kernels

    inputs = problem.inputs([0.0, 0.6, 1.0, 2.0])
    ours = sampler_kernels.argmax(problem.logits, inputs, None)
    plain = torch_sampling.argmax(problem.logits, inputs, None)
    is_equal, is_greedy = (ours == plain).all(0), inputs.temperatures == 0
    share = float(is_equal.double().mean())
    is_inside = bool(((ours[0] >= 0) & (ours[0] < problem.num_tokens)).all())
    # A logarithm that differs in its last bit may decide between two nearly equal tokens.
    is_ok = share >= 0.98 and bool(is_equal[is_greedy].all()) and is_inside
    return Verdict(is_ok, {"equal": share, "inside": is_inside})


def _filters(setup: Setup) -> Verdict:
    """The kept tokens: all that are among the k best, and the fewest that reach p."""
    problem, k, p = _Problem(setup, 64), 50, 0.9
    from backends.qwen3 import sampler_kernels

    logits = problem.logits.float()
    by_k, by_p = (
        sampler_kernels.floors(problem.logits, problem.inputs([0.7, 1.0], **setting))
        for setting in ({"top_k": k}, {"top_p": p})
    )
    kth = logits.topk(k).values[:, -1:]
    is_k_right = torch.equal(logits >= by_k[:, None], logits >= kth)
    weights = (logits / problem.inputs([0.7, 1.0]).temperatures[:, None]).softmax(-1)
    is_kept = logits >= by_p[:, None]
    lowest = torch.where(is_kept, logits, torch.inf).amin(-1, keepdim=True)
    kept, needed = ((weights * keep).sum(-1) for keep in (is_kept, logits > lowest))
    numbers = {"top_k": is_k_right, "least_mass": float(kept.min()), "mass_without_last": float(needed.max())}
    return Verdict(is_k_right and float(kept.min()) > p - 1e-3 and float(needed.max()) < p + 1e-3, numbers)


def _bad_rows(setup: Setup) -> Verdict:
    problem = _Problem(setup, 5)
    from backends.qwen3 import sampler_kernels

    problem.logits[1, 7], problem.logits[2], problem.logits[3, 3] = torch.nan, -torch.inf, torch.inf
    inputs = problem.inputs([0.0, 1.0], top_k=20)
    columns = sampler_kernels.argmax(problem.logits, inputs, sampler_kernels.floors(problem.logits, inputs))
    flags, ids = columns[1].tolist(), columns[0].tolist()
    is_inside = all(0 <= token < problem.num_tokens for token in ids)
    is_ok = flags == [0, 1, 1, 1, 0] and is_inside and ids[0] == int(problem.logits[0].float().argmax())
    return Verdict(is_ok, {"flags": str(flags), "inside": is_inside})


def _chi_square(setup: Setup) -> Verdict:
    """Draws of one distribution over 32 tokens, in standard deviations of the statistic from its mean."""
    num_draws, num_tokens, temperature = 65_536 if setup.is_cuda else 512, 32, 0.8
    problem = _Problem(setup, num_draws, num_tokens)
    from backends.qwen3 import sampler_kernels

    logits = problem.logits[:1].expand(num_draws, -1).contiguous() / 2
    ids = sampler_kernels.argmax(logits, problem.inputs([temperature]), None)[0]
    expected = (logits[0].float() / temperature).softmax(-1).double() * num_draws
    observed = torch.bincount(ids.long(), minlength=num_tokens).double()
    deviation = float(((observed - expected).square() / expected).sum() - (num_tokens - 1))
    deviation /= (2 * (num_tokens - 1)) ** 0.5
    return Verdict(abs(deviation) < 5, {"deviations": deviation})
