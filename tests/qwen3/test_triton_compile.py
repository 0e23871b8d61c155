"""The Triton kernels compile for a GPU that need not be there: the interpreter forgives what the compiler does not."""

import os

import pytest

pytest.importorskip("triton")
pytestmark = [
    pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="the interpreter compiles nothing"),
    # Triton announces a change of its own default; it does not concern results at the accuracy we compare.
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION:UserWarning"),
]


def compile_for_hopper(kernel, constants, **types):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    signature = types | dict.fromkeys(constants, "constexpr")
    constexprs = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(kernel, signature={name: signature[name] for name in kernel.arg_names}, constexprs=constexprs)
    return compile(source, target=GPUTarget("cuda", 90, 32))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


def test_add_rms_norm_compiles():
    from backends.qwen3.triton_ops import _add_rms_norm_kernel as kernel

    pointers = dict.fromkeys(("x_ptr", "residual_ptr", "weight_ptr", "out_ptr"), "*bf16")
    constants = {"SIZE": 2560, "HAS_X": True, "BLOCK": 4096}
    assert "cubin" in compile_for_hopper(kernel, constants, **pointers, eps="fp32").asm


def test_silu_mul_compiles():
    from backends.qwen3.triton_ops import _silu_mul_kernel as kernel

    constants = {"SIZE": 3072, "BLOCK": 1024}
    assert "cubin" in compile_for_hopper(kernel, constants, gate_up_ptr="*bf16", out_ptr="*bf16").asm


def test_norm_rope_store_compiles():
    from backends.qwen3.norm_rope_store import _kernel as kernel

    names = ("qkv_ptr", "query_ptr", "keys_ptr", "values_ptr", "q_weight_ptr", "k_weight_ptr")
    types = dict.fromkeys(names, "*bf16") | {"rotary_ptr": "*fp32", "positions_ptr": "*i64", "slots_ptr": "*i64"}
    types |= {"qkv_row_stride": "i32", "eps": "fp32"}
    constants = {"NUM_HEADS": 16, "NUM_KV_HEADS": 8, "HEAD_DIM": 128, "HEADS": 4, "BLOCK": 128, "HALF_BLOCK": 64}
    assert "cubin" in compile_for_hopper(kernel, constants, **types).asm


def test_store_kvcache_compiles():
    from backends.qwen3.store_kvcache import _store_kernel as kernel

    types = dict.fromkeys(("key_ptr", "value_ptr", "keys_ptr", "values_ptr"), "*bf16") | {"slots_ptr": "*i64"}
    strides = ("key_row_stride", "key_head_stride", "value_row_stride", "value_head_stride")
    constants = {"NUM_HEADS": 8, "HEAD_DIM": 80, "HEADS": 4, "BLOCK": 128}
    assert "cubin" in compile_for_hopper(kernel, constants, **types, **dict.fromkeys(strides, "i32")).asm
