"""docs/tutorial.md prints what it shows, command by command, but for lines about wall time."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.doc_blocks import Shown, blocks_of, link_examples, run_blocks, without_wall_clock
from tests.sim.command import ROOT

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text("utf-8")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """All outputs; without torch those of the section that needs it are left out."""
    folder = tmp_path_factory.mktemp("clone")
    link_examples(folder)
    needs_torch = re.compile(r"^## 5\. .*?(?=^## )", re.MULTILINE | re.DOTALL)
    assert needs_torch.search(TUTORIAL)
    return list(run_blocks(TUTORIAL if find_spec("torch") else needs_torch.sub("", TUTORIAL), folder))


def test_outputs_are_those_that_are_shown(shown: list[Shown]) -> None:
    for block, printed in shown:
        assert without_wall_clock(block.text) == without_wall_clock(printed)


def test_every_output_is_looked_at(shown: list[Shown]) -> None:
    blocks = blocks_of(TUTORIAL)
    assert len(shown) == sum(block.is_output for block in blocks) - (0 if find_spec("torch") else 2)
    assert all(block.is_output for block in blocks if block.language == "text")
    assert {block.language for block in blocks} == {"sh", "python", "text", "csv"}


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", TUTORIAL):
        path = link.partition("#")[0]
        assert link.startswith("https://") or (ROOT / "docs" / path).is_file(), link


def test_readme_leads_here() -> None:
    assert "(docs/tutorial.md)" in Path(ROOT / "README.md").read_text("utf-8")
