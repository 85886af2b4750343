"""Snapshots, restore, conflicts and lines explained, beside bare git in the same run."""

import asyncio
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest.mock import AsyncMock

from model.background.conflict_radar import ConflictRadar
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.branch_tips import read_branch_tips
from model.git.snapshots import blame, chain, restore
from model.git.snapshots.chain import SnapshotNote
from model.git.status import read_worktree_status
from model.store.store import Store
from tests.bench.tables import Table

FOLDERS, FILES, WORKTREES, TURNS = 200, 100, 20, 200
"""20,000 files in each of the worktrees."""
_COMMITTED: Final = 20
"""Turns after which a person would have committed."""
_IDENTITY = {
    f"GIT_{role}_{name}": "bench@localhost"
    for role in ("AUTHOR", "COMMITTER")
    for name in ("NAME", "EMAIL")
}


def measure(runs: int) -> Table:
    """Measure each figure `runs` times and take the median."""
    table = Table("snapshots", "snapshots of worktrees with 20,000 files")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(table, Path(folder), runs))
    return table


async def _measure(table: Table, folder: Path, runs: int) -> None:
    large = make_repository(folder / "large", FOLDERS)
    await _measure_snapshot(table, large, runs)
    await _measure_restore(table, large, folder / "restored", runs)
    await _measure_turns(table, make_repository(folder / "small", FOLDERS // 10), runs)
    await _measure_radar(table, large)


def git(root: Path, *args: str, stdin: bytes = b"", **environment: str) -> bytes:
    """Run git itself, and return its output."""
    ran = subprocess.run(
        ["git", *args], cwd=root, input=stdin, capture_output=True, check=True,
        env={**os.environ, **_IDENTITY, **environment},
    )  # fmt: skip
    return ran.stdout


def make_repository(root: Path, folders: int) -> Path:
    """Create a repository with one commit of `folders` times `FILES` files."""
    for number in range(folders):
        (root / f"d{number}").mkdir(parents=True)
        for file in range(FILES):
            lines = (f"line {number} {file} {line}\n" for line in range(20))
            (root / f"d{number}" / f"f{file}").write_text("".join(lines))
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "All files")
    return root


def change_files(root: Path, count: int, text: str, first: int = 0) -> None:
    """Change and add so many files."""
    for number in range(first, first + count):
        folder = root / f"d{number % 20}"
        with (folder / f"f{number // 20}").open("a") as file:
            file.write(f"{text}\n")
        (folder / f"new{number // 20}").write_text(f"{text} {number}\n")


async def time_awaited(work: Callable[[], Awaitable[object]]) -> float:
    """Return the seconds that it takes."""
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def _find_longest_hold(work: Callable[[], Awaitable[object]]) -> float:
    """Return the longest time, in seconds, for which the loop did nothing else meanwhile."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - start - 0.001)

    watching = asyncio.create_task(watch())
    await work()
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    return longest


def run_bare_commands(root: Path) -> None:
    """What a snapshot needs of git, without anything else."""
    status = git(root, "status", "--porcelain=v2", "-z", "--untracked-files=all")
    paths = [
        record.split(b" ", 8)[8] if record[:1] == b"1" else record[2:]
        for record in status.split(b"\0")
        if record
    ]
    stdin = b"".join(path + b"\n" for path in paths)
    ids = git(root, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=stdin).split()
    with tempfile.TemporaryDirectory() as folder:
        index = str(shutil.copy2(root / ".git" / "index", folder))
        lines = zip(ids, paths, strict=True)
        info = b"".join(b"100644 " + each + b" 0\t" + path + b"\0" for each, path in lines)
        git(root, "update-index", "-z", "--index-info", stdin=info, GIT_INDEX_FILE=index)
        tree = git(root, "write-tree", GIT_INDEX_FILE=index).decode().strip()
    commit = git(root, "commit-tree", "-p", "HEAD", tree, stdin=b"bare").decode().strip()
    git(root, "update-ref", "refs/spinney/bare", commit)


async def take(root: Path, name: str = "bench", **note: Any) -> chain.Snapshot:
    """Take a snapshot of a worktree."""
    return await chain.take_snapshot(root, SnapshotNote("request", worktree_id=name, **note))


async def _measure_snapshot(table: Table, root: Path, runs: int) -> None:
    own, bare, holds = [], [], []
    await take(root)
    for number in range(max(3, runs)):
        change_files(root, 100, f"bare {number}")
        bare.append(await time_awaited(lambda: asyncio.to_thread(run_bare_commands, root)))
        change_files(root, 100, f"own {number}")
        own.append(await time_awaited(lambda: take(root)))
        change_files(root, 100, f"watched {number}")
        holds.append(await _find_longest_hold(lambda: take(root)))
    ratio = statistics.median(own) / statistics.median(bare)
    table.add(
        "snapshot, 100 changed and 100 new",
        seconds=statistics.median(own), bare_git=statistics.median(bare), ratio=ratio,
    )  # fmt: skip
    table.at_most("a snapshot takes at most 1.5 times the bare git commands", ratio, 1.5)
    table.at_most("a snapshot takes at most 0.3 s", statistics.median(own), 0.3)
    table.at_most("it never holds the loop for 10 ms", 1000 * min(holds), 10)


async def _measure_restore(table: Table, root: Path, path: Path, runs: int) -> None:
    own, bare = [], []
    snapshot = await chain.take_snapshot(
        root, SnapshotNote("delete", worktree_id="deleted"), complete=True
    )
    add = ("worktree", "add", "--quiet", "--detach", str(path), "HEAD")
    for _ in range(runs):
        bare.append(await time_awaited(lambda: asyncio.to_thread(git, root, *add)))
        git(root, "worktree", "remove", "--force", str(path))
        own.append(await time_awaited(lambda: restore.restore_worktree(root, path, snapshot)))
        git(root, "worktree", "remove", "--force", str(path))
    ratio = statistics.median(own) / statistics.median(bare)
    table.add(
        "restore of a deleted worktree",
        seconds=statistics.median(own), bare_git=statistics.median(bare), ratio=ratio,
    )  # fmt: skip
    table.at_most("a restore takes at most 1.5 times git worktree add", ratio, 1.5)


async def _measure_turns(table: Table, root: Path, runs: int) -> None:
    """200 turns of ten changed files in a repository of 2,000: time, size, and lines explained."""
    git(root, "gc", "--quiet")
    before = measure_objects(root)
    added = []
    for number in range(TURNS):
        start = time.perf_counter()
        await take(root, "turns", turn_id=f"{number} start")
        spent = time.perf_counter() - start
        for file in range(10):
            with (root / f"d{file}" / f"f{number % FILES}").open("a") as opened:
                opened.write(f"turn {number}\n")
        start = time.perf_counter()
        await take(root, "turns", turn_id=f"{number} end")
        added.append(spent + time.perf_counter() - start)
        await chain.pack_chain(root, "turns")
    size = (measure_objects(root) - before) / 1e6
    explained = [
        await time_awaited(lambda: blame.find_source(root, chain.chain_ref("turns"), "d0/f5", 21))
        for _ in range(max(3, runs))
    ]
    # The first ten turns create the folders of git's objects.
    early, late = statistics.median(added[10:_COMMITTED]), statistics.median(added[-_COMMITTED:])
    table.add("start and end of a turn, up to 200 files uncommitted", seconds=early)
    table.add("start and end of a turn, 1,000 files uncommitted", seconds=late)
    table.add("a line explained after 200 turns", seconds=statistics.median(explained))
    table.add("objects of 200 turns", megabytes=size)
    table.at_most("a turn is longer by at most 100 ms", 1000 * early, 100)
    table.at_most("a line is explained in 300 ms", 1000 * statistics.median(explained), 300)
    table.at_most("200 turns of ten files take at most 5 MB", size, 5)


def measure_objects(root: Path) -> int:
    """Return the bytes that all objects of a repository take on the disk."""
    files = (root / ".git" / "objects").rglob("*")
    return sum(512 * file.stat().st_blocks for file in files if file.is_file())


async def _measure_radar(table: Table, root: Path) -> None:
    worktrees = {}
    for number in range(WORKTREES):
        path = root.with_name(f"tree{number}")
        add = ("worktree", "add", "--quiet", "-b", f"tree{number}", str(path))
        git(root, "-c", "checkout.workers=0", *add)
        change_files(path, 10, f"tree {number}", first=10 * number)
        with (path / "d199" / "f0").open("a") as file:
            file.write(f"tree {number}\n")
        worktrees[f"w{number}"] = Worktree(
            id=f"w{number}", project_id="p", name=f"tree{number}", path=str(path),
            branch=f"tree{number}", created_at=number,
        )  # fmt: skip
    project = Project(id="p", name="p", path=str(root), default_branch="main", added_at=1)
    state = SimpleNamespace(
        worktrees=worktrees, projects={"p": project}, worktrees_of=lambda _: [*worktrees.values()]
    )
    store = SimpleNamespace(state=state, record=lambda event: None)
    radar = ConflictRadar(
        cast(Store, store), root.with_name("radar"), AsyncMock(return_value=False)
    )
    tips = await read_branch_tips(root)
    statuses = {
        key: await read_worktree_status(Path(worktree.path), "main", tips)
        for key, worktree in worktrees.items()
    }
    running = asyncio.create_task(radar.run())

    async def poll() -> None:
        for key, status in statuses.items():
            radar.note_status(key, status)
        await radar.settle("p")

    first, unchanged = await time_awaited(poll), await time_awaited(poll)
    change_files(Path(worktrees["w3"].path), 1, "once more")
    statuses["w3"] = await read_worktree_status(Path(worktrees["w3"].path), "main", tips)
    changed = await time_awaited(poll)
    running.cancel()
    pairs = len(radar.list_conflicts("p"))
    table.add("radar, 20 worktrees: first", seconds=first, conflicts=pairs)
    table.add("radar: unchanged", seconds=unchanged)
    table.add("radar: one changed", seconds=changed)
    table.at_most("the first comparison takes at most 2 s", first, 2)
    table.at_most("an unchanged one takes at most 0.1 s", unchanged, 0.1)
    table.at_most("one with one changed worktree takes at most 0.3 s", changed, 0.3)
