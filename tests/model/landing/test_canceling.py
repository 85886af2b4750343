"""What waits for a signature, a hook or a filter is canceled by `cancel_git`; all is as before."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.changes import continue_operation
from model.commands.git import cancel_git, commit_changes, git_pull
from model.commands.history import amend_commit, fixup_commit
from model.commands.landing import (
    get_train,
    land_train,
    land_worktree,
    list_landings,
    preview_landing,
    start_train,
    undo_landing,
)
from model.domain.worktrees import Worktree
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing
from tests.patience import PATIENCE

Act = Callable[[Landing, Worktree], Awaitable[object]]


class SlowProgram:
    """A program of git's that waits for ever, once, when it is armed."""

    def __init__(self, folder: Path) -> None:
        self.started, self._armed = folder / "started", folder / "armed"
        self.path = folder / "slow"
        self.path.write_text(
            f"#!/bin/sh\nrm '{self._armed}' 2>/dev/null || exec cat\ntrap '' TERM\n"
            f"touch '{self.started}'\nwhile :; do sleep 300; done\n"
        )
        self.path.chmod(0o755)

    def arm(self) -> None:
        self._armed.touch()

    async def wait_until_started(self, act: "asyncio.Future[object] | None" = None) -> None:
        """Wait for the program, which sends no event, or for the end of what should start it."""
        async with asyncio.timeout(PATIENCE):
            while not self.started.exists() and not (act and act.done()):
                await asyncio.sleep(0.01)


@pytest.fixture
def slow(tmp_path: Path) -> SlowProgram:
    return SlowProgram(tmp_path)


def _read(landing: Landing, worktree: Worktree) -> list[str]:
    """Return all that must not change."""
    git, main = landing.git, landing.repository.git
    files = Path(worktree.path).iterdir()
    git_dir = Path(git(worktree, "rev-parse", "--absolute-git-dir"))
    return [
        main("for-each-ref", "refs/heads", "refs/spinney/trains"),
        main("status", "--porcelain", "--branch"),
        main("worktree", "list"),
        git(worktree, "status", "--porcelain", "--branch"),
        git(worktree, "diff", "--cached"),
        *sorted(path.read_text() for path in files if path.is_file() and path.name != ".git"),
        str(sorted(path.name for path in git_dir.glob("*.lock"))),
        str(sorted(path.name for path in git_dir.glob("*_HEAD") if path.name == "MERGE_HEAD")),
    ]


async def _cancel(landing: Landing, worktree: Worktree, slow: SlowProgram, act: Act) -> str:
    """Begin an act, cancel it once the program waits, and return what was said."""
    slow.arm()
    before = await asyncio.to_thread(_read, landing, worktree)
    acting = asyncio.ensure_future(act(landing, worktree))
    await slow.wait_until_started(acting)
    assert not acting.done(), acting.exception()
    await cancel_git(landing.workspace, worktree.id)
    with pytest.raises(SpinneyError) as refused:
        await acting
    assert await asyncio.to_thread(_read, landing, worktree) == before
    return refused.value.message


def _sign(repository: Repository, slow: SlowProgram) -> None:
    repository.git("config", "commit.gpgSign", "true")
    repository.git("config", "gpg.program", str(slow.path))


async def _land(landing: Landing, worktree: Worktree, method: str = "merge") -> object:
    preview = await preview_landing(landing.workspace, worktree.id, method)  # type: ignore[arg-type]
    return await land_worktree(
        landing.workspace, worktree.id, preview.base_commit, method, ignore_check=True  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_a_landing_that_waits_for_a_signature_is_canceled(
    landing: Landing, repository: Repository, slow: SlowProgram, method: str
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    repository.commit("other", "2\n")
    _sign(repository, slow)
    said = await _cancel(landing, one, slow, lambda *given: _land(*given, method))
    assert said == "The landing was canceled."
    assert await list_landings(landing.workspace, one.project_id) == []


@pytest.mark.parametrize("what", ["landing", "train", "undo"])
async def test_a_move_that_waits_for_a_filter_in_the_bases_checkout_is_canceled(
    landing: Landing, repository: Repository, slow: SlowProgram, what: str
) -> None:
    repository.commit(".gitattributes", "z.txt filter=slow\n")
    repository.commit("z.txt", "0\n")
    one = await landing.branch("one", a_txt="1\n", read_me="2\n", z_txt="3\n")
    act: Act = _land
    if what == "undo":
        landed = await _land(landing, one)
        act = lambda *_: undo_landing(landing.workspace, landed.id)  # type: ignore[attr-defined] # noqa: E731
    elif what == "train":
        train = await start_train(landing.workspace, one.project_id, [one.id], with_check=False)
        await landing.eventually(lambda: not landing.workspace.landing.trains._running)
        train = await get_train(landing.workspace, one.project_id) or train
        assert train.status == "ready"
        act = lambda *_: land_train(landing.workspace, train.id)  # noqa: E731
    repository.git("config", "filter.slow.smudge", str(slow.path))
    repository.git("config", "filter.slow.clean", "cat")
    said = await _cancel(landing, one, slow, act)
    assert said == f"The {'undo' if what == 'undo' else 'landing'} was canceled."


async def test_a_train_that_waits_for_a_signature_is_stopped(
    landing: Landing, repository: Repository, slow: SlowProgram
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    other = await landing.branch("other", b_txt="1\n")
    _sign(repository, slow)
    slow.arm()
    await start_train(landing.workspace, one.project_id, [one.id], with_check=False)
    await slow.wait_until_started()
    await cancel_git(landing.workspace, other.id)
    train = await get_train(landing.workspace, one.project_id)
    assert train is not None and train.status == "running"
    await cancel_git(landing.workspace, one.id)
    train = await get_train(landing.workspace, one.project_id)
    assert train is not None and train.status == "stopped"


def _commit(landing: Landing, worktree: Worktree) -> Awaitable[object]:
    return commit_changes(landing.workspace, worktree.id, "new", stage_all=True)


def _amend(landing: Landing, worktree: Worktree) -> Awaitable[object]:
    return amend_commit(landing.workspace, worktree.id, "new", stage_all=True)


def _fix_up(landing: Landing, worktree: Worktree) -> Awaitable[object]:
    sha = landing.git(worktree, "rev-parse", "HEAD^")
    return fixup_commit(landing.workspace, worktree.id, sha, stage_all=True)


@pytest.mark.parametrize("act", [_commit, _amend, _fix_up])
async def test_a_commit_that_waits_for_a_signature_is_canceled_with_what_it_staged(
    landing: Landing, repository: Repository, slow: SlowProgram, act: Act
) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    (Path(one.path) / "a.txt").write_text("2\n")
    (Path(one.path) / "c.txt").write_text("2\n")
    (Path(one.path) / "staged").write_text("2\n")
    landing.git(one, "add", "staged")
    _sign(repository, slow)
    assert await _cancel(landing, one, slow, act) == "The commit was canceled."


async def test_a_merge_that_waits_for_a_signature_stays_to_be_continued(
    landing: Landing, repository: Repository, slow: SlowProgram
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    repository.commit("other", "2\n")
    landing.git(one, "merge", "--no-commit", "--no-ff", "main")
    _sign(repository, slow)

    def proceed(landing: Landing, worktree: Worktree) -> Awaitable[object]:
        return continue_operation(landing.workspace, worktree.id)

    assert await _cancel(landing, one, slow, proceed) == "The commit was canceled."


async def test_a_pull_that_waits_for_a_signature_is_aborted(
    landing: Landing, repository: Repository, slow: SlowProgram
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    repository.commit("other", "2\n")
    _sign(repository, slow)

    def pull(landing: Landing, worktree: Worktree) -> Awaitable[object]:
        return git_pull(landing.workspace, worktree.path, "main", ".")

    assert await _cancel(landing, one, slow, pull) == "The pull was canceled."


async def test_a_commit_is_not_said_to_be_canceled_once_it_is_made(
    landing: Landing, repository: Repository, slow: SlowProgram
) -> None:
    one = await landing.branch("one")
    (Path(one.path) / "a.txt").write_text("1\n")
    hook = repository.root / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(slow.path)
    slow.arm()
    committing = asyncio.ensure_future(_commit(landing, one))
    await slow.wait_until_started()
    await cancel_git(landing.workspace, one.id)
    with pytest.raises(SpinneyError, match="It was committed before that was canceled"):
        await committing
    assert landing.git(one, "log", "--format=%s", "-1") == "new"
