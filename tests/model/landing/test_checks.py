"""The result of `check` belongs to the files that it ran on."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.landing import (
    get_check_result,
    land_worktree,
    preview_landing,
    write_landing_message,
)
from model.commands.scripts import run_worktree_script, trust_project_scripts
from model.domain.landing import CheckResult
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.snapshots.situations import add_submodule
from tests.model.landing.conftest import Landing
from tests.model.worktrees.conftest import EventLog


async def _check(landing: Landing, event_log: EventLog, worktree: Worktree) -> CheckResult:
    event_log.tasks.clear()
    await run_worktree_script(landing.workspace, worktree.id, "check")
    await landing.eventually(lambda: event_log.last_task("check") is not None)
    return await get_check_result(landing.workspace, worktree.id)


async def _read(landing: Landing, worktree: Worktree) -> tuple[str, bool]:
    await landing.settle(worktree)
    result = await get_check_result(landing.workspace, worktree.id)
    return result.status, result.is_stale


async def test_a_result_is_stale_after_a_change_and_holds_again_without_it(
    landing: Landing, event_log: EventLog
) -> None:
    made = await landing.branch("one")
    assert await _read(landing, made) == ("none", False)
    file = Path(made.path) / "new.txt"
    file.write_text("new\n")
    result = await _check(landing, event_log, made)
    assert (result.status, result.is_stale, result.exit_code) == ("passed", False, 0)
    landing.git(made, "add", "new.txt")
    assert await _read(landing, made) == ("passed", False)
    landing.git(made, "commit", "--quiet", "--message", "New")
    assert await _read(landing, made) == ("passed", False), "a commit changes no file"
    assert result.tree == landing.git(made, "rev-parse", "HEAD^{tree}")
    file.write_text("newer\n")
    assert await _read(landing, made) == ("passed", True)
    file.write_text("new\n")
    assert await _read(landing, made) == ("passed", False)


async def test_a_commit_that_was_not_polled_yet_does_not_land_by_an_older_check(
    landing: Landing, event_log: EventLog
) -> None:
    made = await landing.branch("one", a_txt="1\n")
    file = Path(made.path) / "a.txt"
    await landing.settle(made)
    result = await _check(landing, event_log, made)
    assert (result.status, result.is_stale) == ("passed", False)
    base = landing.repository.git("rev-parse", "main")
    # From here on nothing waits for the poller.
    landing.commit(made, "broken", "")
    with pytest.raises(SpinneyError, match="The check ran on other files"):
        await land_worktree(landing.workspace, made.id, base)
    assert (await preview_landing(landing.workspace, made.id)).check.is_stale
    assert landing.repository.git("rev-parse", "main") == base
    landing.git(made, "reset", "--quiet", "--hard", "HEAD^")
    assert not (await get_check_result(landing.workspace, made.id)).is_stale
    file.write_text("edited by hand\n")
    assert (await get_check_result(landing.workspace, made.id)).is_stale
    landing.git(made, "checkout", "--quiet", "a.txt")
    await land_worktree(landing.workspace, made.id, base)
    assert landing.repository.git("rev-parse", "main") != base


async def _refuse_hidden(landing: Landing, event_log: EventLog, worktree: Worktree) -> None:
    """Check a worktree whose files are not those of its commit, and try to land it."""
    assert landing.git(worktree, "status", "--porcelain") == ""
    result = await _check(landing, event_log, worktree)
    assert result.status == "passed"
    assert result.tree != landing.git(worktree, "rev-parse", "HEAD^{tree}")
    base = landing.repository.git("rev-parse", "main")
    preview = await preview_landing(landing.workspace, worktree.id)
    assert preview.check.is_stale and "marked assume-unchanged or skip-worktree" in preview.problem
    with pytest.raises(SpinneyError, match="other files than those of the commit"):
        await land_worktree(landing.workspace, worktree.id, base)
    assert landing.repository.git("rev-parse", "main") == base


@pytest.mark.parametrize(
    ("mark", "is_sparse"),
    [("--assume-unchanged", False), ("--skip-worktree", False), ("--assume-unchanged", True)],
)
async def test_a_check_of_files_that_git_has_to_overlook_is_not_one_of_the_commit(
    landing: Landing, event_log: EventLog, mark: str, is_sparse: bool
) -> None:
    made = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    if is_sparse:
        landing.git(made, "sparse-checkout", "set", "--no-cone", "/spinney.json", "/a.txt")
        result = await _check(landing, event_log, made)
        assert result.tree == landing.git(made, "rev-parse", "HEAD^{tree}"), "as it leaves b.txt"
    landing.git(made, "update-index", mark, "a.txt")
    (Path(made.path) / "a.txt").write_text("2\n")
    await _refuse_hidden(landing, event_log, made)


@pytest.mark.parametrize("where", ["changed", "untracked", "marked", "not checked out"])
async def test_a_check_of_files_inside_a_submodule_is_not_one_of_the_commit(
    landing: Landing, event_log: EventLog, where: str
) -> None:
    made = await landing.branch("one")
    add_submodule(landing.repository, Path(made.path))
    inside = Path(made.path) / "sub"
    landing.repository.git("add", "--all", cwd=inside)
    landing.repository.git("commit", "--quiet", "--message", "All", cwd=inside)
    landing.git(made, "commit", "--quiet", "--all", "--message", "Move the submodule")
    landing.git(made, "config", "diff.ignoreSubmodules", "all")
    result = await _check(landing, event_log, made)
    assert result.tree == landing.git(made, "rev-parse", "HEAD^{tree}")
    file = "in sub"
    if where == "not checked out":
        landing.git(made, "submodule", "--quiet", "deinit", "--all")
    if where == "marked":
        landing.repository.git("update-index", "--assume-unchanged", file, cwd=inside)
    (inside / ("new.txt" if where == "untracked" else file)).write_text("2\n")
    await _refuse_hidden(landing, event_log, made)


async def test_a_change_during_the_check_makes_its_result_stale(
    landing: Landing, event_log: EventLog, workspace: Workspace
) -> None:
    made = await landing.branch("one")
    assert (await _check(landing, event_log, made)).status == "passed"
    (Path(made.path) / "broken").touch()
    landing.git(made, "mv", "spinney.json", "jean.json")
    result = await _check(landing, event_log, made)
    assert (result.status, result.exit_code) == ("failed", 1)
    await landing.settle(made)
    written = await write_landing_message(landing.workspace, made.id)
    assert "The check is the script 'check' in jean.json." in written.message
    landing.repository.write(
        "spinney.json", '{"scripts": {"check": "touch made"}}', Path(made.path)
    )
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await run_worktree_script(workspace, made.id, "check")
    project = workspace.store.state.projects[made.project_id]
    await trust_project_scripts(workspace, project.id)
    result = await _check(landing, event_log, made)
    assert (result.status, result.is_stale) == ("passed", True)


async def test_without_the_script_there_is_no_result(landing: Landing, event_log: EventLog) -> None:
    made = await landing.branch("one")
    await _check(landing, event_log, made)
    (Path(made.path) / "spinney.json").unlink()
    result = await get_check_result(landing.workspace, made.id)
    assert (result.status, result.has_script) == ("none", True)
    assert "has no script 'check'" in result.error, "taking it out is no way around it"
    landing.repository.git("rm", "--quiet", "spinney.json")
    result = await get_check_result(landing.workspace, made.id)
    assert result.is_missing, "what is committed in the base counts"
    landing.repository.git("commit", "--quiet", "--message", "Check no more")
    await landing.settle(made)
    result = await get_check_result(landing.workspace, made.id)
    assert (result.status, result.has_script) == ("none", False)
    (Path(made.path) / "spinney.json").write_text("{")
    result = await get_check_result(landing.workspace, made.id)
    assert result.has_script
    assert "not valid JSON" in result.error
