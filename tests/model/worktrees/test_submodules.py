"""A new worktree has the files of its submodules, or says with which command to get them."""

import asyncio
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.commands.worktrees import (
    adopt_worktree,
    recreate_worktree,
    remove_worktree,
    rename_worktree,
)
from model.domain.projects import Project
from model.git import submodule_files
from model.git.losses import find_losses
from model.git.submodule_files import fill_submodules
from model.git.trains import TrainWorktree
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def library(repository: Repository, make_repository: Callable[[str], Repository]) -> Repository:
    """The repository `vendor/lib` in the main checkout, with one inside at `in/deep`."""
    deep, library = make_repository("deep"), make_repository("library")
    deep.commit("deep.txt", "deep\n")
    library.commit("lib.txt", "lib\n")
    library.git(*ALLOW, "submodule", "--quiet", "add", str(deep.root), "in/deep")
    library.git("commit", "--quiet", "--message", "Add deep")
    repository.git(*ALLOW, "submodule", "--quiet", "add", str(library.root), "vendor/lib")
    repository.git(*ALLOW, "submodule", "--quiet", "update", "--init", "--recursive")
    repository.git("commit", "--quiet", "--message", "Add lib")
    return library


@pytest.fixture
async def added(library: Repository, added: Project) -> Project:
    """The project, with the submodules."""
    return added


def _is_filled(path: Path) -> bool:
    files = ("vendor/lib/lib.txt", "vendor/lib/in/deep/deep.txt")
    return all((path / file).is_file() for file in files)


def _make_unavailable(repository: Repository) -> None:
    """Leave nothing of the submodules in the main checkout."""
    repository.git("submodule", "--quiet", "deinit", "--all", "--force")
    shutil.rmtree(repository.root / ".git/modules")


async def test_every_way_of_making_a_worktree_fills_its_submodules(
    repository: Repository, library: Repository, make: Maker, workspace: Workspace, tmp_path: Path
) -> None:
    shutil.move(library.root, tmp_path / "away")  # Nothing is fetched.
    made = await make("one")
    assert _is_filled(Path(made.path))
    assert made.copied_files is None
    assert repository.git("status", "--porcelain", cwd=Path(made.path)) == ""
    await remove_worktree(workspace, made.id, force=True, for_good=True)
    (found,) = await workspace.recovery_points.list(make.project.id)
    restored = await workspace.restoring.restore_worktree(found.point.id)
    assert _is_filled(Path(restored.path))
    shutil.rmtree(restored.path)
    workspace.poller.refresh(restored.id)
    await make.eventually(lambda: workspace.store.state.worktrees[restored.id].status == "missing")
    await recreate_worktree(workspace, restored.id)
    assert _is_filled(Path(restored.path))
    outside = tmp_path.resolve() / "outside"
    repository.git("worktree", "add", "--quiet", "-b", "outside", str(outside))
    await adopt_worktree(workspace, make.project.id, str(outside))
    assert not _is_filled(outside), "it is a person's, who may not want them"


async def test_where_they_cannot_be_filled_the_worktree_has_the_command_that_does_it(
    repository: Repository, library: Repository, make: Maker
) -> None:
    _make_unavailable(repository)
    made = await make("one")
    assert made.copied_files is not None
    (note,) = made.copied_files.problems
    assert note.startswith("The files of the submodule vendor/lib could not be taken from another")
    assert list(Path(made.path, "vendor/lib").iterdir()) == []
    repository.git(*ALLOW, *shlex.split(note.partition("Run: git ")[2]))
    assert _is_filled(Path(made.path))


async def test_a_submodule_has_its_real_remote_and_nothing_to_lose(
    repository: Repository, library: Repository, make: Maker
) -> None:
    inside = repository.root / "vendor/lib"
    repository.git("checkout", "--quiet", "-b", "topic", cwd=inside)
    repository.commit("own.txt", "own\n", cwd=inside)  # On no remote, but in the main checkout.
    repository.git("commit", "--quiet", "--all", "--message", "Pin")
    path = Path((await make("one")).path)
    lib = path / "vendor/lib"
    assert (lib / "own.txt").is_file()
    url = repository.git("config", "remote.origin.url", cwd=inside)
    assert repository.git("config", "remote.origin.url", cwd=lib) == url
    remote = ("for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes/origin/main")
    assert repository.git(*remote, cwd=lib) == repository.git(*remote, cwd=inside)
    assert not await find_losses(repository.root, path, None)
    repository.commit("mine.txt", "mine\n", cwd=lib)
    assert (
        "1 commit that is on no remote"
        in (await find_losses(repository.root, path, None)).describe()
    )
    # The objects are its own.
    shutil.rmtree(repository.root / ".git/modules")
    assert repository.git("fsck", "--connectivity-only", cwd=lib) == ""


async def test_nothing_of_a_repository_runs(
    repository: Repository, library: Repository, make: Maker, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    repository.git("config", "submodule.vendor/lib.update", f"!touch {ran}")
    for hooks in (".git/hooks", ".git/modules/vendor/lib/hooks"):
        hook = repository.write(f"{hooks}/post-checkout", f"#!/bin/sh\necho $PWD >> {ran}\n")
        hook.chmod(0o755)
    made = await make("one")
    assert _is_filled(Path(made.path))
    assert ran.read_text().splitlines() == [made.path]  # The worktree's own, as before.


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../../elsewhere", "sub"),
        ("x/../vendor/lib", "sub"),
        ("vendor/lib/hooks", "sub"),
        ("", "sub"),
    ],
)
async def test_a_name_that_leads_elsewhere_is_left_out(
    repository: Repository, library: Repository, tmp_path: Path, name: str, path: str
) -> None:
    pin = library.git("rev-parse", "HEAD")
    repository.write(".gitmodules", f'[submodule "{name}"]\n\tpath = {path}\n\turl = x\n')
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{pin},{path}")
    repository.git("add", ".gitmodules")
    repository.git("commit", "--quiet", "--message", "Hostile")
    worktree = tmp_path.resolve() / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "worktree", str(worktree))
    await fill_submodules(worktree)
    assert list((worktree / path).iterdir()) == []
    modules = repository.root / ".git/worktrees/worktree/modules"
    assert not modules.exists()


async def test_what_a_person_does_not_want_stays_empty_without_a_note(
    repository: Repository, library: Repository, make: Maker
) -> None:
    repository.git("config", "submodule.vendor/lib.update", "none")
    made = await make("one")
    assert list(Path(made.path, "vendor/lib").iterdir()) == []
    assert made.copied_files is None


async def test_one_that_is_checked_out_stays_as_it_is(
    repository: Repository, library: Repository, tmp_path: Path
) -> None:
    worktree = tmp_path.resolve() / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "worktree", str(worktree))
    assert await fill_submodules(worktree) == ""
    mine = repository.commit("mine.txt", "mine\n", cwd=worktree / "vendor/lib")
    assert await fill_submodules(worktree) == ""
    assert repository.git("rev-parse", "HEAD", cwd=worktree / "vendor/lib") == mine


async def test_what_a_kill_left_is_made_again(
    repository: Repository, library: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = tmp_path.resolve() / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "worktree", str(worktree))
    with monkeypatch.context() as killed:
        killed.setattr(submodule_files, "_remove", lambda *_: None)
        killed.setattr(submodule_files, "_FETCH", ("--no-such-option",))
        assert "vendor/lib" in await fill_submodules(worktree)
    assert (worktree / "vendor/lib/.git").is_file()
    assert await fill_submodules(worktree) == ""
    assert _is_filled(worktree)


async def test_canceling_leaves_nothing_half_made(
    repository: Repository, library: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = tmp_path.resolve() / "worktree"
    repository.git("worktree", "add", "--quiet", "-b", "worktree", str(worktree))
    begun, run = asyncio.Event(), submodule_files._run

    async def wait(cwd: Path, limits: object, *args: str) -> None:
        await run(cwd, limits, *args)  # type: ignore[arg-type]
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(submodule_files, "_run", wait)
    filling = asyncio.create_task(fill_submodules(worktree))
    await begun.wait()
    filling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await filling
    assert list((worktree / "vendor/lib").iterdir()) == []
    assert not (repository.root / ".git/worktrees/worktree/modules/vendor/lib").exists()


async def test_the_worktree_of_a_train_has_the_pins_of_each_commit(
    repository: Repository, library: Repository, make: Maker, tmp_path: Path
) -> None:
    first = repository.git("rev-parse", "HEAD")
    made = Path((await make("one")).path)
    own = repository.commit("own.txt", "own\n", cwd=made / "vendor/lib")  # Only there.
    repository.git("commit", "--quiet", "--all", "--message", "Pin", cwd=made)
    second = repository.git("rev-parse", "HEAD", cwd=made)
    train = TrainWorktree(repository.root, tmp_path.resolve() / "train")
    for commit, has_own in ((first, False), (second, True), (first, False)):
        assert await train.check_out(commit) == ""
        assert _is_filled(train.folder)
        assert (train.folder / "vendor/lib/own.txt").exists() == has_own
    assert own
    await train.remove()


async def test_a_renamed_worktree_keeps_its_folder(
    library: Repository, make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    renamed = await rename_worktree(workspace, made.id, "two")
    assert (renamed.name, renamed.branch, renamed.path) == ("two", "two", made.path)
    assert _is_filled(Path(renamed.path))
