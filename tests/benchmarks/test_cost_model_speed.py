import pytest

from benchmarks.cost_model_speed import main


def test_both_models_are_timed_on_both_steps(capsys: pytest.CaptureFixture[str]) -> None:
    main(calibration=None, model="Qwen3-0.6B")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["fitted", "roofline"]
    assert all(line.count(" us") == 2 and "decode step" in line and "mixed step" in line for line in lines)
