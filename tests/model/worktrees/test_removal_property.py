"""Whatever is in a worktree and however it is removed: nothing of it is gone without a word.

After each removal, each commit and each content that was there is in the repository (the base, in
another branch or in a recovery point), still in its place, or was named by what was agreed to.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.background.retention import SWEEP_INTERVAL, Retention
from model.base.errors import SpinneyError
from model.commands.landing import land_worktree, preview_landing, sweep_worktrees
from model.commands.preferences import update_preferences
from model.commands.recovery import list_recovery_points
from model.commands.worktrees import get_removal_losses, remove_worktree
from model.domain.events.worktrees import WorktreeArchived
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository
from tests.model.git.snapshots.random_files import examples
from tests.model.worktrees.conftest import Maker

ALLOW: Final = ("-c", "protocol.file.allow=always")
_numbers = count(1)


@dataclass(frozen=True)
class Fact:
    """Something that must not be lost: an object of git, in the repository where it was made."""

    object_id: str
    repository: Path
    file: Path | None = None
    """The file with this content, if it was in no object of a commit."""
    name: str | None = None
    """How it is named if it is in no recovery point; what is in the worktree itself always is."""


@dataclass
class Scene:
    """A worktree, and what was put into it."""

    repository: Repository
    path: Path
    facts: list[Fact] = field(default_factory=list)

    def git(self, *args: str, cwd: Path | None = None) -> str:
        return self.repository.git(*args, cwd=cwd or self.path)

    def write(self, name: str, cwd: Path | None = None, known_as: str | None = None) -> None:
        """Write a file that nothing else has."""
        file = self.repository.write(name, f"content {next(_numbers)}\n", cwd or self.path)
        object_id = self.git("hash-object", "--no-filters", str(file), cwd=cwd)
        self.facts.append(Fact(object_id, cwd or self.path, file, known_as))

    def commit(self, cwd: Path | None = None, known_as: str | None = None) -> str:
        """Make a commit that nothing else has."""
        name = f"file-{next(_numbers)}"
        self.repository.write(name, f"{name}\n", cwd or self.path)
        self.git("add", name, cwd=cwd)
        return self.commit_file(name, cwd, known_as)

    def commit_file(self, name: str, cwd: Path | None = None, known_as: str | None = None) -> str:
        """Commit what a file is, and nothing else."""
        self.git("commit", "--quiet", "--message", name, "--only", name, cwd=cwd)
        made = self.git("rev-parse", "HEAD", cwd=cwd)
        self.facts.append(Fact(made, cwd or self.path, name=known_as))
        return made


def put_commit(scene: Scene) -> None:
    scene.commit()


def put_merged(scene: Scene) -> None:
    scene.repository.git("merge", "--quiet", "-Xours", "--no-ff", "--no-edit", scene.commit())


def put_squashed(scene: Scene) -> None:
    scene.repository.git("cherry-pick", "--allow-empty", scene.commit())


def put_reverted(scene: Scene) -> None:
    put_squashed(scene)
    scene.repository.git("revert", "--no-edit", "HEAD")


def put_indented(scene: Scene) -> None:
    """The base has the same lines with other white space."""
    name = f"indented-{next(_numbers)}.py"
    scene.repository.write(name, "if a:\n  b\nc\n", scene.path)
    scene.git("add", name)
    scene.commit_file(name)
    scene.repository.commit(name, "if a:\n  b\n  c\n")


def put_file(scene: Scene) -> None:
    scene.write(f"new folder/{next(_numbers)}")


def put_change(scene: Scene) -> None:
    scene.write("read.me")


def put_hidden_change(scene: Scene) -> None:
    scene.git("update-index", "--assume-unchanged", "hidden.me")
    scene.write("hidden.me")


def put_staged(scene: Scene) -> None:
    scene.write("staged")
    scene.git("add", "staged")
    (scene.path / "staged").unlink()


def put_ignored(scene: Scene) -> None:
    scene.write(f"vendor/{next(_numbers)}")


def put_detached(scene: Scene) -> None:
    scene.git("checkout", "--quiet", "--detach")
    scene.commit()


def put_lock(scene: Scene) -> None:
    scene.git("worktree", "lock", str(scene.path))


def put_stacked(scene: Scene) -> None:
    scene.commit()
    scene.git("branch", f"stacked-{next(_numbers)}")


def put_inner_worktree(scene: Scene) -> None:
    inner = scene.path / ".claude/worktrees" / f"agent-{next(_numbers)}"
    scene.git("worktree", "add", "--quiet", "--detach", str(inner))
    name = str(inner.relative_to(scene.path))
    scene.commit(inner, name)
    scene.write("work", inner, name)


def put_clone(scene: Scene) -> None:
    _put_repository(scene, f"vendor/clone-{next(_numbers)}")


def put_visible_clone(scene: Scene) -> None:
    _put_repository(scene, f"clone-{next(_numbers)}")


def _put_repository(scene: Scene, name: str) -> None:
    inner = scene.path / name
    inner.mkdir(parents=True)
    scene.git("init", "--quiet", cwd=inner)
    scene.commit(inner, name)
    scene.write("work", inner, name)


def put_submodule_commit(scene: Scene) -> None:
    scene.commit(scene.path / "lib", "lib")


def put_submodule_file(scene: Scene) -> None:
    scene.write(f"work-{next(_numbers)}", scene.path / "lib", "lib")


def put_pin(scene: Scene) -> None:
    """A commit in the submodule that a commit of the worktree names."""
    scene.commit(scene.path / "lib", "lib")
    scene.git("add", "lib")
    scene.commit_file("lib")


Put = Callable[[Scene], None]
PUTS: Final[list[Put]] = [
    put_commit, put_merged, put_squashed, put_reverted, put_indented, put_file, put_change,
    put_hidden_change, put_staged, put_ignored, put_detached, put_lock, put_stacked,
    put_inner_worktree, put_clone, put_visible_clone, put_submodule_commit, put_submodule_file,
    put_pin,
]  # fmt: skip
WAYS: Final = ("remove", "force", "sweep", "sweep by force", "retention", "landing")


async def remove(workspace: Workspace, worktree: Worktree, way: str) -> None:
    """Try to remove a worktree; that it is refused is no error."""
    try:
        match way:
            case "remove" | "force":
                await remove_worktree(workspace, worktree.id, force=way == "force", for_good=True)
            case "sweep" | "sweep by force":
                await sweep_worktrees(workspace, [worktree.id], "delete", force=way != "sweep")
            case "retention":
                archived = worktree.model_copy(update={"archived_at": 0.0})
                await workspace.store.accept(WorktreeArchived(worktree=archived))
                retention = Retention(
                    workspace.store,
                    workspace.removals,
                    workspace.conversations.end_agent,
                    workspace.recovery_points.save_session,
                )
                for sweep in range(2):
                    await retention.sweep(9e9, sweep * SWEEP_INTERVAL)
            case _:
                preview = await preview_landing(workspace, worktree.id, "squash")
                await land_worktree(
                    workspace, worktree.id, preview.base_commit, "squash", after="delete",
                    ignore_check=True,
                )  # fmt: skip
    except SpinneyError:
        pass


@pytest.fixture
def outer(repository: Repository, make_repository: Callable[[str], Repository]) -> Repository:
    """A repository with a submodule and folders that are ignored."""
    library = make_repository("library")
    library.commit("lib.txt", "lib\n")
    repository.git(*ALLOW, "submodule", "--quiet", "add", str(library.root), "lib")
    repository.commit("hidden.me", "hidden\n")
    repository.commit(".gitignore", "vendor/\n.claude/worktrees/\n")
    return repository


@pytest.mark.longer
@given(st.lists(st.sampled_from(PUTS), max_size=5, unique=True), st.sampled_from(WAYS))
@examples(20)
async def test_nothing_is_gone_that_was_not_named(
    outer: Repository, make: Maker, workspace: Workspace, puts: list[Put], way: str
) -> None:
    await update_preferences(workspace, {"recovery_include_ignored": True})
    worktree = await make(f"tree-{next(_numbers)}")
    scene = Scene(outer, Path(worktree.path))
    for put in puts:
        put(scene)
    await workspace.poller.refresh_and_wait([worktree.id])
    losses = await get_removal_losses(workspace, worktree.id)
    known = {point.recovery_id for point in await list_recovery_points(workspace)}

    await remove(workspace, worktree, way)

    objects = set(outer.git("rev-list", "--objects", "--all", "--no-object-names").split())
    points = [one for one in await list_recovery_points(workspace) if one.recovery_id not in known]
    is_gone = not scene.path.exists()
    assert is_gone == (worktree.id not in workspace.store.state.worktrees)
    for fact in scene.facts:
        if fact.object_id in objects:
            continue
        if is_gone:
            assert "force" in way, fact
            assert fact.name is not None, fact
            assert any(fact.name in text for text in losses.besides), (fact, losses)
            assert any(fact.name in point.reason or point.left_out for point in points), fact
        elif fact.file is not None:
            assert fact.file.exists() or fact.file.name == "staged", fact
        else:
            outer.git("cat-file", "-e", fact.object_id, cwd=fact.repository)
