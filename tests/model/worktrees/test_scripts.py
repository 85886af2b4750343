"""Scripts of repositories: only trusted ones run, output is kept, and processes are ended."""

import asyncio
import json
import threading
import tracemalloc
from pathlib import Path

import pytest

from model.api.scripts import ScriptTexts
from model.base.errors import SpinneyError
from model.commands.projects import add_project, remove_project
from model.commands.scripts import (
    get_project_scripts,
    get_script_output,
    run_worktree_script,
    save_project_scripts,
    stop_worktree_script,
    trust_project_scripts,
)
from model.commands.worktrees import remove_worktree
from model.domain.events.projects import ProjectUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.projects import Project
from model.domain.scripts import Script
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from model.scripts import process, runner
from tests.conftest import Eventually
from tests.model.backends.agents import is_running, wait_until
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:
    """A project whose repository already has scripts when it is added."""
    _commit(
        repository,
        setup='touch was-set-up; env | sort; echo "set up $SPINNEY_BRANCH"',
        run="echo running; exec sleep 600",
        teardown="touch ../torn-down",
    )
    return await add_project(workspace, str(repository.root))


async def test_the_setup_runs_in_a_new_worktree_with_its_environment(
    make: Maker, workspace: Workspace, repository: Repository, event_log: EventLog
) -> None:
    made = await _create_with_setup(make, event_log)
    ran = await get_script_output(workspace, made.id, "setup")
    assert (Path(made.path) / "was-set-up").exists()
    assert (ran.status, ran.exit_code) == ("completed", 0)
    for prefix in ("SPINNEY", "JEAN"):
        assert f"{prefix}_WORKSPACE_PATH={made.path}\n" in ran.output
        assert f"{prefix}_ROOT_PATH={repository.root}\n" in ran.output
        assert f"{prefix}_BRANCH=one\n" in ran.output
        assert f"{prefix}_PORT={made.port}\n" in ran.output
        assert f"{prefix}_PORT_COUNT=10\n" in ran.output
    task = event_log.last_task("setup")
    assert task is not None
    assert (task.ok, task.worktree_id) == (True, made.id)
    assert "set up one" in task.detail


async def test_a_failing_setup_keeps_the_worktree_and_shows_its_output(
    make: Maker, workspace: Workspace, event_log: EventLog
) -> None:
    await _save(workspace, make.project, setup="echo 'no network'; exit 3")
    await _commit_saved(make)
    made = await _create_with_setup(make, event_log)
    task = event_log.last_task("setup")
    assert task is not None
    assert not task.ok
    assert "exit code 3" in task.detail
    assert "no network" in task.detail
    assert workspace.store.state.worktrees[made.id].status == "ready"


async def test_a_changed_script_does_not_run_until_it_is_trusted(
    make: Maker, workspace: Workspace, repository: Repository, event_log: EventLog
) -> None:
    _commit(repository, setup="touch evil")
    made = await _create_with_setup(make, event_log)
    task = event_log.last_task("setup")
    assert task is not None
    assert not task.ok
    assert "is not the one that was trusted" in task.detail
    assert not (Path(made.path) / "evil").exists()
    with pytest.raises(SpinneyError, match="is not the one that was trusted") as refused:
        await run_worktree_script(workspace, made.id, "setup")
    assert refused.value.error_type == "forbidden"

    shown = await get_project_scripts(workspace, make.project.id, made.id)
    assert [(s.name, s.text, s.trusted) for s in shown] == [("setup", "touch evil", False)]
    await trust_project_scripts(workspace, make.project.id, [shown[0].hash])
    await run_worktree_script(workspace, made.id, "setup")
    await make.eventually(lambda: bool((task := event_log.last_task("setup")) and task.ok))
    assert (Path(made.path) / "evil").exists()


async def test_trust_applies_only_to_the_text_that_was_shown(
    make: Maker, workspace: Workspace, event_log: EventLog
) -> None:
    made = await _create_with_setup(make, event_log)
    config = Path(made.path) / "spinney.json"
    config.write_text(json.dumps({"scripts": {"run": "touch first"}}))
    seen = await get_project_scripts(workspace, make.project.id, made.id)
    config.write_text(json.dumps({"scripts": {"run": "touch second"}}))
    await trust_project_scripts(workspace, make.project.id, [s.hash for s in seen])
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await run_worktree_script(workspace, made.id, "run")


HIDDEN_TEXT = {
    "# \x1b]0;\ntouch made\n# \x07done": r"line 1 contains the character ␛ \(U\+001B\)",
    "touch made\r\n": r"line 1 contains the character ␍ \(U\+000D\)",
    "touch made\necho \u202e": r"line 2 contains the character U\+202E",
    "touch made \U000e0041": r"line 1 contains the character U\+E0041",
}
"""Scripts with characters that hide text, and the expected error."""


@pytest.mark.parametrize(("text", "words"), HIDDEN_TEXT.items())
async def test_a_script_with_hidden_text_is_never_run_or_trusted(
    make: Maker, workspace: Workspace, event_log: EventLog, text: str, words: str
) -> None:
    made = await _create_with_setup(make, event_log)
    config = Path(made.path) / "spinney.json"
    config.write_text(json.dumps({"scripts": {"run": text}}))
    (seen,) = await get_project_scripts(workspace, make.project.id, made.id)
    assert "touch made" in seen.shown
    assert seen.text == text
    assert seen.shown != text
    for hashes in ([seen.hash], None):
        with pytest.raises(SpinneyError, match=words) as refused:
            await trust_project_scripts(workspace, make.project.id, hashes)
        assert refused.value.error_type == "forbidden"
    project = workspace.store.state.projects[make.project.id]
    trusting = project.model_copy(update={"trusted_scripts": [seen.hash]})
    await workspace.store.accept(ProjectUpdated(project=trusting))  # possible in older versions
    with pytest.raises(SpinneyError, match=words):
        await run_worktree_script(workspace, made.id, "run")
    texts = ScriptTexts(run=text)
    with pytest.raises(SpinneyError, match=words):
        await save_project_scripts(workspace, make.project.id, texts)
    assert not (Path(made.path) / "made").exists()


async def test_the_same_text_under_another_name_is_another_script(
    make: Maker, workspace: Workspace, event_log: EventLog
) -> None:
    made = await _create_with_setup(make, event_log)
    teardown_as_run = json.dumps({"scripts": {"run": "touch ../torn-down"}})
    (Path(made.path) / "spinney.json").write_text(teardown_as_run)
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await run_worktree_script(workspace, made.id, "run")


async def test_saved_scripts_are_trusted_and_the_rest_of_the_file_is_kept(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    path = repository.root / "spinney.json"
    path.write_text(json.dumps({"other": 1, "scripts": {"setup": "old", "run": "kept"}}))
    saved = await _save(workspace, make.project, setup="new", teardown=None)
    assert json.loads(path.read_text()) == {"other": 1, "scripts": {"setup": "new", "run": "kept"}}
    assert [(script.name, script.trusted) for script in saved] == [("setup", True), ("run", False)]


async def test_jean_json_is_read_if_there_is_no_spinney_json(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    (repository.root / "spinney.json").rename(repository.root / "jean.json")
    found = await get_project_scripts(workspace, make.project.id)
    assert [script.file for script in found] == ["jean.json"] * 3
    assert all(script.trusted for script in found)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"scripts": []}', '{"scripts": {"run": 1}}', "[" * 100_000, "\0"]
)
async def test_the_error_for_an_invalid_config_file_names_it(
    text: str, make: Maker, workspace: Workspace, repository: Repository
) -> None:
    (repository.root / "spinney.json").write_text(text)
    with pytest.raises(SpinneyError, match=r"spinney\.json") as refused:
        await get_project_scripts(workspace, make.project.id)
    assert "recursion" not in refused.value.message


async def test_a_huge_config_file_is_refused_without_being_read_completely(
    workspace: Workspace, repository: Repository
) -> None:
    with (repository.root / "spinney.json").open("wb") as file:
        file.truncate(60_000_000)  # a few kilobytes in the repository
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Much of nothing")
    tracemalloc.start()
    try:
        project = await add_project(workspace, str(repository.root))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    with pytest.raises(SpinneyError, match="not larger than 256 KiB"):
        await get_project_scripts(workspace, project.id)


async def test_a_script_is_stopped_with_its_child_processes(
    make: Maker, workspace: Workspace, event_log: EventLog, tmp_path: Path
) -> None:
    made = await _create_with_setup(make, event_log)
    await _trust_run_script(
        workspace, make.project, made, f"sleep 600 & echo $! > '{tmp_path}/pid'; wait"
    )
    started = await run_worktree_script(workspace, made.id)
    assert started.status == "running"
    child = await _read_pid(tmp_path / "pid")
    with pytest.raises(SpinneyError, match="already running"):
        await run_worktree_script(workspace, made.id)
    await stop_worktree_script(workspace, made.id)
    await wait_until(lambda: not is_running(child))
    outcome = await get_script_output(workspace, made.id, "run")
    assert outcome.status == "stopped"


async def test_a_script_stopped_before_its_start_is_saved_ends_as_stopped(
    make: Maker, workspace: Workspace, event_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await _create_with_setup(make, event_log)
    keep, begun, may_write = runner.ScriptRunner._save, threading.Event(), threading.Event()

    def delay(self: runner.ScriptRunner, ran: runner.ScriptRun) -> None:
        if ran.status == "running":
            begun.set()
            assert may_write.wait(PATIENCE)
        keep(self, ran)

    monkeypatch.setattr(runner.ScriptRunner, "_save", delay)
    await run_worktree_script(workspace, made.id)
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    stopping = asyncio.create_task(stop_worktree_script(workspace, made.id))
    await asyncio.sleep(0)
    may_write.set()
    await stopping
    outcome = await get_script_output(workspace, made.id, "run")
    assert outcome.status == "stopped"


async def test_stopping_spinney_ends_its_scripts(
    make: Maker, workspace: Workspace, event_log: EventLog, tmp_path: Path
) -> None:
    made = await _create_with_setup(make, event_log)
    await _trust_run_script(
        workspace, make.project, made, f"echo $$ > '{tmp_path}/pid'; exec sleep 600"
    )
    await run_worktree_script(workspace, made.id)
    pid = await _read_pid(tmp_path / "pid")
    await workspace.stop()
    assert not is_running(pid)


async def test_removing_the_project_ends_its_scripts(
    make: Maker, workspace: Workspace, event_log: EventLog, tmp_path: Path
) -> None:
    made = await _create_with_setup(make, event_log)
    await _trust_run_script(
        workspace, make.project, made, f"echo $$ > '{tmp_path}/pid'; exec sleep 600"
    )
    await run_worktree_script(workspace, made.id)
    pid = await _read_pid(tmp_path / "pid")
    await remove_project(workspace, make.project.id)
    assert not is_running(pid)
    assert Path(made.path).exists()


async def test_a_script_that_exceeds_the_time_or_output_limit_is_ended(
    make: Maker,
    workspace: Workspace,
    event_log: EventLog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await _create_with_setup(make, event_log)
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    monkeypatch.setattr(process, "_CHECK_INTERVAL", 0.05)
    for text, limit, words in (
        ("sleep 600", 0.2, "after 0.2 seconds"),
        ("exec yes", PATIENCE, "of output"),
    ):
        monkeypatch.setitem(runner.TIME_LIMITS, "setup", limit)
        await _save(workspace, make.project, setup=text)
        (Path(made.path) / "spinney.json").write_text(json.dumps({"scripts": {"setup": text}}))
        ran = await workspace.scripts.run(made.id, "setup")
        assert ran is not None
        assert ran.status == "failed"
        assert words in (ran.error or "")


async def test_the_teardown_runs_before_a_worktree_is_deleted(
    make: Maker, workspace: Workspace, event_log: EventLog
) -> None:
    made = await _create_with_setup(make, event_log)
    await _remove_setup_file(made)
    await remove_worktree(workspace, made.id)
    assert (Path(made.path).parent / "torn-down").exists()
    assert not (workspace.directories.data / "scripts" / made.id).exists()


async def test_a_failing_teardown_stops_a_deletion_unless_forced(
    make: Maker, workspace: Workspace, repository: Repository, event_log: EventLog
) -> None:
    await _save(workspace, make.project, setup=None, teardown="echo busy; exit 1")
    await _commit_saved(make)
    made = await make("one")
    with pytest.raises(SpinneyError, match=r"The teardown script failed.*\nbusy"):
        await remove_worktree(workspace, made.id)
    assert workspace.store.state.worktrees[made.id].status == "ready"
    assert (Path(made.path) / "read.me").exists()
    await remove_worktree(workspace, made.id, force=True)
    assert not Path(made.path).exists()


async def test_an_untrusted_teardown_stops_a_deletion(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    _commit(repository, teardown="touch ../evil")
    made = await make("one")
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await remove_worktree(workspace, made.id)
    assert not (Path(made.path).parent / "evil").exists()
    assert Path(made.path).exists()


@pytest.mark.parametrize("damage", ["", "[7]", "{}", '{"status": "tired"}'])
async def test_a_damaged_outcome_is_ignored(workspace: Workspace, make: Maker, damage: str) -> None:
    made = await make("one")
    place = workspace.directories.scripts / made.id
    place.mkdir(parents=True, exist_ok=True)
    (place / "run.json").write_text(damage)
    with pytest.raises(SpinneyError, match="has not run here"):
        await get_script_output(workspace, made.id, "run")


async def test_a_repository_may_have_no_scripts(
    workspace: Workspace,
    make: Maker,
    repository: Repository,
    event_log: EventLog,
    eventually: Eventually,
) -> None:
    repository.git("rm", "--quiet", "spinney.json")
    repository.git("commit", "--quiet", "--message", "none")
    made = await make("one")
    with pytest.raises(SpinneyError, match="There is no script 'run'"):
        await run_worktree_script(workspace, made.id)
    with pytest.raises(SpinneyError, match="has not run here"):
        await get_script_output(workspace, made.id, "run")
    assert event_log.last_task("setup") is None


def _commit(repository: Repository, **scripts: str) -> None:
    repository.commit("spinney.json", json.dumps({"scripts": scripts}))


async def _create_with_setup(make: Maker, event_log: EventLog) -> Worktree:
    """Create a worktree and wait for the end of its setup, successful or not."""
    made = await make("one")
    await make.eventually(lambda: event_log.last_task("setup") is not None)
    return made


async def _save(workspace: Workspace, project: Project, **texts: str | None) -> list[Script]:
    scripts = ScriptTexts.model_validate(texts)
    return await save_project_scripts(workspace, project.id, scripts)


async def _commit_saved(make: Maker) -> None:
    root = Repository(Path(make.project.path))
    root.git("commit", "--quiet", "--all", "--message", "scripts")


async def _trust_run_script(
    workspace: Workspace, project: Project, worktree: Worktree, text: str
) -> None:
    config = json.dumps({"scripts": {"run": text}})
    (Path(worktree.path) / "spinney.json").write_text(config)
    await trust_project_scripts(workspace, project.id)


async def _remove_setup_file(worktree: Worktree) -> None:
    (Path(worktree.path) / "was-set-up").unlink()


async def _read_pid(path: Path) -> int:
    async with asyncio.timeout(PATIENCE):
        while not (path.exists() and path.read_text().strip()):
            await asyncio.sleep(0.02)
    return int(path.read_text())


async def test_a_worktree_lists_its_running_scripts(
    make: Maker, workspace: Workspace, event_log: EventLog, eventually: Eventually
) -> None:
    made = await _create_with_setup(make, event_log)

    def running_now() -> list[str]:
        return list(workspace.store.state.worktrees[made.id].running_scripts)

    await eventually(lambda: running_now() == [])
    await run_worktree_script(workspace, made.id)
    assert running_now() == ["run"]
    await stop_worktree_script(workspace, made.id)
    await eventually(lambda: running_now() == [])
    # Scripts that were running at a kill are cleared at the next start.
    left = workspace.store.state.worktrees[made.id].model_copy(update={"running_scripts": ["run"]})
    workspace.store.record(WorktreeUpdated(worktree=left))
    workspace.scripts.recover()
    assert running_now() == []
