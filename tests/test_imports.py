"""What an import costs: each room loads what it needs and nothing else. Each test asks a fresh interpreter."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _packages_loaded_by(program: str) -> set[str]:
    """Top-level packages outside the standard library that a program loads; private and compiler helpers left out."""
    report = "import json; print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; before = set(sys.modules)\n{program}\n{report}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    return {name for name in loaded - sys.stdlib_module_names if "cython" not in name and not name.startswith("_")}


def test_engine_loads_the_standard_library_and_xxhash() -> None:
    assert _packages_loaded_by("import engine") == {"engine", "xxhash"}


def test_traces_load_numpy_msgspec_and_zstandard_at_most() -> None:
    loaded = _packages_loaded_by("import traces")

    assert "traces" in loaded
    assert loaded <= {"traces", "numpy", "msgspec", "zstandard", "typing_extensions"}  # the last one by msgspec


def test_simulated_backend_loads_neither_torch_nor_what_stands_above_it() -> None:
    loaded = _packages_loaded_by("import backends.simulated")

    assert loaded == {"backends", "engine", "numpy", "xxhash"}


def test_analysis_knows_neither_the_engine_nor_pandas_until_asked() -> None:
    loaded = _packages_loaded_by("import analysis")

    assert not loaded & {"engine", "backends", "sim", "torch", "pandas", "matplotlib"}


def test_replay_on_the_simulated_backend_loads_neither_torch_nor_pandas() -> None:
    program = (
        "from sim.__main__ import app\n"
        "app(['replay', 'examples/shared_prefixes.jsonl', '--limit', '3', '--json'], standalone_mode=False)"
    )

    loaded = _packages_loaded_by(program)

    assert {"sim", "engine", "backends", "traces", "analysis", "simpy"} <= loaded
    assert not loaded & {"torch", "triton", "transformers", "pandas", "matplotlib", "scipy"}


def test_verify_loads_neither_torch_nor_pandas(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    program = (
        "from sim.__main__ import app\n"
        f"app(['replay', 'examples/shared_prefixes.jsonl', '--limit', '3', '-o', {run!r}], standalone_mode=False)\n"
        f"app(['verify', {run!r}], standalone_mode=False)"
    )

    loaded = _packages_loaded_by(program)

    assert {"sim", "engine", "backends", "traces", "analysis", "simpy"} <= loaded
    assert not loaded & {"torch", "triton", "transformers", "pandas", "matplotlib", "scipy"}


def test_sweep_loads_no_more_than_a_replay(tmp_path: Path) -> None:
    program = (
        "from sim.__main__ import app\n"
        f"options = ['--rates', '1', '--limit', '3', '--output', {str(tmp_path / 'sweep')!r}, '--json']\n"
        "if __name__ == '__main__':\n"
        "    app(['sweep', 'examples/shared_prefixes.jsonl', *options], standalone_mode=False)"
    )

    loaded = _packages_loaded_by(program)

    assert {"sim", "analysis", "pyarrow"} <= loaded
    assert not loaded & {"torch", "triton", "transformers", "pandas", "matplotlib", "scipy"}


def test_looking_at_a_trace_loads_neither_what_runs_nor_what_draws() -> None:
    program = (
        "from sim.__main__ import app\n"
        "app(['trace', 'info', 'examples/shared_prefixes.jsonl', '--json'], standalone_mode=False)"
    )

    loaded = _packages_loaded_by(program)

    assert {"sim", "traces", "numpy"} <= loaded
    assert not loaded & {"torch", "triton", "transformers", "pandas", "matplotlib", "scipy", "simpy"}
