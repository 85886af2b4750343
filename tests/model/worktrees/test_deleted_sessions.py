"""Deleted sessions, and those of removed worktrees and projects, come back from recovery points."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.projects import add_project, remove_project
from model.commands.recovery import (
    delete_recovery_point,
    list_recovery_points,
    restore_files,
    restore_sessions,
    restore_worktree,
)
from model.commands.sessions import create_session, delete_session, get_messages, send_chat_message
from model.commands.turns import list_turns
from model.commands.worktrees import adopt_worktree, open_base_worktree, remove_worktree
from model.domain.events.sessions import TurnRecorded
from model.domain.projects import Project
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from model.worktrees import kept_files
from tests.conftest import Eventually
from tests.model.chat.test_uploads import PNG
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


@pytest.fixture
def talk(workspace: Workspace, eventually: Eventually) -> Callable[[str], "Talk"]:
    return lambda worktree_id: Talk(workspace, eventually, worktree_id)


class Talk:
    """A session with a turn, a picture and a long output."""

    def __init__(self, workspace: Workspace, eventually: Eventually, worktree_id: str) -> None:
        self.workspace = workspace
        self._eventually = eventually
        self._worktree_id = worktree_id
        self.session: Session
        self.before: list[object] = []

    async def hold(self) -> "Talk":
        """Say something, and remember all that must come back."""
        session = await create_session(self.workspace, self._worktree_id, name="Talk")
        reader = self.workspace.bus.reader()
        await send_chat_message(self.workspace, session.id, "hello there")

        def has_turn_ended() -> bool:
            events = [entry.event for entry in reader.take()[0]]
            turns = [event.turn for event in events if isinstance(event, TurnRecorded)]
            return any(turn.session_id == session.id and turn.ended_at for turn in turns)

        await self._eventually(has_turn_ended)
        encoded = base64.b64encode(PNG).decode()
        self.picture = (await self.workspace.uploads.save_image(session.id, encoded)).path
        self.workspace.outputs.shorten_and_save(session.id, "tool", "long " * 10_000)
        self.session = self.workspace.store.state.sessions[session.id]
        self.before = await self.read()
        return self

    async def read(self) -> list[object]:
        """Return everything that is kept of the session."""
        key = self.session.id
        output = await self.workspace.outputs.read(key, "tool", 0, 100_000)
        messages = (await get_messages(self.workspace, key)).messages
        turns = await list_turns(self.workspace, key)
        name = self.workspace.store.state.sessions[key].name
        return [name, messages, turns, output.size, self.picture.read_bytes()]

    async def remove_its_files(self) -> None:
        """Do what is done in the background once a session is deleted."""
        for files in (self.workspace.uploads, self.workspace.outputs):
            await files.remove_all_but(self.workspace.store.state.sessions)
        assert not self.picture.exists()


async def test_a_deleted_session_comes_back_with_turns_pictures_and_long_outputs(
    make: Maker, workspace: Workspace, talk: Callable[[str], Talk]
) -> None:
    made = await make("one")
    said = await talk(made.id).hold()
    empty = await create_session(workspace, made.id)
    await delete_session(workspace, empty.id)  # Nothing was said: nothing to keep.
    await delete_session(workspace, said.session.id)
    await said.remove_its_files()

    [point] = await list_recovery_points(workspace, made.project_id)
    assert (point.kind, point.name, point.sessions) == ("delete session", "Talk", 1)
    assert point.reason == "Deleted session of 'one'"
    assert point.sessions_only
    assert point.size_bytes > 50_000
    for restore in (
        restore_worktree(workspace, point.recovery_id),
        restore_files(workspace, point.recovery_id, ["x"]),
    ):
        with pytest.raises(SpinneyError, match="Restore its sessions"):
            await restore
    for _ in range(2):  # The second time there is nothing left to do.
        [back] = await restore_sessions(workspace, point.recovery_id)
        assert (back.id, back.worktree_id) == (said.session.id, made.id)
        assert await said.read() == said.before
    await send_chat_message(workspace, back.id, "and on")
    await delete_recovery_point(workspace, point.recovery_id)
    assert await list_recovery_points(workspace) == []


async def test_a_session_needs_its_worktree_to_come_back(
    make: Maker, workspace: Workspace, talk: Callable[[str], Talk]
) -> None:
    made = await make("one")
    said = await talk(made.id).hold()
    await delete_session(workspace, said.session.id)
    [point] = await list_recovery_points(workspace)
    await remove_worktree(workspace, made.id, force=True)
    with pytest.raises(SpinneyError, match=r"worktree 'one' .* Restore or add the worktree first"):
        await restore_sessions(workspace, point.recovery_id)
    newest, _ = await list_recovery_points(workspace)
    with pytest.raises(SpinneyError, match="Restore it as a worktree"):
        await restore_sessions(workspace, newest.recovery_id)
    await restore_worktree(workspace, newest.recovery_id)
    await restore_sessions(workspace, point.recovery_id)
    assert await said.read() == said.before


@pytest.mark.parametrize("again", [False, True])
async def test_the_sessions_of_an_adopted_worktree_come_back_also_once_it_was_adopted_again(
    again: bool,
    workspace: Workspace,
    added: Project,
    repository: Repository,
    tmp_path: Path,
    talk: Callable[[str], Talk],
) -> None:
    path = tmp_path / "outside"
    repository.git("worktree", "add", "-b", "own", str(path))
    adopted = await adopt_worktree(workspace, added.id, str(path))
    said = await talk(adopted.id).hold()
    await remove_worktree(workspace, adopted.id, force=False, for_good=True)
    [point] = await list_recovery_points(workspace)
    assert (point.kind, point.name, point.reason) == (
        "remove worktree",
        "own",
        "Removed from Spinney",
    )
    new = await adopt_worktree(workspace, added.id, str(path)) if again else adopted
    [back] = await restore_sessions(workspace, point.recovery_id)
    worktree = workspace.store.state.worktrees[back.worktree_id]
    assert (worktree.id, worktree.path, worktree.adopted) == (new.id, str(path), True)
    assert (await said.read())[0] == "Talk"
    assert (await get_messages(workspace, back.id)).messages == said.before[1]


async def test_a_removed_project_comes_back_with_all_its_worktrees_and_sessions(
    make: Maker, workspace: Workspace, talk: Callable[[str], Talk]
) -> None:
    made = await make("one")
    project = workspace.store.state.projects[made.project_id]
    base = await open_base_worktree(workspace, project.id)
    both = [await talk(each.id).hold() for each in (made, base)]
    await remove_project(workspace, project.id)
    [point] = await list_recovery_points(workspace)
    assert (point.kind, point.name, point.sessions) == ("remove project", project.name, 2)

    moved = Path(project.path).rename(f"{project.path}-moved")
    with pytest.raises(SpinneyError, match="there is no repository at"):
        await restore_sessions(workspace, point.recovery_id)
    moved.rename(project.path)
    await restore_sessions(workspace, point.recovery_id)
    state = workspace.store.state
    assert state.projects[project.id].path == project.path
    assert {w.id for w in state.worktrees.values()} == {made.id, base.id}
    for said in both:
        assert await said.read() == said.before


async def test_a_project_that_was_added_again_gets_its_worktrees_and_sessions_back(
    make: Maker, workspace: Workspace, talk: Callable[[str], Talk]
) -> None:
    made = await make("one")
    project = workspace.store.state.projects[made.project_id]
    base = await open_base_worktree(workspace, project.id)
    for each in (made, base):
        await talk(each.id).hold()
    await remove_project(workspace, project.id)
    again = await add_project(workspace, project.path)
    new_base = await open_base_worktree(workspace, again.id)
    [point] = await list_recovery_points(workspace, again.id)
    assert point.project_id == again.id
    sessions = await restore_sessions(workspace, point.recovery_id)
    assert [each.worktree_id for each in sessions] == [made.id, new_base.id]
    assert workspace.store.state.worktrees[made.id].project_id == again.id


async def test_nothing_is_removed_if_the_disk_is_full(
    make: Maker,
    workspace: Workspace,
    talk: Callable[[str], Talk],
    fake_git: Callable[[str], None],
) -> None:
    made = await make("one")
    said = await talk(made.id).hold()
    fake_git(
        'case " $* " in *" unpack-objects "*) echo "fatal: No space left on device" >&2; exit 128;;'
        ' esac\nexec "$real_git" "$@"'
    )
    for removal in (
        delete_session(workspace, said.session.id),
        remove_project(workspace, made.project_id),
    ):
        with pytest.raises(
            SpinneyError, match=r"was not (deleted|removed).*No space left on device"
        ):
            await removal
    assert await said.read() == said.before


async def test_pictures_and_outputs_of_a_deleted_worktree_come_back_within_bounds(
    make: Maker,
    workspace: Workspace,
    talk: Callable[[str], Talk],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await make("one")
    said = await talk(made.id).hold()
    await remove_worktree(workspace, made.id, force=True)
    await said.remove_its_files()
    [point] = await list_recovery_points(workspace)
    assert point.left_out == 0
    await restore_worktree(workspace, point.recovery_id)
    assert await said.read() == said.before

    monkeypatch.setattr(kept_files, "MAX_BYTES", 10_000)
    await remove_worktree(workspace, made.id, force=True)
    newest, _ = await list_recovery_points(workspace)
    assert newest.left_out == 1  # The output; the picture is small enough.


async def test_a_point_in_a_repository_says_nothing_about_projects_and_files_elsewhere(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    head = repository.git("rev-parse", "HEAD")
    forged = "Snapshot: x\n\nreason: remove project\ncreated_at: 1\n"
    commit = repository.git("commit-tree", "-m", forged, f"{head}^{{tree}}")
    repository.git("update-ref", "refs/spinney/recovery/x", commit)
    assert await list_recovery_points(workspace) == []

    directories = workspace.directories
    for name in (
        "pictures/s/../../spinney.db",
        "pictures/../x",
        "outputs/other/x",
        "outputs/s/.x",
        "/x",
        "pictures/s/",
    ):
        kept_files.write_file(directories, name, b"text", ["s", "..", "a/b"], [])
    assert not directories.outputs.exists()
    assert not directories.pictures.exists()
    kept_files.write_file(directories, "outputs/s/x", b"text", ["s"], [])
    assert (directories.outputs / "s" / "x").read_bytes() == b"text"
