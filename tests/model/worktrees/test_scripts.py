"""A repository's scripts: only trusted text runs, its output is kept, nothing of it is left."""

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
from model.domain.events import ProjectUpdated, WorktreeUpdated
from model.domain.resources import Project, Worktree
from model.domain.scripts import Script
from model.runtime.workspace import Workspace
from model.scripts import process, runner
from tests.conftest import Eventually
from tests.model.backends.agents import becomes, lives
from tests.model.git.made_repository import Repository
from tests.model.worktrees.conftest import Maker, Told
from tests.patience import PATIENCE


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:
    """A project whose repository has scripts when it is added."""
    _commit(
        repository,
        setup='touch was-set-up; env | sort; echo "set up $SPINNEY_BRANCH"',
        run="echo running; exec sleep 600",
        teardown="touch ../torn-down",
    )
    return await add_project(workspace, str(repository.root))


async def test_the_setup_runs_in_a_new_worktree_with_its_facts(
    make: Maker, workspace: Workspace, repository: Repository, told: Told
) -> None:
    made = await _set_up(make, told)
    ran = await get_script_output(workspace, made.id, "setup")
    assert (Path(made.path) / "was-set-up").exists()
    assert (ran.status, ran.exit_code) == ("completed", 0)
    for prefix in ("SPINNEY", "JEAN"):
        assert f"{prefix}_WORKSPACE_PATH={made.path}\n" in ran.output
        assert f"{prefix}_ROOT_PATH={repository.root}\n" in ran.output
        assert f"{prefix}_BRANCH=one\n" in ran.output
    task = told.task("setup")
    assert task is not None
    assert (task.ok, task.worktree_id) == (True, made.id)
    assert "set up one" in task.detail


async def test_a_failing_setup_keeps_the_worktree_and_shows_its_output(
    make: Maker, workspace: Workspace, told: Told
) -> None:
    await _save(workspace, make.project, setup="echo 'no network'; exit 3")
    await _commit_saved(make)
    made = await _set_up(make, told)
    task = told.task("setup")
    assert task is not None
    assert not task.ok
    assert "exit code 3" in task.detail
    assert "no network" in task.detail
    assert workspace.store.state.worktrees[made.id].status == "ready"


async def test_a_changed_text_is_held_until_it_is_trusted(
    make: Maker, workspace: Workspace, repository: Repository, told: Told
) -> None:
    _commit(repository, setup="touch evil")
    made = await _set_up(make, told)
    task = told.task("setup")
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
    await make.eventually(lambda: bool((task := told.task("setup")) and task.ok))
    assert (Path(made.path) / "evil").exists()


async def test_trust_in_one_text_is_no_trust_in_the_next(
    make: Maker, workspace: Workspace, told: Told
) -> None:
    made = await _set_up(make, told)
    config = Path(made.path) / "spinney.json"
    config.write_text(json.dumps({"scripts": {"run": "touch first"}}))
    seen = await get_project_scripts(workspace, make.project.id, made.id)
    config.write_text(json.dumps({"scripts": {"run": "touch second"}}))
    await trust_project_scripts(workspace, make.project.id, [s.hash for s in seen])
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await run_worktree_script(workspace, made.id, "run")


HIDING = {
    "# \x1b]0;\ntouch made\n# \x07done": r"line 1 contains the character ␛ \(U\+001B\)",
    "touch made\r\n": r"line 1 contains the character ␍ \(U\+000D\)",
    "touch made\necho \u202e": r"line 2 contains the character U\+202E",
    "touch made \U000e0041": r"line 1 contains the character U\+E0041",
}
"""Scripts that are not what they look like, and what is said of them."""


@pytest.mark.parametrize(("text", "words"), HIDING.items())
async def test_a_script_that_hides_something_never_runs_and_is_never_trusted(
    make: Maker, workspace: Workspace, told: Told, text: str, words: str
) -> None:
    made = await _set_up(make, told)
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
    await workspace.store.accept(ProjectUpdated(project=trusting))  # as an older version may have
    with pytest.raises(SpinneyError, match=words):
        await run_worktree_script(workspace, made.id, "run")
    texts = ScriptTexts(run=text)
    with pytest.raises(SpinneyError, match=words):
        await save_project_scripts(workspace, make.project.id, texts)
    assert not (Path(made.path) / "made").exists()


async def test_the_same_text_under_another_name_is_another_script(
    make: Maker, workspace: Workspace, told: Told
) -> None:
    made = await _set_up(make, told)
    teardown_as_run = json.dumps({"scripts": {"run": "touch ../torn-down"}})
    (Path(made.path) / "spinney.json").write_text(teardown_as_run)
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await run_worktree_script(workspace, made.id, "run")


async def test_what_is_saved_through_spinney_is_trusted_and_the_rest_of_the_file_stays(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    path = repository.root / "spinney.json"
    path.write_text(json.dumps({"other": 1, "scripts": {"setup": "old", "run": "kept"}}))
    saved = await _save(workspace, make.project, setup="new", teardown=None)
    assert json.loads(path.read_text()) == {"other": 1, "scripts": {"setup": "new", "run": "kept"}}
    assert [(script.name, script.trusted) for script in saved] == [("setup", True), ("run", False)]


async def test_jean_json_counts_where_there_is_no_spinney_json(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    (repository.root / "spinney.json").rename(repository.root / "jean.json")
    found = await get_project_scripts(workspace, make.project.id)
    assert [script.file for script in found] == ["jean.json"] * 3
    assert all(script.trusted for script in found)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"scripts": []}', '{"scripts": {"run": 1}}', "[" * 100_000, "\0"]
)
async def test_a_config_file_that_makes_no_sense_is_told_by_its_name(
    text: str, make: Maker, workspace: Workspace, repository: Repository
) -> None:
    (repository.root / "spinney.json").write_text(text)
    with pytest.raises(SpinneyError, match=r"spinney\.json") as refused:
        await get_project_scripts(workspace, make.project.id)
    assert "recursion" not in refused.value.message


async def test_of_a_huge_config_file_no_more_is_read_than_one_may_have(
    workspace: Workspace, repository: Repository
) -> None:
    with (repository.root / "spinney.json").open("wb") as file:
        file.truncate(60_000_000)  # and a few kilobytes in the repository
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


async def test_a_script_that_runs_is_stopped_with_all_that_it_started(
    make: Maker, workspace: Workspace, told: Told, tmp_path: Path
) -> None:
    made = await _set_up(make, told)
    await _trusted_run(workspace, make.project, made, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    started = await run_worktree_script(workspace, made.id)
    assert started.status == "running"
    child = await _pid(tmp_path / "pid")
    with pytest.raises(SpinneyError, match="already running"):
        await run_worktree_script(workspace, made.id)
    await stop_worktree_script(workspace, made.id)
    await becomes(lambda: not lives(child))
    outcome = await get_script_output(workspace, made.id, "run")
    assert outcome.status == "stopped"


async def test_a_script_that_is_stopped_before_its_start_is_written_down_was_stopped(
    make: Maker, workspace: Workspace, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await _set_up(make, told)
    keep, begun, may_write = runner.Scripts._save, threading.Event(), threading.Event()

    def late(self: runner.Scripts, ran: runner.ScriptRun) -> None:
        if ran.status == "running":
            begun.set()
            assert may_write.wait(PATIENCE)
        keep(self, ran)

    monkeypatch.setattr(runner.Scripts, "_save", late)
    await run_worktree_script(workspace, made.id)
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    stopping = asyncio.create_task(stop_worktree_script(workspace, made.id))
    await asyncio.sleep(0)
    may_write.set()
    await stopping
    outcome = await get_script_output(workspace, made.id, "run")
    assert outcome.status == "stopped"


async def test_stopping_spinney_ends_its_scripts(
    make: Maker, workspace: Workspace, told: Told, tmp_path: Path
) -> None:
    made = await _set_up(make, told)
    await _trusted_run(workspace, make.project, made, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    await run_worktree_script(workspace, made.id)
    pid = await _pid(tmp_path / "pid")
    await workspace.stop()
    assert not lives(pid)


async def test_removing_the_project_ends_its_scripts(
    make: Maker, workspace: Workspace, told: Told, tmp_path: Path
) -> None:
    made = await _set_up(make, told)
    await _trusted_run(workspace, make.project, made, f"echo $$ > {tmp_path}/pid; exec sleep 600")
    await run_worktree_script(workspace, made.id)
    pid = await _pid(tmp_path / "pid")
    await remove_project(workspace, make.project.id)
    assert not lives(pid)
    assert Path(made.path).exists()


async def test_a_script_beyond_its_time_or_its_output_is_ended(
    make: Maker,
    workspace: Workspace,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await _set_up(make, told)
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1000)
    monkeypatch.setattr(process, "_CHECK_INTERVAL", 0.05)
    for text, limit, words in (
        ("sleep 600", 0.2, "after 0.2 seconds"),
        ("exec yes", PATIENCE, "of output"),
    ):
        monkeypatch.setattr(runner, "TIME_LIMIT", limit)
        await _save(workspace, make.project, setup=text)
        (Path(made.path) / "spinney.json").write_text(json.dumps({"scripts": {"setup": text}}))
        ran = await workspace.scripts.run(made.id, "setup")
        assert ran is not None
        assert ran.status == "failed"
        assert words in (ran.error or "")


async def test_the_teardown_runs_before_a_worktree_is_deleted(
    make: Maker, workspace: Workspace, told: Told
) -> None:
    made = await _set_up(make, told)
    await _clean(made)
    await remove_worktree(workspace, made.id)
    assert (Path(made.path).parent / "torn-down").exists()
    assert not (workspace.directories.data / "scripts" / made.id).exists()


async def test_a_failing_teardown_stops_a_deletion_unless_forced(
    make: Maker, workspace: Workspace, repository: Repository, told: Told
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


async def test_a_held_teardown_stops_a_deletion(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    _commit(repository, teardown="touch ../evil")
    made = await make("one")
    with pytest.raises(SpinneyError, match="is not the one that was trusted"):
        await remove_worktree(workspace, made.id)
    assert not (Path(made.path).parent / "evil").exists()
    assert Path(made.path).exists()


@pytest.mark.parametrize("damage", ["", "[7]", "{}", '{"status": "tired"}'])
async def test_a_damaged_outcome_counts_as_none(
    workspace: Workspace, make: Maker, damage: str
) -> None:
    made = await make("one")
    place = workspace.directories.scripts / made.id
    place.mkdir(parents=True, exist_ok=True)
    (place / "run.json").write_text(damage)
    with pytest.raises(SpinneyError, match="has not run here"):
        await get_script_output(workspace, made.id, "run")


async def test_there_may_be_no_scripts_at_all(
    workspace: Workspace, make: Maker, repository: Repository, told: Told, eventually: Eventually
) -> None:
    repository.git("rm", "--quiet", "spinney.json")
    repository.git("commit", "--quiet", "--message", "none")
    made = await make("one")
    with pytest.raises(SpinneyError, match="There is no script 'run'"):
        await run_worktree_script(workspace, made.id)
    with pytest.raises(SpinneyError, match="has not run here"):
        await get_script_output(workspace, made.id, "run")
    assert told.task("setup") is None


def _commit(repository: Repository, **scripts: str) -> None:
    repository.commit("spinney.json", json.dumps({"scripts": scripts}))


async def _set_up(make: Maker, told: Told) -> Worktree:
    """A worktree whose setup has ended, however."""
    made = await make("one")
    await make.eventually(lambda: told.task("setup") is not None)
    return made


async def _save(workspace: Workspace, project: Project, **texts: str | None) -> list[Script]:
    scripts = ScriptTexts.model_validate(texts)
    return await save_project_scripts(workspace, project.id, scripts)


async def _commit_saved(make: Maker) -> None:
    root = Repository(Path(make.project.path))
    root.git("commit", "--quiet", "--all", "--message", "scripts")


async def _trusted_run(
    workspace: Workspace, project: Project, worktree: Worktree, text: str
) -> None:
    config = json.dumps({"scripts": {"run": text}})
    (Path(worktree.path) / "spinney.json").write_text(config)
    await trust_project_scripts(workspace, project.id)


async def _clean(worktree: Worktree) -> None:
    (Path(worktree.path) / "was-set-up").unlink()


async def _pid(path: Path) -> int:
    async with asyncio.timeout(PATIENCE):
        while not (path.exists() and path.read_text().strip()):
            await asyncio.sleep(0.02)
    return int(path.read_text())


async def test_a_worktree_tells_which_of_its_scripts_run(
    make: Maker, workspace: Workspace, told: Told, eventually: Eventually
) -> None:
    made = await _set_up(make, told)

    def running_now() -> list[str]:
        return list(workspace.store.state.worktrees[made.id].running_scripts)

    await eventually(lambda: running_now() == [])
    await run_worktree_script(workspace, made.id)
    assert running_now() == ["run"]
    await stop_worktree_script(workspace, made.id)
    await eventually(lambda: running_now() == [])
    # What a kill left behind is forgotten at the next start.
    left = workspace.store.state.worktrees[made.id].model_copy(update={"running_scripts": ["run"]})
    workspace.store.record(WorktreeUpdated(worktree=left))
    workspace.scripts.recover()
    assert running_now() == []
