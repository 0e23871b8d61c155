import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import RunError
from sim.errors import SimError
from sim.setting_sources import resolve, seconds
from tests.run_builder import RunBuilder


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def _run(path: Path, settings: dict[str, Any], **meta: Any) -> Path:
    run = RunBuilder(path, settings=settings, **meta)
    run.step(prefill=[4])
    run.build()
    return path


def test_nothing_given_is_the_defaults() -> None:
    settings = resolve({}, None, None)

    assert (settings.backend, settings.model, settings.policy) == ("sim", "Qwen3-8B", "vllm")
    assert (settings.max_num_seqs, settings.max_num_batched_tokens, settings.num_blocks) == (256, 8192, None)
    assert (settings.memory_utilization, settings.max_model_len, settings.oversize) == (0.9, None, "fail")
    assert settings.policy_settings == {}


def test_config_file_holds_settings_with_dashes_or_underscores(config: Path) -> None:
    config.write_text(
        'max-num-seqs = 7\nmax_model_len = 99\nchunked-prefill = false\ngraph_sizes = [1, 2]\nmodel="x"\nwatermark=0'
    )
    settings = resolve({}, config, None)

    assert (settings.max_num_seqs, settings.max_model_len, settings.model) == (7, 99, "x")
    assert settings.graph_sizes == (1, 2)
    assert settings.policy_settings == {"chunked_prefill": False, "watermark": 0.0}


def test_config_file_takes_durations_and_flag_names(config: Path) -> None:
    config.write_text('warmup = "2min"\nstart_s = 1.5\nend = "90s"\nformat = "native"\n')
    settings = resolve({}, config, None)

    assert (settings.warmup_s, settings.start_s, settings.end_s) == (120.0, 1.5, 90.0)
    assert settings.trace_format == "native"


def test_config_file_may_begin_with_a_byte_order_mark(config: Path) -> None:
    config.write_text("\ufeffseed = 3\r\n", encoding="utf-8")

    assert resolve({}, config, None).seed == 3


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "colour = 1",
            r"settings\.toml: unknown setting colour \(did you mean columns\?\); known: backend, cost",
        ),
        ("[engine]\ntp = 2", "unknown setting engine"),
        ('max_num_seqs = "7"', r"settings\.toml: max_num_seqs is '7'; it must be a whole number\."),
        ("max_num_seqs = 7.0", r"max_num_seqs is 7\.0; it must be a whole number\."),
        ("max_num_seqs = true", r"max_num_seqs is True; it must be a whole number\."),
        ("chunked_prefill = 1", r"chunked_prefill is 1; it must be true or false\."),
        ("model = 8", r"model is 8; it must be text\."),
        ('rate_scale = "fast"', r"rate_scale is 'fast'; it must be a number\."),
        ("rate_scale = nan", r"rate_scale is nan; it must be finite\."),
        ("graph_sizes = 4", r"graph_sizes is 4; it must be a list of whole numbers\."),
        ('graph_sizes = ["4"]', r"graph_sizes is \['4'\]; it must be a list of whole numbers\."),
        ('pace = "slow"', r"pace is 'slow'; it must be one of virtual, wall\."),
        ('oversize = "cut"', r"oversize is 'cut'; it must be one of error, fail, truncate\."),
        ("num_blocks = 3000000000", r"num_blocks is 3000000000; it must be at most 2147483647\."),
        ("warmup_s = -1.0", r"warmup_s is -1\.0; it must be at least 0\."),
        ("warmup_s = inf", r"warmup_s is inf; it must be finite\."),
        ("warmup = true", r"warmup is True; it must be a number with a unit"),
        ("warmup = [1]", r"warmup is \[1\]; it must be a number with a unit"),
        ("warmup = 2020-01-01", r"warmup is datetime.*; it must be a number with a unit"),
        ('start = "soon"', r"start is 'soon'; it must be a number with a unit"),
        ('warmup = "1s"\nwarmup_s = 2.0', "gives warmup_s twice, the second time as warmup_s"),
        ("max-num-seqs = 1\nmax_num_seqs = 2", "gives max_num_seqs twice"),
        ("= 3", r"settings\.toml is not TOML"),
        ("seed = 1\nseed = 2", r"settings\.toml is not TOML"),
        ("a = " + "[" * 5000, r"settings\.toml is not TOML"),
    ],
)
def test_config_file_that_cannot_be_is_refused_by_file_key_and_value(content: str, sentence: str, config: Path) -> None:
    config.write_text(content)

    with pytest.raises(SimError, match=sentence) as caught:
        resolve({}, config, None)
    assert "settings.toml" in str(caught.value)


def test_config_file_that_cannot_be_read_is_refused(config: Path) -> None:
    with pytest.raises(SimError, match=r"settings\.toml: No such file or directory"):
        resolve({}, config, None)
    config.mkdir()
    with pytest.raises(SimError, match=r"settings\.toml: Is a directory"):
        resolve({}, config, None)


def test_config_file_that_is_no_text_is_refused(config: Path) -> None:
    config.write_bytes(b"\xff\xfe\x00\x01")

    with pytest.raises(SimError, match=r"settings\.toml is not TOML"):
        resolve({}, config, None)


def test_flags_win_over_the_file(config: Path) -> None:
    config.write_text("seed = 3\ntp = 2")
    settings = resolve({"seed": 4}, config, None)

    assert (settings.seed, settings.tp) == (4, 2)


def test_wrong_value_in_a_flag_is_refused() -> None:
    with pytest.raises(SimError, match="backend is 'abacus'; it must be one of sim, gpu"):
        resolve({"backend": "abacus"}, None, None)


def test_like_takes_engine_settings_blocks_and_graphs_but_not_the_traces_part(tmp_path: Path) -> None:
    other = {"max_num_seqs": 4, "seed": 9, "limit": 5, "pace": "wall", "slo": "ttft=1s", "rate_scale": 3.0}
    other |= {"warmup_s": 1.0, "start_s": 2.0, "end_s": 3.0, "trace_format": "native", "trace_block_size": 16}
    sizes = {"graph_sizes": [1, 2, 4], "mixed_graph_sizes": [16]}
    settings = resolve({}, None, _run(tmp_path / "run", other, num_kv_blocks=77, **sizes))

    assert (settings.max_num_seqs, settings.seed, settings.num_blocks) == (4, 9, 77)
    assert (settings.graph_sizes, settings.mixed_graph_sizes) == ((1, 2, 4), (16,))
    assert (settings.limit, settings.slo, settings.rate_scale) == (None, None, 1.0)
    assert settings.pace != "wall"
    assert (settings.warmup_s, settings.start_s, settings.end_s) == (None, None, None)
    assert (settings.trace_format, settings.trace_block_size) == ("auto", None)


def test_like_an_eager_run_is_eager(tmp_path: Path) -> None:
    assert resolve({}, None, _run(tmp_path / "run", {}, graph_sizes=[])).graph_sizes == ()


def test_like_a_run_from_before_steps_with_prompts_were_captured_runs_them_eager(tmp_path: Path) -> None:
    assert resolve({}, None, _run(tmp_path / "run", {}, graph_sizes=[1])).mixed_graph_sizes == ()
    assert resolve({}, None, _run(tmp_path / "other", {})).mixed_graph_sizes is None


def test_like_with_another_policy_leaves_the_settings_of_the_first(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", {"policy": "vllm", "watermark": 0.1, "chunked_prefill": True, "max_num_seqs": 4})

    assert resolve({}, None, run).policy_settings == {"watermark": 0.1, "chunked_prefill": True}
    other = resolve({"policy": "nano-vllm"}, None, run)
    assert (other.policy, other.policy_settings, other.max_num_seqs) == ("nano-vllm", {}, 4)
    same = resolve({"policy": "vllm", "watermark": 0.2}, None, run)
    assert same.policy_settings == {"watermark": 0.2, "chunked_prefill": True}


def test_config_file_wins_over_the_other_run(config: Path, tmp_path: Path) -> None:
    config.write_text("num_blocks = 5")

    assert resolve({}, config, _run(tmp_path / "run", {}, num_kv_blocks=77)).num_blocks == 5


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ({"settings": {"colour": 1}}, r"meta\.json: unknown setting colour"),
        ({"settings": {"tp": "two"}}, r"meta\.json: tp is 'two'; it must be a whole number"),
        ({"graph_sizes": "all"}, r"meta\.json: graph_sizes is 'all'; it must be a list of whole numbers"),
    ],
)
def test_like_a_run_with_settings_that_cannot_be_names_its_file(
    meta: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    path = _run(tmp_path / "run", {})
    content = json.loads((path / "meta.json").read_text())
    (path / "meta.json").write_text(json.dumps(content | meta))

    with pytest.raises(SimError, match=sentence):
        resolve({}, None, path)


def test_like_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run directory"):
        resolve({}, None, tmp_path)
    with pytest.raises(RunError, match="does not exist"):
        resolve({}, None, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "expected_s"), [("60s", 60.0), ("500ms", 0.5), ("2min", 120.0), ("0s", 0.0), ("1.5 h", 5400.0)]
)
def test_seconds_takes_durations(text: str, expected_s: float) -> None:
    assert seconds(text, "warmup") == expected_s


@pytest.mark.parametrize("text", ["", "soon", "60", "nans", "1e999s", "-5s", "5 parsecs", None, True, [1], 60, 1.5])
def test_seconds_refuses_what_is_no_time(text: object) -> None:
    with pytest.raises(SimError, match=r"warmup is .*; it must be a number with a unit"):
        seconds(text, "warmup")
