"""Creating worktrees from branches, issues and pull requests, and recovery from interruptions."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.projects import update_project_settings
from model.commands.worktrees import create_worktree, update_worktree_label
from model.domain.events.projects import ProjectRemoved, ProjectUpdated
from model.domain.events.worktrees import WorktreeCreating
from model.domain.projects import Project
from model.domain.worktrees import IssueContext, Label, PullRequestContext, Worktree
from model.git import fetching
from model.runtime.workspace import Workspace
from model.store.rows import Statement
from model.worktrees import creation
from model.worktrees.announcing import announce
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE


async def test_a_worktree_gets_a_two_word_name_below_the_default_directory(
    make: Maker, home_of_worktrees: Path
) -> None:
    made = await make()
    assert len(made.name.split("-")) == 2
    assert made.branch == made.name
    assert Path(made.path) == home_of_worktrees / made.name
    assert (home_of_worktrees / made.name / "read.me").exists()


async def test_worktrees_dir_sets_the_location(
    make: Maker, workspace: Workspace, tmp_path: Path
) -> None:
    await update_project_settings(
        workspace, make.project.id, worktrees_dir=str(tmp_path / "elsewhere")
    )
    made = await make("here")
    assert Path(made.path) == tmp_path / "elsewhere" / "here"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("{project}/.git/trees", "the git directory"),
        ("{project}/.git", "the git directory"),
        ("{worktree}/trees", "the worktree .*, and would be deleted with it"),
        ("{other}/trees", "the repository"),
        ("{link}/trees", "the repository"),
        ("{bare}/trees", "the git directory"),
        ("{data}", "the data directory of Spinney"),
        ("{data}/landing/trees", "the data directory of Spinney"),
    ],
)
async def test_worktrees_dir_is_in_nothing_that_goes_with_other_work(
    make: Maker, workspace: Workspace, tmp_path: Path, place: str, reason: str
) -> None:
    other, bare, link = tmp_path / "other", tmp_path / "bare.git", tmp_path / "link"
    Repository(tmp_path).git("init", "--quiet", str(other))
    Repository(tmp_path).git("init", "--quiet", "--bare", str(bare))
    link.symlink_to(other)
    project = make.project
    given = place.format(
        project=project.path, worktree=(await make("one")).path, other=other, bare=bare, link=link,
        data=workspace.directories.data,
    )  # fmt: skip
    with pytest.raises(SpinneyError, match=f"'worktreesDir'.* inside {reason}"):
        await update_project_settings(workspace, project.id, worktrees_dir=given)
    # As an earlier version may have stored it.
    stored = project.model_copy(update={"worktrees_dir": given})
    workspace.store.record(ProjectUpdated(project=stored))
    with pytest.raises(SpinneyError, match=f"inside {reason}"):
        await make("two")


async def test_worktrees_dir_may_be_in_the_projects_own_checkout(
    make: Maker, workspace: Workspace
) -> None:
    own = f"{make.project.path}/.trees"
    await update_project_settings(workspace, make.project.id, worktrees_dir=own)
    assert (await make("one")).path == f"{own}/one"


async def test_a_random_name_is_not_that_of_an_existing_folder(
    make: Maker, home_of_worktrees: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home_of_worktrees / "calm-otter").mkdir(parents=True)
    words = iter(["calm-otter", "wise-finch"])
    monkeypatch.setattr("model.worktrees.naming.random_name", lambda _: next(words))
    assert (await make()).name == "wise-finch"


@pytest.mark.parametrize(
    ("conflict", "message"),
    [
        ("name", "Worktree name already exists: one"),
        ("branch", "Branch already exists: one"),
        ("path", "Worktree path already exists: {path}"),
        ("link", "Worktree path already exists: {path}"),
    ],
)
async def test_a_conflict_is_refused_immediately_and_leaves_nothing(
    conflict: str,
    message: str,
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    home_of_worktrees: Path,
) -> None:
    path = home_of_worktrees / "one"
    match conflict:
        case "name":
            await make("one")
        case "branch":
            repository.git("branch", "one")
        case "path":
            path.mkdir(parents=True)
        case "link":
            home_of_worktrees.mkdir(parents=True)
            path.symlink_to("nowhere")
    before = set(workspace.store.state.worktrees)
    with pytest.raises(SpinneyError) as refused:
        await create_worktree(workspace, make.project.id, custom_name="one")
    assert refused.value.message == message.format(path=path)
    assert set(workspace.store.state.worktrees) == before


async def test_a_missing_base_fails_with_the_reason(
    make: Maker, workspace: Workspace, event_log: EventLog, with_remote: Repository
) -> None:
    with pytest.raises(SpinneyError, match="'baseBranch': there is no branch or commit 'nowhere'"):
        await create_worktree(workspace, make.project.id, base_branch="nowhere")
    # A branch of a remote may exist by now.
    announced = await create_worktree(
        workspace, make.project.id, base_branch="origin/nowhere", custom_name="one"
    )
    await make.wait_until_settled(announced.id)
    assert (await event_log.wait_for_failure()).startswith(
        "Failed to create worktree: There is no branch or commit 'origin/nowhere'"
    )
    assert announced.id not in workspace.store.state.worktrees
    assert with_remote.git("branch", "--list", "one") == ""


@pytest.mark.parametrize("base", ["side", "origin/side"])
async def test_a_base_may_be_a_local_or_a_remote_branch(
    base: str, make: Maker, with_remote: Repository
) -> None:
    with_remote.git("checkout", "--quiet", "-b", "side")
    with_remote.commit("side", "text\n")
    with_remote.git("push", "--quiet", "origin", "side")
    with_remote.git("checkout", "--quiet", "main")
    made = await make("one", base_branch=base)
    assert (Path(made.path) / "side").exists()
    assert made.base_branch == base


@pytest.mark.parametrize("wanted", [True, False])
async def test_the_base_is_fetched_first(
    make: Maker, with_remote: Repository, tmp_path: Path, workspace: Workspace, wanted: bool
) -> None:
    await update_preferences(workspace, {"auto_pull_base_branch": wanted})
    elsewhere = tmp_path / "elsewhere"
    with_remote.git("clone", "--quiet", str(tmp_path / "origin.git"), str(elsewhere))
    with_remote.commit("newer", "text\n", cwd=elsewhere)
    with_remote.git("push", "--quiet", "origin", "main", cwd=elsewhere)
    made = await make("one")
    assert (Path(made.path) / "newer").exists() is wanted


async def test_an_unreachable_remote_causes_a_note_and_no_failure(
    make: Maker, with_remote: Repository, event_log: EventLog, tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "origin.git").rename(tmp_path / "unplugged")
    made = await make("one")
    assert made.status == "ready"
    await make.eventually(lambda: event_log.last_task("pull_base") is not None)
    note = event_log.last_task("pull_base")
    assert note is not None
    assert "'one' starts from the local commits" in note.detail
    assert note.worktree_id == made.id


async def test_an_unresponsive_remote_costs_bounded_time(
    with_remote: Repository, fake_git: Callable[[str], None]
) -> None:
    fake_git('case "$*" in *fetch*) exec sleep 60;; esac\nexec "$real_git" "$@"')
    async with asyncio.timeout(PATIENCE):
        note = await fetching.fetch_base(with_remote.root, "main", timeout=0.3)
    assert note == "'origin' did not respond within 0.3 seconds"


async def test_a_repository_without_remotes_has_no_note(make: Maker, event_log: EventLog) -> None:
    await make("one")
    assert event_log.last_task("pull_base") is None


async def test_an_issue_names_the_branch(make: Maker) -> None:
    issue = IssueContext(number=12, title="Fix the café's door!", body="It squeaks.")
    made = await make(issue_context=issue)
    assert made.branch == made.name == "12-fix-the-café-s-door"
    assert made.issue_number == 12


@pytest.mark.parametrize("remote_has", ["pull ref", "merge request ref", "branch"])
async def test_a_pull_request_checks_out_its_head(
    remote_has: str, make: Maker, with_remote: Repository, tmp_path: Path
) -> None:
    head = _push_pull_request(with_remote, tmp_path, remote_has)
    made = await make(pr_context=_REQUEST)
    assert with_remote.git("rev-parse", "HEAD", cwd=Path(made.path)) == head
    assert (made.branch, made.pr_number, made.base_branch) == ("better", 7, "main")


async def test_a_pull_request_whose_branch_name_is_taken_gets_another_name(
    make: Maker, with_remote: Repository, tmp_path: Path
) -> None:
    _push_pull_request(with_remote, tmp_path, "pull ref")
    with_remote.git("branch", "better")
    assert (await make(pr_context=_REQUEST)).branch == "pr-7"


async def test_a_pull_request_is_fetched_although_its_ref_is_damaged(
    make: Maker, with_remote: Repository, tmp_path: Path
) -> None:
    head = _push_pull_request(with_remote, tmp_path, "pull ref")
    ref = with_remote.root / ".git/refs/spinney/pull/origin/7"
    ref.parent.mkdir(parents=True)
    ref.write_bytes(b"")
    made = await make(pr_context=_REQUEST)
    assert with_remote.git("rev-parse", "HEAD", cwd=Path(made.path)) == head


async def test_no_hook_of_a_pull_request_runs(
    make: Maker, with_remote: Repository, tmp_path: Path
) -> None:
    with_remote.git("config", "core.hooksPath", ".hooks")
    hook = f"#!/bin/sh\ntouch '{tmp_path}/ran'\n"
    _push_pull_request(with_remote, tmp_path, "pull ref", {".hooks/post-checkout": hook})
    made = await make(pr_context=_REQUEST)
    assert (Path(made.path) / ".hooks/post-checkout").exists()
    assert not (tmp_path / "ran").exists()


async def test_a_missing_pull_request_fails_with_gits_reason(
    make: Maker, with_remote: Repository, workspace: Workspace, event_log: EventLog
) -> None:
    announced = await create_worktree(workspace, make.project.id, pr_context=_REQUEST)
    await make.wait_until_settled(announced.id)
    assert (
        "Failed to create worktree: the head of pull request #7"
        in await event_log.wait_for_failure()
    )


async def test_an_interrupted_creation_is_rolled_back_at_the_next_start(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    event_log: EventLog,
    home_of_worktrees: Path,
) -> None:
    path = home_of_worktrees / "one"
    repository.git("branch", "one")
    path.parent.mkdir(parents=True)
    repository.git("worktree", "add", "--quiet", str(path), "one")
    (repository.root / ".git/worktrees/one/locked").write_text("initializing")
    await _record_interrupted_creation(workspace, make.project, path)
    assert await creation.recover(workspace.store) == []
    assert not path.exists()
    assert repository.git("branch", "--list", "one") == ""
    assert (
        await event_log.wait_for_failure()
        == "Failed to create worktree: Spinney was stopped during its creation"
    )


async def test_a_creation_that_git_completed_before_a_kill_is_kept(
    make: Maker, workspace: Workspace, repository: Repository, home_of_worktrees: Path
) -> None:
    path = home_of_worktrees / "one"
    path.parent.mkdir(parents=True)
    repository.git("worktree", "add", "--quiet", "-b", "one", str(path))
    await _record_interrupted_creation(workspace, make.project, path)
    finished = await creation.recover(workspace.store)
    assert [worktree.status for worktree in finished] == ["ready"]


async def test_removing_a_project_removes_a_worktree_that_is_being_created(
    workspace: Workspace,
    added: Project,
    repository: Repository,
    fake_git: Callable[[str], None],
    tmp_path: Path,
    home_of_worktrees: Path,
) -> None:
    worktree = await announce(workspace.store, workspace.directories, added.id, name="one")
    fake_git(
        f'case "$*" in *"worktree add"*) touch "{tmp_path}/at-it";'
        f" while [ -e '{tmp_path}/at-it' ]; do sleep 0.02; done;; esac\n"
        'exec "$real_git" "$@"'
    )
    creating = asyncio.create_task(
        creation.create(workspace.store, workspace.cancellable_tasks, worktree)
    )
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "at-it").exists():
            await asyncio.sleep(0.02)
        await workspace.store.accept(ProjectRemoved(project_id=added.id))
        (tmp_path / "at-it").unlink()
        assert await creating is False
    assert not workspace.store.state.worktrees
    assert not (home_of_worktrees / "one").exists()
    assert repository.git("branch", "--list", "one") == ""


_REQUEST = PullRequestContext(number=7, title="Better", headRefName="better", baseRefName="main")


def _push_pull_request(
    repository: Repository, tmp_path: Path, where: str, files: dict[str, str] | None = None
) -> str:
    """Push a pull request to `origin` as a hosting service stores it; return its head commit."""
    fork = tmp_path / "fork"
    repository.git("clone", "--quiet", str(tmp_path / "origin.git"), str(fork))
    for name, text in {"better": "text\n", **(files or {})}.items():
        path = fork / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    repository.git("add", ".", cwd=fork)
    repository.git("commit", "--quiet", "--no-verify", "--message", "better", cwd=fork)
    targets = {"pull ref": "refs/pull/7/head", "merge request ref": "refs/merge-requests/7/head"}
    target = targets.get(where, "refs/heads/better")
    repository.git("push", "--quiet", "origin", f"HEAD:{target}", cwd=fork)
    return repository.git("rev-parse", "HEAD", cwd=fork)


async def _record_interrupted_creation(workspace: Workspace, project: Project, path: Path) -> None:
    worktree = Worktree(
        id="killed",
        project_id=project.id,
        name="one",
        path=str(path),
        branch="one",
        created_at=1,
        status="creating",
    )
    await workspace.store.accept(WorktreeCreating(worktree=worktree))


@pytest.mark.parametrize("reason", [None, "no such branch"])
async def test_the_end_of_a_creation_is_not_lost_to_a_concurrent_change(
    workspace: Workspace, added: Project, monkeypatch: pytest.MonkeyPatch, reason: str | None
) -> None:
    worktree = await announce(workspace.store, workspace.directories, added.id)

    async def made(*_: object) -> None:
        if reason is not None:
            raise SpinneyError(reason)

    database = workspace.store._database
    write, writing, may_write = database.write, asyncio.Event(), asyncio.Event()

    async def slow_write(statements: list[Statement]) -> None:
        writing.set()
        await may_write.wait()
        await write(statements)

    monkeypatch.setattr(creation, "_create_in_git", made)
    monkeypatch.setattr(database, "write", slow_write)
    label = Label(name="urgent", color="#ff0000")
    labelling = asyncio.create_task(update_worktree_label(workspace, worktree.id, label=label))
    await writing.wait()
    creating = asyncio.create_task(
        creation.create(workspace.store, workspace.cancellable_tasks, worktree)
    )
    for _ in range(5):
        await asyncio.sleep(0)
    may_write.set()
    await asyncio.gather(labelling, creating)
    known = workspace.store.state.worktrees.get(worktree.id)
    shown = (known.status, known.label) if known else None
    assert shown == (("ready", label) if reason is None else None)
