import shutil
from pathlib import Path

import pytest

from examples.make_trace import main, make_trace
from traces import read_trace

EXAMPLES = Path(__file__).parents[2] / "examples"
TRACE = EXAMPLES / "shared_prefixes.jsonl"
SIDE_FILE = EXAMPLES / "shared_prefixes.meta.json"


def test_the_example_is_what_its_command_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = Path(shutil.copy(SIDE_FILE, tmp_path))
    assert main([str(copy)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / TRACE.name}\n"
    assert (tmp_path / TRACE.name).read_bytes() == TRACE.read_bytes()
    assert copy.read_bytes() == SIDE_FILE.read_bytes()


def test_the_example_is_small_has_moderate_load_and_shares_prefixes() -> None:
    trace = read_trace(TRACE)
    assert TRACE.stat().st_size < 150_000
    assert trace.num_requests == 300
    assert 1.0 < trace.num_requests / trace.last_arrival_s < 1.5
    seen: set[int] = set()
    num_shared = num_ids = 0
    for request in trace.requests:
        hash_ids = request.hash_ids or ()
        num_shared += len(seen & set(hash_ids))
        num_ids += len(hash_ids)
        seen |= set(hash_ids)
    assert 0.15 < num_shared / num_ids < 0.5


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{}", "holds no generator settings ('generator')"),
        ("[", "holds no generator settings ("),
        ('{"generator": 3}', "holds no generator settings: generator is 3, but must be an object"),
        ('{"generator": {"speed": 3}}', "does not fit the generator: "),
        ('{"generator": {"rate": 0}}', "rate is 0, but it must be a number above 0"),
    ],
)
def test_wrong_settings_are_one_sentence_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, sentence: str
) -> None:
    side_path = tmp_path / "mine.meta.json"
    side_path.write_text(content)
    assert main([str(side_path)]) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [side_path]


def test_an_existing_trace_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = Path(shutil.copy(SIDE_FILE, tmp_path))
    make_trace(copy)
    assert main([str(copy)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_the_command_says_how_to_call_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "usage: python -m examples.make_trace NAME.meta.json\n"
