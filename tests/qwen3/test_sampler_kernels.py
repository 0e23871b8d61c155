"""The sampler's Triton kernels equal plain torch, in Triton's interpreter, and compile for a GPU that is not there."""

import os
import subprocess
import sys

import pytest
import torch

from backends.qwen3 import torch_sampling
from tests.qwen3.sampling import ALL, logits_of, rows
from tests.qwen3.triton_compiler import compile_for_hopper

pytest.importorskip("triton")
IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
interpreted = pytest.mark.skipif(not IS_INTERPRETED, reason="runs in the process that interprets Triton")
NAN, INF = float("nan"), float("inf")
# Triton announces a change of its own default, which does not concern a comparison of floats.
pytestmark = [
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION:UserWarning"),
    # The interpreter computes with numpy, which warns about the NaN that the tests feed in on purpose.
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]


@pytest.fixture
def kernels():
    from backends.qwen3 import sampler_kernels  # bound to the interpreter when imported

    return sampler_kernels


@pytest.mark.skipif(IS_INTERPRETED, reason="would start itself again")
def test_kernels_in_the_interpreter():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@interpreted
@pytest.mark.parametrize("num_tokens", [3, 4101])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_argmax_equals_plain_torch(kernels, num_tokens, dtype):
    padded = torch.randn(5, num_tokens + 7, generator=torch.Generator().manual_seed(0)) * 3
    padded[2, num_tokens // 2] = -INF
    logits = padded.to(dtype)[:, :num_tokens]
    inputs = rows((0.0, ALL, 1.0), (1.0, ALL, 1.0), (0.3, ALL, 1.0), (1e9, ALL, 1.0), (1e-4, ALL, 1.0))
    inputs.keys[:] = torch.tensor([0, -1, 2**62 + 12345, 7, -(2**63)])
    inputs.positions[:] = torch.tensor([0, 40959, 7, 2**31, 1])
    assert torch.equal(kernels.argmax(logits, inputs, None), torch_sampling.argmax(logits, inputs, None))
    floors = torch.tensor([-INF, 0.5, 0.0, -1.0, 2.0])
    assert torch.equal(kernels.argmax(logits, inputs, floors), torch_sampling.argmax(logits, inputs, floors))


@interpreted
def test_bad_rows_are_reported(kernels):
    bad = [[NAN, 1.0, 2.0], [-INF] * 3, [0.0, INF, 1.0], [NAN] * 3]
    logits = torch.tensor([[0.0, 9.0, 1.0], *bad, [5.0, 5.0, 1.0]])
    inputs = rows((0.0, ALL, 1.0), *[(1.0, 2, 0.5)] * 2, *[(0.0, 1, 0.5)] * 2, (0.0, ALL, 1.0))
    columns = kernels.argmax(logits, inputs, kernels.floors(logits, inputs))
    assert columns[1].tolist() == [0, 1, 1, 1, 1, 0]
    assert columns[0, [0, 5]].tolist() == [1, 0]
    assert columns[0].min() >= 0
    assert columns[0].max() < 3


def kept_by(floors, logits):
    return (logits.float() >= floors[:, None]).tolist()


@interpreted
@pytest.mark.parametrize(("num_tokens", "dtype"), [(5, torch.float32), (4100, torch.bfloat16)])
def test_floors_keep_the_same_tokens(kernels, num_tokens, dtype):
    logits = (torch.randn(7, num_tokens, generator=torch.Generator().manual_seed(4)) * 4).to(dtype)
    logits[3, 0] = -INF
    inputs = rows(
        (1.0, ALL, 1.0), (0.7, 50, 1.0), (1.0, ALL, 0.9), (2.0, 3, 0.5), (0.0, ALL, 1.0), (0.5, 1, 1.0), (9.0, 4, 0.7)
    )
    floors = kernels.floors(logits, inputs)
    assert kept_by(floors, logits) == kept_by(torch_sampling.floors(logits, inputs), logits)
    assert floors[[0, 4]].tolist() == [-INF, -INF]


@interpreted
def test_floors_of_known_logits(kernels):
    def kept(logits, *setting):
        return kept_by(kernels.floors(logits, rows(setting)), logits)[0]

    four = logits_of(0.1, 0.2, 0.3, 0.4)
    assert kept(four, 1.0, ALL, 0.6) == [False, False, True, True]
    assert kept(four, 1.0, ALL, 1e-40) == [False, False, False, True]
    assert kept(logits_of(0.5, 0.3, 0.2), 1.0, 2, 0.6) == [True, False, False]
    assert kept(torch.tensor([[1.0, -3.0, 0.0, -0.0, -5.0]]), 1.0, 2, 1.0) == [True, False, True, True, False]


@pytest.mark.skipif(IS_INTERPRETED, reason="the interpreter compiles nothing")
def test_kernels_compile_for_a_gpu(kernels, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    rows = {"logits": "*bf16", "row_stride": "i32", "temperatures": "*fp32"}
    tiles = {"tile_best": "*fp32", "tile_token": "*i32", "tile_bad": "*i32", "num_tiles": "i32"}
    draw = {"keys": "*i64", "positions": "*i64", "floors": "*fp32"}
    for has_floor in (True, False):
        compile_for_hopper(kernels._best_of_tile, {"HAS_FLOOR": has_floor}, num_tokens="i32", **rows, **tiles, **draw)
    more = {"columns": "*i32", "num_rows": "i32", "num_tokens": "i32"}
    compile_for_hopper(kernels._best_of_row, {"BLOCK": 64}, **tiles, **more)
    limits = {"top_ks": "*i32", "top_ps": "*fp32", "floors": "*fp32"}
    compile_for_hopper(kernels._floor_of_row, {"NUM_TOKENS": 151936, "NUM_BITS": 16, "BLOCK": 4096}, **rows, **limits)
