"""The conflicts that the radar finds are those that a real merge has."""

import random
import subprocess
from pathlib import Path

import pytest

from model.git.snapshots import radar
from model.git.snapshots.overlaps import OverlapFinder
from model.git.snapshots.scratch import ScratchObjects
from tests.model.git.repository import Repository
from tests.patience import PATIENCE

NAMES = ("one.py", "two.py", "folder/three.py", "folder/four ü.py")


def generate_edits(tree: Path, chance: random.Random) -> None:
    """Change, add, delete, move and rewrite files and blocks of lines."""
    for number in range(chance.randrange(1, 5)):
        file = tree / chance.choice(NAMES)
        if not file.exists():
            continue
        lines = file.read_text().split("\n")
        place = chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                file.unlink()
            case 1:
                file.rename(file.with_name(f"moved {file.name}"))
            case 2:
                lines[place:place] = [f"new {chance.randrange(3)}"] * chance.randrange(1, 4)
            case 3:
                del lines[place : place + chance.randrange(1, 5)]
            case 4:
                (tree / f"new {chance.randrange(2)}").write_text(f"{chance.randrange(2)}\n")
            case _:
                lines[place] = f"changed {number} {chance.randrange(3)}"
        if file.exists():
            file.write_text("\n".join(lines))


@pytest.fixture
def trees(repository: Repository) -> list[Path]:
    for name in NAMES:
        repository.write(name, "".join(f"{name} {number}\n" for number in range(12)))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Files")
    paths = [repository.root.parent / name for name in ("ours", "theirs", "merged")]
    for path in paths:
        repository.git("worktree", "add", "--quiet", "--detach", str(path))
    return paths


@pytest.mark.parametrize("seed", range(10))
async def test_conflicts_are_those_of_a_real_merge(
    repository: Repository, trees: list[Path], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    scratch = ScratchObjects(tmp_path / "scratch")
    await scratch.prepare(repository.root / ".git")
    pairs = []
    for _ in range(20):
        commits = []
        for tree in trees[:2]:
            repository.git("reset", "--quiet", "--hard", cwd=tree)
            repository.git("clean", "--quiet", "-fd", cwd=tree)
            generate_edits(tree, chance)
            files = await radar.read_files(tree, "", scratch)
            commits += await radar.make_commits(tree, [files], scratch)
        pairs.append((commits[0], commits[1]))
    found = await radar.merge_pairs(repository.root, pairs, scratch)
    with pytest.MonkeyPatch.context() as environ:
        for name, value in scratch.environment.items():
            environ.setenv(name, value)
        expected = [merge(repository, trees[2], *pair) for pair in pairs]
    assert [{file.path for file in files} for files in found] == expected
    assert 0 < sum(map(bool, expected)) < 20
    files = [file for merged in found for file in merged]
    for file in await OverlapFinder().describe(repository.root, files, scratch):
        assert file.hunks or file.kind == "moved"
        for hunk in file.hunks:
            assert hunk.ours.lines != hunk.theirs.lines


def merge(repository: Repository, tree: Path, ours: str, theirs: str) -> set[str]:
    """Return the files that a real merge leaves with a conflict."""
    repository.git("reset", "--quiet", "--hard", ours, cwd=tree)
    repository.git("clean", "--quiet", "-fd", cwd=tree)
    subprocess.run(
        ["git", "merge", "--no-commit", "--quiet", theirs],
        cwd=tree, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    listed = repository.git("ls-files", "--unmerged", "-z", cwd=tree)
    return {entry.partition("\t")[2] for entry in listed.split("\0") if entry}
