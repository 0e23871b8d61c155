"""Whether greedy outputs are right, as far as rounding allows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.gpu_checks.case import Number, Verdict
from benchmarks.gpu_checks.checkpoints import Reference


@dataclass(frozen=True, slots=True)
class _Judged:
    margins: torch.Tensor
    their_margins: torch.Tensor
    noise: float


class GreedyJudge:
    """Compares every output token with what transformers thinks of it, given the prompt and the tokens before it.

    In a narrow dtype two nearly equal logits may change places, and everything after differs. So no outputs are
    compared, but margins: how far the logit of each token lies below the largest one, in float32. With right logits
    that are off by at most e, a margin is at most 2 e. What e may be is seen from transformers itself in that dtype.

    Args:
        folder: checkpoint.
        device: of the reference.
        dtype: that the outputs were computed in.
    """

    def __init__(self, folder: Path, device: str, dtype: torch.dtype) -> None:
        self._exact = Reference(folder, device, torch.float32)
        self._rounded = Reference(folder, device, dtype)

    def verdict(self, requests: Iterable[tuple[Sequence[int], Sequence[int]]], **numbers: Number) -> Verdict:
        """Of (prompt, output) pairs; passes if no margin is above three times the largest error of transformers."""
        judged = [self._judge(list(prompt), list(output)) for prompt, output in requests]
        margins, theirs = torch.cat([j.margins for j in judged]), torch.cat([j.their_margins for j in judged])
        noise, worst = max(each.noise for each in judged), float(margins.max())
        numbers |= {
            "tokens": len(margins),
            "equal": float((margins == 0).double().mean()),
            "hf_equal": float((theirs == 0).double().mean()),
            "worst_margin": worst,
            "hf_error": noise,
        }
        return Verdict(worst <= max(3 * noise, 1e-4), numbers)

    def _judge(self, prompt: list[int], output: list[int]) -> _Judged:
        tokens, first = prompt + output[:-1], len(prompt) - 1
        exact, rounded = (model.logits(tokens, first) for model in (self._exact, self._rounded))
        best, chosen = exact.amax(-1), torch.tensor(output, device=exact.device)[:, None]
        margins, theirs = (
            best - exact.gather(-1, picked)[:, 0] for picked in (chosen, rounded.argmax(-1, keepdim=True))
        )
        return _Judged(margins, theirs, float((rounded - exact).abs().max()))
