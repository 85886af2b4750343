"""A train of five branches beside bare git in the same run."""

import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from model.base.paths import Directories
from model.domain.landing import Train, TrainCar
from model.domain.projects import Project
from model.git.three_way import Place
from model.git.trains import forget_commit
from model.landing.train_checks import TrainChecks
from model.landing.train_run import TrainPlan, TrainRun
from model.scripts.config import hash_script
from tests.bench.snapshots import git, make_repository
from tests.bench.tables import Table

FOLDERS: Final = 50
"""With 100 files each."""
BRANCHES: Final = 5
_CHECK: Final = "test -f spinney.json"


def measure(runs: int) -> Table:
    """Measure each figure `runs` times and take the median."""
    table = Table("landing", f"a train of {BRANCHES} branches of 5,000 files, with a check")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(table, Path(folder), runs))
    return table


async def _measure(table: Table, folder: Path, runs: int) -> None:
    root = make_repository(folder / "project", FOLDERS)
    for name, value in (("user.name", "Bench"), ("user.email", "bench@localhost")):
        git(root, "config", name, value)
    heads = _make_branches(root)
    bare, own = [], []
    for run in range(runs):
        bare.append(_run_bare(root, folder / f"bare-{run}"))
        own.append(await _run_train(root, folder, heads, run))
    ratio = statistics.median(own) / statistics.median(bare)
    table.add(
        "five branches, each checked", seconds=statistics.median(own),
        bare=statistics.median(bare), ratio=ratio,
    )  # fmt: skip
    table.at_most("a train takes at most 1.5 times the bare git commands", ratio, 1.5)


def _make_branches(root: Path) -> list[str]:
    """Commit a config file with a check, and a branch of ten changed files for each car."""
    (root / "spinney.json").write_text(json.dumps({"scripts": {"check": _CHECK}}))
    git(root, "add", "spinney.json")
    git(root, "commit", "-qm", "check")
    git(root, "branch", "-M", "main")
    files = git(root, "ls-files").decode().split()
    heads = []
    for branch in range(BRANCHES):
        git(root, "checkout", "-qb", f"branch-{branch}", "main")
        for name in files[branch * 10 : branch * 10 + 10]:
            (root / name).write_text(f"changed by {branch}\n")
        git(root, "commit", "-qam", f"branch {branch}")
        heads.append(git(root, "rev-parse", "HEAD").decode().strip())
    git(root, "checkout", "-q", "main")
    return heads


def _run_bare(root: Path, path: Path) -> float:
    """Do with git and a shell what a train does."""
    start = time.perf_counter()
    git(root, "worktree", "add", "-q", "--detach", str(path), "main")
    for branch in range(BRANCHES):
        git(path, "merge", "-q", "--no-ff", "--no-edit", f"branch-{branch}")
        subprocess.run(["sh", "-c", _CHECK], cwd=path, check=True)
    git(root, "worktree", "remove", "--force", str(path))
    return time.perf_counter() - start


async def _run_train(root: Path, folder: Path, heads: list[str], run: int) -> float:
    project = Project(
        id="bench", name="bench", path=str(root), default_branch="main", added_at=0,
        trusted_scripts=[hash_script("check", _CHECK)],
    )  # fmt: skip
    cars = [
        TrainCar(worktree_id=f"{n}", branch=f"branch-{n}", head_commit=head, status="waiting")
        for n, head in enumerate(heads)
    ]
    base = git(root, "rev-parse", "main").decode().strip()
    train = Train(
        id=f"bench-{run}", project_id="bench", base="main", base_commit=base, method="merge",
        with_check=True, status="running", cars=cars, started_at=0,
    )  # fmt: skip
    directories = Directories(folder / "config", folder / "data", folder)
    plan = TrainPlan(
        project, Place(root, folder / "scratch"), {car.worktree_id: "Merge\n" for car in cars}, {},
        lambda worktree_id: folder / "output" / worktree_id,
    )  # fmt: skip
    checks = TrainChecks(directories, project, train, folder / f"train-{run}" / "worktree")

    async def save(_: Train) -> None:
        """Nothing is kept."""

    start = time.perf_counter()
    is_ready = await TrainRun(train, plan, checks, save).run()
    await checks.close()
    taken = time.perf_counter() - start
    assert is_ready
    await forget_commit(root, train.id)
    return taken
