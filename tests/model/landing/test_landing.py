"""Landing brings a branch into its base beside all checkouts, and can be taken back."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.doctor import get_problems
from model.commands.landing import (
    get_landing_desk,
    land_worktree,
    list_landings,
    preview_landing,
    push_base,
    undo_landing,
)
from model.commands.preferences import update_preferences
from model.commands.projects import add_project, update_project_settings
from model.commands.recovery import delete_recovery_point, list_recovery_points
from model.commands.scripts import run_worktree_script
from model.commands.worktrees import archive_worktree
from model.domain.hosting import MergeMethod
from model.domain.landing import Landing as LandingResult
from model.domain.worktrees import Worktree
from model.git import base_branch, three_way
from model.git.base_branch import BaseBranch
from model.landing import base_moves
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing
from tests.model.secrets.fake_keys import FORMATS
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE


async def _land(landing: Landing, worktree: Worktree, **options: object) -> LandingResult:
    preview = await preview_landing(landing.workspace, worktree.id)
    return await land_worktree(
        landing.workspace,
        worktree.id,
        preview.base_commit,
        **{"ignore_check": True, **options},  # type: ignore[arg-type]
    )


def _log(repository: Repository, *options: str) -> list[str]:
    return repository.git("log", "--format=%s", *options, "main").splitlines()


@pytest.fixture(params=["merge-tree", "worktree"])
def any_git(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a git that merges without a worktree, and with an older one."""
    if request.param == "worktree":
        monkeypatch.setattr(three_way, "_OLDEST_MERGE_TREE", (99, 0))


async def test_the_preview_names_files_that_get_conflict_markers(landing: Landing) -> None:
    marked = "<<<<<<< HEAD\nmine\n=======\nother\n>>>>>>> other\n"
    one = await landing.branch("one", a_txt=marked, b_txt="Title\n=======\n")
    await landing.settle(one)
    preview = await preview_landing(landing.workspace, one.id, "merge")
    assert preview.marked_files == ["a.txt"]


async def test_a_message_with_a_secret_does_not_land(landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n")
    await landing.settle(one)
    base = landing.repository.git("rev-parse", "main")
    with pytest.raises(SpinneyError, match="GitHub token in message"):
        await _land(landing, one, method="squash", message=FORMATS["github-personal"]())
    assert landing.repository.git("rev-parse", "main") == base


@pytest.mark.usefixtures("any_git")
@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_a_branch_lands_as_git_itself_would_do_it(
    landing: Landing, repository: Repository, method: MergeMethod
) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    repository.commit("read.me", "zero\none\ntwo\nthree\n")
    repository.git("branch", "expected")
    await landing.settle(one)
    preview = await preview_landing(landing.workspace, one.id, method)
    assert (preview.problem, preview.commits, preview.files) == (
        "The check has not run here.", 2, 2
    )  # fmt: skip
    assert Path(preview.checked_out_in or "") == repository.root
    before = repository.git("rev-parse", "main")
    assert repository.git("count-objects") == repository.git("count-objects"), "nothing is written"
    landed = await _land(landing, one, method=method)
    assert (landed.before, landed.after) == (before, repository.git("rev-parse", "main"))
    assert landed.worktree_ids == [one.id]
    assert repository.git("status", "--porcelain") == ""
    assert (repository.root / "a.txt").read_text() == "1\n"
    _do_by_hand(repository, method)
    assert repository.git("rev-parse", "main^{tree}") == repository.git(
        "rev-parse", "expected^{tree}"
    )
    shape = "--format=%an %T" if method == "rebase" else "--format=%an"
    assert repository.git("log", shape, "main") == repository.git("log", shape, "expected")
    subjects = {
        "merge": ["Merge branch 'one'", "Change read.me"],
        "squash": ["Change a.txt", "Change read.me"],
        "rebase": ["Change b.txt", "Change a.txt"],
    }
    assert _log(repository, "--first-parent")[:2] == subjects[method]
    undone = await undo_landing(landing.workspace, landed.id)
    assert undone.undone_at is not None
    assert repository.git("rev-parse", "main") == before
    assert repository.git("status", "--porcelain") == ""
    assert not (repository.root / "a.txt").exists()


def _do_by_hand(repository: Repository, method: MergeMethod) -> None:
    repository.git("checkout", "--quiet", "expected")
    if method == "merge":
        repository.git("merge", "--quiet", "--no-ff", "--no-edit", "one")
    elif method == "squash":
        repository.git("merge", "--quiet", "--squash", "one")
        repository.git("commit", "--quiet", "--message", "Squashed")
    else:
        repository.git("rebase", "--quiet", "expected", "one~0")
        repository.git("checkout", "--quiet", "-B", "expected")
    repository.git("checkout", "--quiet", "main")


async def test_what_is_not_ready_is_refused_with_the_next_step(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", read_me="other\n")
    path = Path(one.path)

    async def refusal(**options: object) -> str:
        preview = await preview_landing(landing.workspace, one.id)
        before = repository.git("rev-parse", "main")
        with pytest.raises(SpinneyError) as refused:
            await land_worktree(
                landing.workspace,
                one.id,
                before,
                **options,  # type: ignore[arg-type]
            )
        assert refused.value.error_type in ("conflict", "not_found")
        assert repository.git("rev-parse", "main") == before
        assert preview.problem
        assert preview.problem in refused.value.message or preview.check.has_script
        return refused.value.message

    assert await refusal() == (
        "The check has not run here. Run it until it passes, or land without it."
    )
    (path / "loose").touch()
    assert "1 file in 'one' has uncommitted changes" in await refusal(ignore_check=True)
    (path / "loose").unlink()
    repository.commit("read.me", "theirs\n")
    message = await refusal(ignore_check=True)
    assert message.startswith("'one' is in conflict with 'main' in read.me. Merge 'main' into it")
    repository.git("revert", "--no-edit", "HEAD")
    repository.write("read.me", "dirty\n")
    message = await refusal(ignore_check=True)
    assert f"'main' is checked out in {repository.root}, with 1 uncommitted change" in message
    repository.git("checkout", "--quiet", "read.me")
    landing.git(one, "checkout", "--quiet", "--detach")
    assert "No branch is checked out in 'one'" in await refusal(ignore_check=True)
    landing.git(one, "checkout", "--quiet", "one")
    landing.git(one, "reset", "--quiet", "--hard", "main")
    assert await refusal(ignore_check=True) == "'one' has nothing that 'main' lacks."
    repository.git("branch", "--move", "main", "trunk")
    with pytest.raises(SpinneyError, match="no branch 'main' to land in: it was renamed"):
        await land_worktree(landing.workspace, one.id, "0" * 40)


async def test_files_come_back_if_the_checkout_cannot_be_written_to_the_end(
    landing: Landing, repository: Repository
) -> None:
    repository.commit(".gitattributes", "z.txt filter=broken\n")
    one = await landing.branch("one", a_txt="1\n", read_me="2\n", z_txt="3\n")
    repository.git("config", "filter.broken.clean", "cat")
    repository.git("config", "filter.broken.smudge", "false")
    repository.git("config", "filter.broken.required", "true")
    before = repository.git("rev-parse", "main")
    with pytest.raises(SpinneyError, match=r"(?s)so nothing has landed: .*z\.txt"):
        await _land(landing, one)
    assert repository.git("rev-parse", "main") == before
    assert repository.git("status", "--porcelain") == ""
    assert await list_landings(landing.workspace, one.project_id) == []
    repository.git("config", "--unset", "filter.broken.required")
    await _land(landing, one)
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("what", ["landing", "undo"])
async def test_what_a_power_cut_leaves_is_completed_and_never_to_be_committed(
    landing: Landing, repository: Repository, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    two = await landing.branch("two", c_txt="1\n")
    landed = await _land(landing, one) if what == "undo" else None
    lock = repository.root / ".git" / "index.lock"

    async def be_cut_off(root: Path, base: BaseBranch, to: str, why: str) -> None:
        repository.git("update-ref", "refs/heads/main", to, base.commit)
        if what == "undo":
            (root / "a.txt").unlink()
        else:
            (root / "a.txt").write_text("1\n")
        lock.touch()
        raise asyncio.CancelledError

    with monkeypatch.context() as cut:
        cut.setattr(base_branch, "move_base", be_cut_off)
        with pytest.raises(asyncio.CancelledError):
            if landed is None:
                await _land(landing, one)
            else:
                await undo_landing(landing.workspace, landed.id)
    with monkeypatch.context() as hasty, lock.open():  # Another git may be at work.
        hasty.setattr(base_moves, "_PATIENCE", 0.0)
        hasty.setattr(base_moves, "_PATIENCE_AT_START", 0.0)
        await landing.workspace.landing.moves.recover()
        [problem] = await get_problems(landing.workspace)
        assert f"delete {lock}." in problem
        assert (await preview_landing(landing.workspace, two.id)).problem == problem
        with pytest.raises(SpinneyError, match="is between two commits"):
            await land_worktree(
                landing.workspace, two.id, repository.git("rev-parse", "main"), ignore_check=True
            )
    # What the refused landing has started may still end.
    monkeypatch.setattr(base_moves, "_PATIENCE", PATIENCE)
    preview = await preview_landing(landing.workspace, two.id)
    assert preview.problem == "The check has not run here."
    assert repository.git("status", "--porcelain") == ""
    assert await get_problems(landing.workspace) == []
    [only] = await list_landings(landing.workspace, one.project_id)
    assert (only.undone_at is not None) == (what == "undo")
    assert (repository.root / "b.txt").exists() == (what == "landing")


async def test_files_that_would_be_overwritten_in_the_checkout_are_kept(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", new_txt="theirs\n")
    repository.write("new.txt", "mine\n")
    repository.write("unrelated.txt", "mine\n")
    problem = (await preview_landing(landing.workspace, one.id)).problem
    assert problem is not None and "cannot follow: " in problem and "new.txt" in problem
    with pytest.raises(SpinneyError, match=r"which cannot follow: .*new\.txt"):
        await _land(landing, one)
    assert _log(repository)[0] == "Change spinney.json"
    repository.git("checkout", "--quiet", "-b", "elsewhere")
    await _land(landing, one)
    assert _log(repository)[0] == "Merge branch 'one'"
    assert (repository.root / "new.txt").read_text() == "mine\n"


async def test_a_shallow_clone_says_what_fetches_the_common_commit(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", new_txt="theirs\n")
    heads = repository.git("rev-parse", "main", "one")
    (repository.root / ".git" / "shallow").write_text(f"{heads}\n")
    preview = await preview_landing(landing.workspace, one.id)
    assert "Run 'git fetch --unshallow' there in a terminal" in (preview.problem or "")
    with pytest.raises(SpinneyError, match=r"Run 'git fetch --unshallow' there in a terminal"):
        await _land(landing, one)


@pytest.mark.parametrize(
    ("landed", "mine"),
    [
        ("build", "build"),
        ("build", "build/out"),
        ("build/out", "build"),
        ("build/out", "link"),
        ("folder", "folder/build/out"),
    ],
)
async def test_ignored_files_in_the_checkout_are_not_overwritten(
    landing: Landing, repository: Repository, landed: str, mine: str
) -> None:
    repository.commit(".gitignore", "build\n")
    repository.commit("folder/a.txt", "a\n")
    one = await landing.branch("one")
    landing.git(one, "rm", "-r", "--quiet", "folder")
    repository.write(landed, "theirs\n", Path(one.path))
    landing.git(one, "add", "--force", landed)
    landing.git(one, "commit", "--quiet", "--message", "Theirs")
    file = repository.root / mine
    if mine == "link":
        file = repository.root.parent / "elsewhere" / "out"
        file.parent.mkdir()
        (repository.root / "build").symlink_to(file.parent)
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text("mine\n")
    before = repository.git("rev-parse", "main")
    problem = (await preview_landing(landing.workspace, one.id)).problem
    named = "build" if mine == "link" else mine
    assert problem is not None and f"would be overwritten: {named}. Move" in problem
    with pytest.raises(SpinneyError, match="would be overwritten"):
        await _land(landing, one)
    assert (repository.git("rev-parse", "main"), file.read_text()) == (before, "mine\n")


async def test_an_undo_overwrites_no_file_that_was_ignored_since(
    landing: Landing, repository: Repository
) -> None:
    repository.commit(".gitignore", "build\n")
    repository.write("build/out", "tracked\n")
    repository.git("add", "--force", "build/out")
    repository.git("commit", "--quiet", "--message", "Build")
    one = await landing.branch("one")
    landing.git(one, "rm", "--quiet", "build/out")
    landing.git(one, "commit", "--quiet", "--message", "No build")
    landed = await _land(landing, one)
    repository.write("build/out", "mine\n")
    with pytest.raises(SpinneyError, match="would be overwritten: build/out"):
        await undo_landing(landing.workspace, landed.id)
    assert repository.git("rev-parse", "main") == landed.after
    assert (repository.root / "build/out").read_text() == "mine\n"


async def test_a_base_that_has_moved_is_not_overwritten(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    two = await landing.branch("two", b_txt="1\n")
    base = repository.git("rev-parse", "main")

    async def land(worktree: Worktree) -> LandingResult:
        return await land_worktree(landing.workspace, worktree.id, base, ignore_check=True)

    results = await asyncio.gather(land(one), land(two), return_exceptions=True)
    (refused,) = [one for one in results if isinstance(one, SpinneyError)]
    assert refused.message.startswith("'main' has moved since you looked at it.")
    assert len(_log(repository, "--first-parent", f"{base}..main")) == 1
    assert repository.git("status", "--porcelain") == ""


async def test_method_and_fate_of_the_worktree_are_preferences(
    landing: Landing, repository: Repository
) -> None:
    await update_preferences(
        landing.workspace, {"landing_method": "squash", "after_landing": "delete"}
    )
    one = await landing.branch("one", a_txt="1\n")
    preview = await preview_landing(landing.workspace, one.id)
    assert (preview.method, preview.after) == ("squash", "delete")
    landed = await _land(landing, one, message="All of it\x1b[31m\n\n# kept")
    assert landed.notes == []
    assert repository.git("log", "-1", "--format=%B%P", "main") == (
        f"All of it␛[31m\n\n# kept\n{landed.before}"
    )
    assert one.id not in landing.workspace.store.state.worktrees
    assert not Path(one.path).exists()
    assert repository.git("branch", "--list", "one") == ""
    await undo_landing(landing.workspace, landed.id)
    restored = landing.workspace.store.state.worktrees[one.id]
    assert (Path(restored.path) / "a.txt").read_text() == "1\n"
    assert landing.git(restored, "log", "-1", "--format=%s") == "Change a.txt"

    await update_project_settings(landing.workspace, one.project_id, landing_method="rebase")
    landed = await _land(landing, restored, after="archive")
    assert landed.method == "rebase"
    assert landing.workspace.store.state.worktrees[one.id].archived_at is not None
    await undo_landing(landing.workspace, landed.id)
    assert landing.workspace.store.state.worktrees[one.id].archived_at is None


async def test_taking_back_says_which_deleted_worktree_cannot_be_restored(landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n")
    landed = await _land(landing, one, after="delete")
    for point in await list_recovery_points(landing.workspace):
        await delete_recovery_point(landing.workspace, point.recovery_id)
    undone = await undo_landing(landing.workspace, landed.id)
    assert [note for note in undone.notes if note.startswith("A deleted worktree was not restored")]
    assert one.id not in landing.workspace.store.state.worktrees


async def test_a_landing_is_taken_back_only_while_nothing_came_after_it(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    desk = await get_landing_desk(landing.workspace, one.project_id)
    assert desk.rows[0].review.hunks == 1
    first = await _land(landing, one)
    desk = await get_landing_desk(landing.workspace, one.project_id)
    assert desk.can_undo == first.id
    assert [(row.worktree_id, row.next) for row in desk.rows] == [(one.id, "archive")]
    await landing.settle(one)
    desk = await get_landing_desk(landing.workspace, one.project_id)
    assert desk.rows[0].review.hunks == 0
    repository.commit("later.txt", "later\n")
    with pytest.raises(SpinneyError, match="Something came after this in 'main'"):
        await undo_landing(landing.workspace, first.id)
    assert (await get_landing_desk(landing.workspace, one.project_id)).can_undo is None
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.write("a.txt", "edited\n")
    with pytest.raises(SpinneyError, match="with 1 uncommitted change"):
        await undo_landing(landing.workspace, first.id)
    repository.git("checkout", "--quiet", "a.txt")
    await undo_landing(landing.workspace, first.id)
    assert [one.id for one in await list_landings(landing.workspace, one.project_id)] == [first.id]


async def test_a_checked_branch_lands_without_further_questions(
    landing: Landing, repository: Repository, event_log: EventLog
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    await run_worktree_script(landing.workspace, one.id, "check")
    await landing.eventually(lambda: event_log.last_task("check") is not None)
    preview = await preview_landing(landing.workspace, one.id)
    assert preview.problem == ""
    await land_worktree(landing.workspace, one.id, preview.base_commit)
    assert _log(repository)[0] == "Merge branch 'one'"
    await archive_worktree(landing.workspace, one.id)
    with pytest.raises(SpinneyError, match="is archived"):
        await land_worktree(landing.workspace, one.id, repository.git("rev-parse", "main"))
    with pytest.raises(SpinneyError, match="no remote"):
        await push_base(landing.workspace, one.project_id)


async def test_a_base_in_another_worktree_follows(landing: Landing) -> None:
    release = await landing.branch("release", a_txt="1\n")
    fix = await landing.make("fix", base_branch="release")
    landing.commit(fix, "a.txt", "2\n")
    landed = await _land(landing, fix)
    assert landed.base == "release"
    assert (Path(release.path) / "a.txt").read_text() == "2\n"
    assert landing.git(release, "status", "--porcelain") == ""
    (Path(release.path) / "a.txt").write_text("edited\n")
    with pytest.raises(SpinneyError, match="with 1 uncommitted change"):
        await undo_landing(landing.workspace, landed.id)


async def test_a_base_at_the_remote_alone_needs_a_pull_request(
    landing: Landing, repository: Repository
) -> None:
    repository.git("update-ref", "refs/remotes/origin/stable", "main")
    one = await landing.make("one", base_branch="origin/stable")
    landing.commit(one, "a.txt", "1\n")
    preview = await preview_landing(landing.workspace, one.id)
    assert preview.problem == (
        "There is no local branch 'origin/stable' to land in, only origin/stable. Push the branch "
        "and open a pull request instead."
    )


async def test_a_branch_lands_in_a_bare_repository(
    landing: Landing, repository: Repository
) -> None:
    bare = repository.root.parent / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(bare))
    project = await add_project(landing.workspace, str(bare))
    one = await Maker(landing.workspace, project, landing.eventually)("one")
    landing.commit(one, "a.txt", "1\n")
    landed = await _land(landing, one, method="squash")
    assert repository.git("rev-parse", "main", cwd=bare) == landed.after
    await undo_landing(landing.workspace, landed.id)
    assert repository.git("rev-parse", "main", cwd=bare) == landed.before


async def test_changes_in_the_checkout_of_the_base_are_stashed_for_the_landing(
    landing: Landing, repository: Repository
) -> None:
    repository.write("mine.txt", "1\n2\n3\n")
    repository.git("add", "mine.txt")
    repository.git("commit", "--quiet", "--message", "Mine")
    one = await landing.branch("one", a_txt="1\n", mine_txt="1\n2\n3\n4\n")
    repository.write("read.me", "edited\n")
    repository.git("add", "read.me")
    repository.write("mine.txt", "0\n1\n2\n3\n")
    repository.write("loose.txt", "never added\n")
    about = await preview_landing(landing.workspace, one.id)
    assert about.offers_stash
    assert "2 uncommitted changes" in about.problem
    landed = await _land(landing, one, stash_base=True)
    assert landed.notes == []
    assert repository.git("show", "main:a.txt") == "1"
    assert (repository.root / "mine.txt").read_text() == "0\n1\n2\n3\n4\n"
    assert (repository.root / "loose.txt").read_text() == "never added\n"
    assert repository.git("status", "--porcelain") == "M mine.txt\nM  read.me\n?? loose.txt"
    assert repository.git("stash", "list") == ""


async def test_changes_that_would_not_fit_what_lands_are_not_stashed(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", read_me="theirs\n")
    before = repository.git("rev-parse", "main")
    repository.write("read.me", "mine\n")
    with pytest.raises(SpinneyError, match=r"are in conflict with what lands, in read\.me\."):
        await _land(landing, one, stash_base=True)
    assert repository.git("rev-parse", "main") == before
    assert (repository.root / "read.me").read_text() == "mine\n"
    assert repository.git("stash", "list") == ""


@pytest.mark.parametrize("step", ["stash", "move_base"])
async def test_what_was_stashed_comes_back_when_the_landing_fails(
    landing: Landing, repository: Repository, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    repository.write("read.me", "mine\n")
    where = base_moves if step == "stash" else base_branch
    real = getattr(where, step)

    async def fail(*given: object, **more: object) -> None:
        if step == "stash":
            await real(*given, **more)
        raise SpinneyError("The disk is full.")

    monkeypatch.setattr(where, step, fail)
    before = repository.git("rev-parse", "main")
    with pytest.raises(SpinneyError, match="The disk is full"):
        await _land(landing, one, stash_base=True)
    assert repository.git("rev-parse", "main") == before
    assert (repository.root / "read.me").read_text() == "mine\n"
    assert repository.git("stash", "list") == ""


async def test_a_check_vouches_for_the_branch_not_for_what_the_base_became(
    landing: Landing, repository: Repository, event_log: EventLog
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    await run_worktree_script(landing.workspace, one.id, "check")
    await landing.eventually(lambda: event_log.last_task("check") is not None)
    about = await preview_landing(landing.workspace, one.id)
    assert (about.problem, about.warnings, about.offers_train) == ("", [], False)
    for name in ("b.txt", "c.txt"):
        repository.commit(name, "1\n")
    about = await preview_landing(landing.workspace, one.id)
    said = "The check passed on the branch, not on 2 new commits of 'main'."
    assert (about.problem, about.warnings, about.offers_train) == ("", [said], True)
    landed = await land_worktree(landing.workspace, one.id, about.base_commit)
    assert landed.notes == [said]


async def test_a_base_that_is_being_rebased_or_bisected_anywhere_is_not_moved(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    about = await preview_landing(landing.workspace, one.id)

    async def refusal() -> str:
        preview = await preview_landing(landing.workspace, one.id)
        before = repository.git("rev-parse", "main")
        with pytest.raises(SpinneyError) as refused:
            await land_worktree(
                landing.workspace, one.id, about.base_commit, ignore_check=True, stash_base=True
            )
        assert repository.git("rev-parse", "main") == before
        assert preview.problem == refused.value.message
        return preview.problem

    repository.git("checkout", "--quiet", "-b", "up", "HEAD~1")
    repository.commit("spinney.json", "theirs\n")
    repository.git("checkout", "--quiet", "main")
    with pytest.raises(AssertionError, match="could not apply"):
        repository.git("rebase", "up")
    assert await refusal() == (
        f"'main' is being rebased in {repository.root}. Finish or abort that, then try again."
    )
    repository.git("rebase", "--abort")
    repository.git("bisect", "start")
    repository.git("bisect", "bad", "main")
    repository.git("bisect", "good", "main~1")
    repository.git("checkout", "--quiet", "--detach", "main")
    assert "'main' is being bisected in " in await refusal()
    repository.git("bisect", "reset")
    second = repository.root.parent / "second"
    repository.git("worktree", "add", "--quiet", "--force", str(second), "main")
    message = await refusal()
    assert f"checked out in {repository.root} and in {second}, of which only one" in message
    repository.git("worktree", "remove", str(second))
    await land_worktree(landing.workspace, one.id, about.base_commit, ignore_check=True)


async def test_a_base_that_has_moved_has_landed_whatever_git_reports(
    landing: Landing, repository: Repository, fake_git: Callable[[str], None]
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    fake_git(
        'case " $* " in *" update-ref -m land"*) "$real_git" "$@"; echo "no space" >&2; exit 1;;'
        ' esac; exec "$real_git" "$@"'
    )
    landed = await _land(landing, one)
    assert repository.git("rev-parse", "main") == landed.after
    assert (repository.root / "a.txt").read_text() == "1\n"
    assert await list_landings(landing.workspace, one.project_id) == [landed]


async def test_a_preview_runs_nothing_that_only_the_repository_configures(
    landing: Landing, repository: Repository
) -> None:
    repository.commit(".gitattributes", "*.txt filter=mark\n")
    repository.commit("base.txt", "1\n")
    one = await landing.branch("one", base_txt="2\n")
    marker = repository.root.parent / "ran"
    for name in ("filter.mark.clean", "filter.mark.smudge"):
        repository.git("config", name, f"echo ran >> {marker}; cat")
    repository.git("config", "core.fsmonitor", f"sh -c 'echo ran >> {marker}'")
    os.utime(repository.root / "base.txt", (1.0, 1.0))
    assert (await preview_landing(landing.workspace, one.id)).held_by_check, "nothing else is wrong"
    assert not marker.exists()
    await _land(landing, one)
    assert marker.exists(), "the checkout follows with its filters"


async def test_what_is_untracked_in_the_place_of_a_tracked_file_is_not_lost_by_a_stash(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    (repository.root / "read.me").unlink()
    repository.write("read.me/x", "precious\n")
    with pytest.raises(SpinneyError, match=r"in the place of read\.me, which a stash would lose"):
        await _land(landing, one, stash_base=True)
    assert (repository.root / "read.me/x").read_text() == "precious\n"
