from pathlib import Path

import pytest

from tests.doc_blocks import blocks_of, lines_of, rewritten, run_blocks, without_wall_clock

DOC = """
Save as `greeting.txt`:

```csv
hello
```

```python
from pathlib import Path
print(Path("greeting.txt").read_text().strip(), end="  \\n")
```

```text
something else
```

Words between.

```text
no output
```
"""


def test_a_block_behind_code_is_its_output() -> None:
    blocks = blocks_of(DOC)
    assert [block.language for block in blocks] == ["csv", "python", "text", "text"]
    assert [block.file for block in blocks] == ["greeting.txt", None, None, None]
    assert [block.is_output for block in blocks] == [False, False, True, False]


def test_what_is_printed_is_put_beside_what_is_shown(tmp_path: Path) -> None:
    shown = list(run_blocks(DOC, tmp_path))
    assert [(block.text, printed) for block, printed in shown] == [("something else\n", "hello  \n")]
    mended = rewritten(DOC, shown)
    assert mended == DOC.replace("something else", "hello")
    assert rewritten(mended, list(run_blocks(mended, tmp_path))) == mended


def test_lines_end_where_no_backslash_is() -> None:
    assert lines_of("a \\\n  b\n\nc\n") == ["a    b", "c"]


def test_wall_clock_does_not_count() -> None:
    assert without_wall_clock("Wall time (s): 1\nSteps: 2  \nTimes faster: 3\n") == ["Steps: 2"]


def test_a_command_that_fails_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="does not exist"):
        list(run_blocks("```sh\npython -m analysis report nothing\n```\n", tmp_path))


def test_a_command_of_others_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        list(run_blocks("```sh\nrm -r nothing\n```\n", tmp_path))
