"""Files are replaced whole, and what a killed process left beside them is removed."""

import os
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.replacing import replacing
from model.git.snapshots import files

ORPHAN = ".0123456789abcdef0123456789abcdef.spinney"


def test_a_failed_write_leaves_the_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "file"
    target.parent.mkdir()
    target.write_text("before")
    with pytest.raises(OSError, match="full"), replacing(target) as temporary:
        temporary.write_text("half")
        raise OSError("full")
    assert list(target.parent.iterdir()) == [target]
    assert target.read_text() == "before"


async def test_orphans_of_a_killed_process_are_removed_from_folders_that_are_written(
    tmp_path: Path,
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    kept = [outside / ORPHAN, root / "other" / ORPHAN, root / "a" / ".mine.spinney"]
    for file in [*kept, root / "a" / ORPHAN]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half")
        os.utime(file, (1, 1))
    kept.append(root / "a" / ORPHAN.replace("0", "f"))
    kept[-1].write_text("being written")
    (root / "link").symlink_to(outside)
    (root / "a" / "gone").write_text("x")
    with pytest.raises(SpinneyError, match="'link' is not a folder"):
        await files.write_entries(root, {"a/gone": None, "link/x": None})
    assert not (root / "a" / ORPHAN).exists()
    assert all(file.exists() for file in kept)
