from pathlib import Path

import pytest

from engine import NanoVllmPolicy, SettingError, VllmPolicy
from sim.errors import SimError
from sim.policy_loader import load_policy

POLICIES = """
from __future__ import annotations

from dataclasses import dataclass

from engine import Rules, View


@dataclass
class Mine:
    limit: int = 3
    rules: Rules = Rules(prefix_caching=False)

    def select(self, view: View) -> None:
        pass


class NeedsArgument:
    def __init__(self, depth):
        pass

    def select(self, view):
        pass


class CannotBeMade:
    def __init__(self):
        raise ValueError("no such thing")

    def select(self, view):
        pass


class TakesNoView:
    def select(self):
        pass


class Generator:
    def select(self, view):
        yield


class Coroutine:
    async def select(self, view):
        pass


class Number(type):
    def __call__(cls):
        return 3


class MakesANumber(metaclass=Number):
    def select(self, view):
        pass


class WithoutSelect:
    pass


not_a_class = 3
"""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    path = tmp_path / "policies.py"
    path.write_text(POLICIES)
    return path


def test_known_names_make_the_policies_with_their_settings() -> None:
    assert load_policy("vllm", {}) == VllmPolicy()
    assert load_policy("vllm", {"watermark": 0.1, "vllm_version": "0.25"}) == VllmPolicy(
        watermark=0.1, vllm_version="0.25"
    )
    assert load_policy("nano-vllm", {}) == NanoVllmPolicy()


def test_class_in_a_file_is_made_with_its_settings(policies: Path) -> None:
    policy = load_policy(f"{policies}:Mine", {"limit": 5})

    assert (type(policy).__name__, vars(policy)["limit"]) == ("Mine", 5)


def test_two_files_of_one_name_are_two_policies(policies: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "policies.py"
    other.write_text(POLICIES.replace("limit: int = 3", "limit: int = 4"))

    first, second = (load_policy(f"{path}:Mine", {}) for path in (policies, other))

    assert (vars(first)["limit"], vars(second)["limit"]) == (3, 4)


def test_file_named_like_a_module_does_not_take_its_place(tmp_path: Path) -> None:
    import json

    path = tmp_path / "json.py"
    path.write_text(POLICIES)
    load_policy(f"{path}:Mine", {})
    import json as json_again

    assert json_again is json
    assert json_again.loads("[1]") == [1]


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(SimError, match=r"There is no policy 'fifo'; known: vllm, nano-vllm, or FILE\.py:Name"):
        load_policy("fifo", {})


def test_file_without_a_class_is_no_policy(policies: Path) -> None:
    with pytest.raises(SimError, match="There is no policy"):
        load_policy(str(policies), {})


def test_setting_that_the_policy_does_not_have_names_those_that_it_has(policies: Path) -> None:
    with pytest.raises(
        SimError, match="Policy nano-vllm has no setting chunked_prefill, watermark; it has no settings at all"
    ):
        load_policy("nano-vllm", {"watermark": 0.1, "chunked_prefill": True})
    with pytest.raises(SimError, match="has no setting watermark; it has limit, rules"):
        load_policy(f"{policies}:Mine", {"watermark": 0.1})


def test_value_out_of_range_is_the_policys_own_error() -> None:
    with pytest.raises(SettingError, match="watermark is 2"):
        load_policy("vllm", {"watermark": 2})


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("NeedsArgument", "cannot be made: TypeError: .*missing 1 required positional argument: 'depth'"),
        ("CannotBeMade", "cannot be made: ValueError: no such thing"),
        ("TakesNoView", "select must take one argument, the view"),
        ("WithoutSelect", "has no class 'WithoutSelect' with a method select"),
        ("not_a_class", "has no class 'not_a_class' with a method select"),
        ("Missing", "has no class 'Missing' with a method select"),
        ("", "has no class '' with a method select"),
    ],
)
def test_class_that_is_no_policy_is_refused(name: str, sentence: str, policies: Path) -> None:
    with pytest.raises(SimError, match=sentence):
        load_policy(f"{policies}:{name}", {})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"class Mine(\n", "cannot be loaded: SyntaxError"),
        (b"import a_module_that_nobody_has\n", "cannot be loaded: ModuleNotFoundError"),
        (b"1 / 0\n", "cannot be loaded: ZeroDivisionError"),
        (b"import sys\nsys.exit(0)\n", "cannot be loaded: SystemExit: 0"),
        (b"\xff\xfe\x00", "cannot be loaded: "),
    ],
)
def test_file_that_cannot_be_loaded_is_refused(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_bytes(content)

    with pytest.raises(SimError, match=sentence):
        load_policy(f"{path}:Mine", {})


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SimError, match=r"nowhere\.py does not exist"):
        load_policy(f"{tmp_path / 'nowhere.py'}:Mine", {})


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Generator", "select must be a plain function, not a generator and not async"),
        ("Coroutine", "select must be a plain function, not a generator and not async"),
        ("MakesANumber", "'int' object has no attribute 'select'"),
    ],
)
def test_select_that_could_not_decide_anything_is_refused(policies: Path, name: str, complaint: str) -> None:
    with pytest.raises(SimError, match=complaint):
        load_policy(f"{policies}:{name}", {})
