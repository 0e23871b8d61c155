from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from backends.errors import SheetError
from backends.simulated.gpu_sheet import load_gpu_sheet
from backends.simulated.model_sheet import load_model_sheet

SHEETS = resources.files("backends.simulated") / "sheets"
MODEL = (SHEETS / "models" / "qwen3-8b.toml").read_text("utf-8")
GPU = (SHEETS / "gpus" / "h200.toml").read_text("utf-8")


def write(folder: Path, text: str) -> Path:
    path = folder / "My Sheet.TOML"
    path.write_text(text, "utf-8")
    return path


def test_a_sheet_file_is_read_by_path_as_text_or_object(tmp_path: Path) -> None:
    path = write(tmp_path, MODEL.replace('"Qwen3-8B"', '"Mine"'))
    assert load_model_sheet(path).name == load_model_sheet(str(path)).name == "Mine"


def test_whole_numbers_are_fine_where_numbers_are_wanted(tmp_path: Path) -> None:
    gpu = load_gpu_sheet(write(tmp_path, GPU.replace("4.8e12", "4_800_000_000_000")))
    assert gpu == load_gpu_sheet("h200")
    assert type(gpu.memory_bytes_per_s) is float


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_layers = 36", "num_layers = 0", "num_layers is 0; it must be above 0."),
        ("num_layers = 36", "num_layers = -1", "num_layers is -1; it must be above 0."),
        ("num_layers = 36", "num_layers = 36.0", "num_layers is 36.0; it must be a whole number."),
        ("num_layers = 36", "num_layers = true", "num_layers is True; it must be a whole number."),
        ("num_layers = 36", 'num_layers = "36"', "num_layers is '36'; it must be a whole number."),
        ("num_layers = 36", "", "the key 'num_layers' is missing."),
        ("num_layers = 36", "num_layers = 36\nlayers = 1", "unknown key 'layers'; the keys are name, num_layers, "),
        ('name = "Qwen3-8B"', "name = 8", "name is 8; it must be text."),
        ("has_qk_norm = true", "has_qk_norm = 1", "has_qk_norm is 1; it must be true or false."),
        ("num_kv_heads = 8", "num_kv_heads = 5", "num_heads is 32; it must be a multiple of num_kv_heads, 5."),
        ("num_layers = 36", "num_layers = ", "is not valid TOML"),
        ("num_layers = 36", "num_layers = " + "[" * 20_000, "is not valid TOML"),
        ("num_layers = 36", f"num_layers = {10**22}", "it must be from 1e-15 to 1e+21."),
    ],
)
def test_a_bad_model_sheet_names_file_key_and_value(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MODEL
    with pytest.raises(SheetError) as caught:
        load_model_sheet(write(tmp_path, MODEL.replace(old, new)))
    assert "My Sheet.TOML" in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("matmul = 0.798", "matmul = 1.01", "[achieved]: matmul is 1.01; a fraction is at most 1."),
        ("matmul = 0.798", "matmul = 0.0", "[achieved]: matmul is 0.0; it must be above 0."),
        ("matmul = 0.798", "matmul = 1e-300", "[achieved]: matmul is 1e-300; it must be from 1e-15 to 1e+21."),
        ("matmul = 0.798", "matmul = nan", "[achieved]: matmul is nan; it must be above 0."),
        ("matmul = 0.798", "", "[achieved]: the key 'matmul' is missing."),
        ("step_s = 4e-4", "step_s = inf", "[host]: step_s is inf; it must be above 0."),
        ("step_s = 4e-4", 'step_s = "fast"', "[host]: step_s is 'fast'; it must be a number."),
        (
            "memory_bytes = 150_100_000_000",
            "memory_bytes = 1.5e11",
            "memory_bytes is 150000000000.0; it must be a whole",
        ),
        ("[host]", "[hosts]", "unknown key 'hosts'; the keys are name, memory_bytes, "),
    ],
)
def test_a_bad_gpu_sheet_names_table_key_and_value(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GPU
    with pytest.raises(SheetError) as caught:
        load_gpu_sheet(write(tmp_path, GPU.replace(old, new)))
    assert message in str(caught.value)


def test_a_value_where_a_table_belongs(tmp_path: Path) -> None:
    text = GPU[: GPU.index("[host]")].replace('name = "H200"', 'name = "H200"\nhost = 1')
    with pytest.raises(SheetError, match="host is 1; it must be a table"):
        load_gpu_sheet(write(tmp_path, text))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SheetError, match=r"^Cannot read the sheet .*none\.toml: No such file or directory\.$"):
        load_gpu_sheet(tmp_path / "none.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(SheetError, match=r"^Cannot read the sheet .*folder\.toml: Is a directory\.$"):
        load_gpu_sheet(tmp_path / "folder.toml")
    (tmp_path / "binary.toml").write_bytes(b"name = \xff")
    with pytest.raises(SheetError, match=r"binary\.toml: it is not UTF-8 text\.$"):
        load_gpu_sheet(tmp_path / "binary.toml")


def has_source(line: str) -> bool:
    return "=" not in line or "#" in line or line.startswith("name")


@pytest.mark.parametrize("file", sorted((SHEETS / "gpus").iterdir(), key=str), ids=lambda file: file.name)
def test_every_value_of_a_gpu_sheet_says_where_it_comes_from(file: Traversable) -> None:
    device, host = file.read_text("utf-8").split("[host]\n")
    assert [line for line in device.splitlines() if not has_source(line)] == []
    assert host.startswith("# Measured")


@pytest.mark.parametrize("file", sorted((SHEETS / "models").iterdir(), key=str), ids=lambda file: file.name)
def test_every_model_sheet_says_where_it_comes_from(file: Traversable) -> None:
    assert file.read_text("utf-8").startswith("# Source: config.json of huggingface.co/")


@pytest.mark.parametrize(
    ("load", "name", "meant"),
    [
        (load_gpu_sheet, "A100", "A100-80"),
        (load_gpu_sheet, "RTX 4090 D", "RTX 4090"),
        (load_gpu_sheet, "h20", "H200"),
        (load_gpu_sheet, "L40", "L40S"),
        (load_model_sheet, "meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"),
        (load_model_sheet, "Qwen/Qwen3-8B-FP8", "Qwen3-8B"),
    ],
)
def test_unknown_name_near_a_known_one_is_hinted_at(load: Callable[[str], object], name: str, meant: str) -> None:
    with pytest.raises(SheetError) as caught:
        load(name)
    assert f"{name!r} (did you mean {meant}?); known are " in str(caught.value)


def test_another_gpu_with_a_like_name_is_not_hinted_at() -> None:
    with pytest.raises(SheetError, match=r"^Unknown GPU 'V100'; known are A100-80, "):
        load_gpu_sheet("V100")
