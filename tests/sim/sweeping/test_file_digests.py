from pathlib import Path

from sim.sweeping.file_digests import file_digests


def test_only_paths_that_exist_count(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("x")
    policy = f"{tmp_path}/p.py:Mine"

    assert set(file_digests(["vllm", 3, None, "", policy, policy])) == {f"{tmp_path}/p.py"}


def test_changes_with_content_and_not_with_place(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "sheet.toml", tmp_path / "b" / "sheet.toml"
    for path in (first, second):
        path.parent.mkdir()
        path.write_text("one")
    digests = file_digests([str(first), str(second)])
    first.write_text("two")

    assert digests[str(first)] == digests[str(second)]
    assert file_digests([str(first)])[str(first)] != digests[str(first)]


def test_folder_changes_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    before = file_digests([str(tmp_path)])
    (tmp_path / "weights").write_bytes(b"0" * (2**20 + 1))
    with_weights = file_digests([str(tmp_path)])
    (tmp_path / "weights").write_bytes(b"0" * (2**20 + 2))

    assert len({before[str(tmp_path)], with_weights[str(tmp_path)], file_digests([str(tmp_path)])[str(tmp_path)]}) == 3
