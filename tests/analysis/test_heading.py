from typing import Any

from analysis.heading import heading

SETTINGS: dict[str, Any] = {
    "backend": "sim",
    "cost": None,
    "model": "Qwen3-8B",
    "policy": "vllm",
    "vllm_version": "0.33",
    "max_num_seqs": 256,
    "max_num_batched_tokens": 8192,
    "rate_scale": 1.0,
}
META: dict[str, Any] = {
    "cost_model": {"kind": "roofline", "text": "uncalibrated"},
    "settings": SETTINGS,
    "hardware": {"kind": "simulated", "model": "Qwen3-8B", "gpu": "H200", "num_gpus": 2},
    "trace": {"name": "busy.jsonl"},
}


def test_simulation_says_that_it_is_one() -> None:
    assert heading(META) == (
        "Qwen3-8B on 2 x H200 (roofline, uncalibrated), policy vllm 0.33, at most 256 sequences and 8192 tokens a "
        "step, trace busy.jsonl"
    )


def test_where_step_times_come_from_as_the_run_tells() -> None:
    fitted = heading(META | {"cost_model": {"kind": "fitted", "text": "h200"}})
    assert fitted.startswith("Qwen3-8B on 2 x H200 (fitted), policy")
    recorded = heading(META | {"cost_model": {"kind": "recorded", "text": "step times of the run real"}})
    assert recorded.startswith("Qwen3-8B (recorded step times), policy"), "not those of the sheet's GPU"


def test_run_on_a_gpu_names_it_and_no_cost_model() -> None:
    settings = SETTINGS | {"backend": "gpu", "model": "/models/Qwen3-0.6B"}
    hardware = {"kind": "cuda", "gpu": "NVIDIA H200", "num_gpus": 1}
    found = heading(META | {"settings": settings, "hardware": hardware, "cost_model": None})
    assert found.startswith("Qwen3-0.6B on 1 x NVIDIA H200, policy vllm 0.33, ")


def test_window_and_scale_of_the_trace() -> None:
    settings = SETTINGS | {"rate_scale": 2.0, "start_s": 60.0, "end_s": 3600.0, "limit": 100}
    assert heading(META | {"settings": settings}).endswith(
        "trace busy.jsonl from 60 s up to 3600 s, 100 requests at most x 2"
    )


def test_policy_of_a_file_is_named_by_its_class() -> None:
    settings = SETTINGS | {"policy": "policies/mine.py:Mine", "vllm_version": None}
    assert ", policy Mine, " in heading(META | {"settings": settings})


def test_what_another_engine_leaves_out_is_left_out() -> None:
    assert heading({"settings": {}, "trace": {}}) == ""
    assert heading({"settings": {"model": "m"}, "trace": {"name": "t"}}) == "m, trace t"
