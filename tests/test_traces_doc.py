"""docs/traces.md prints what it shows, command by command."""

import re
from pathlib import Path

import pytest

from tests.doc_blocks import Shown, blocks_of, link_examples, run_blocks, without_wall_clock
from tests.sim.command import ROOT

TEXT = (ROOT / "docs" / "traces.md").read_text("utf-8")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """All outputs."""
    folder = tmp_path_factory.mktemp("clone")
    link_examples(folder)
    return list(run_blocks(TEXT, folder))


def test_outputs_are_those_that_are_shown(shown: list[Shown]) -> None:
    assert len(shown) == sum(block.language == "text" for block in blocks_of(TEXT)) == 5
    for block, printed in shown:
        assert without_wall_clock(block.text) == without_wall_clock(printed)


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / "docs" / link.partition("#")[0]).is_file(), link


def test_readme_leads_here() -> None:
    assert "(docs/traces.md)" in Path(ROOT / "README.md").read_text("utf-8")
