import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import PolicyError, SettingError
from sim.errors import SimError
from sim.policy_fault import policy_faults


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text("def helper(value):\n    return 1 / value\n\n\ndef select(view):\n    helper(view)\n")
    return path


def _select(path: Path, view: object) -> None:
    runpy.run_path(str(path))["select"](view)


def test_error_in_the_policys_file_names_line_and_function(policy: Path) -> None:
    with (
        pytest.raises(SimError, match=r"mine\.py line 2, in helper: ZeroDivisionError: division by zero\."),
        policy_faults(f"{policy}:Mine"),
    ):
        _select(policy, 0)


def test_error_that_the_policys_file_brings_about_elsewhere_names_the_line_that_did(policy: Path) -> None:
    policy.write_text("import json\n\n\ndef select(view):\n    json.loads(view)\n")

    with pytest.raises(SimError, match=r"mine\.py line 5, in select: JSONDecodeError"), policy_faults(f"{policy}:Mine"):
        _select(policy, "{")


def test_file_may_be_named_relative_to_the_working_directory(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(policy.parent)

    with pytest.raises(SimError, match=r"^mine\.py line 2"), policy_faults("mine.py:Mine"):
        _select(policy, 0)


def test_error_that_did_not_come_by_way_of_the_file_is_passed_on(policy: Path) -> None:
    with pytest.raises(ZeroDivisionError), policy_faults(f"{policy}:Mine"):
        raise ZeroDivisionError


def test_fault_of_ours_under_a_known_policy_is_passed_on() -> None:
    with pytest.raises(AssertionError), policy_faults("vllm"):
        raise AssertionError


def test_engines_own_errors_stay_what_they_are(policy: Path) -> None:
    policy.write_text("def select(view):\n    raise view\n")

    with pytest.raises(SettingError), policy_faults(f"{policy}:Mine"):
        _select(policy, SettingError("no"))


def test_stop_iteration_that_a_generator_has_turned_into_another_error_is_the_policys(policy: Path) -> None:
    policy.write_text("def select(view):\n    next(iter(()))\n")

    def serve() -> Iterator[None]:
        _select(policy, None)
        yield

    with pytest.raises(SimError, match=r"mine\.py line 2, in select: StopIteration\."), policy_faults(f"{policy}:Mine"):
        next(serve())


def test_error_that_is_no_exception_is_the_policys_too(policy: Path) -> None:
    policy.write_text("def select(view):\n    raise GeneratorExit\n")

    with pytest.raises(SimError, match=r"line 2, in select: GeneratorExit\."), policy_faults(f"{policy}:Mine"):
        _select(policy, None)


def test_interrupt_inside_the_policy_is_passed_on(policy: Path) -> None:
    policy.write_text("def select(view):\n    raise KeyboardInterrupt\n")

    with pytest.raises(KeyboardInterrupt), policy_faults(f"{policy}:Mine"):
        _select(policy, None)


def test_what_the_engine_refuses_a_policy_names_the_line_that_asked(policy: Path) -> None:
    policy.write_text("def select(view):\n    view()\n")

    def refuse() -> None:
        raise PolicyError("Too many tokens.")

    with (
        pytest.raises(SimError, match=r"mine\.py line 2, in select: Too many tokens\.$"),
        policy_faults(f"{policy}:Mine"),
    ):
        _select(policy, refuse)
    with pytest.raises(PolicyError, match="Too many"), policy_faults("vllm"):
        refuse()
