"""Undo takes back exactly what a turn did: what others did since, or meanwhile, stays."""

import asyncio
import base64
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.commands.sessions import delete_session
from model.commands.turns import (
    fork_session,
    get_turn_diff,
    list_turns,
    preview_redo,
    preview_undo,
    redo_turn,
    undo_turn,
)
from model.domain.messages import ImageBlock
from model.git.snapshots import chain, conversions, files
from model.turns import recorder
from tests.model.chat.test_uploads import PNG
from tests.model.git.snapshots.situations import add_submodule
from tests.model.turns.conftest import Desk
from tests.patience import PATIENCE


def write(path: Path, text: str) -> None:
    path.write_text(text)


def write_below(name: str, root: Path) -> None:
    write(root / name, "x")


LINES = "".join(f"line {number}\n" for number in range(1, 21))


def wait_for_next_tick(folder: Path) -> None:
    """Return when the file system gives a later time than that of the call."""
    called_at, probe = time.time(), folder.with_name("clock")
    while not probe.exists() or probe.stat().st_ctime <= called_at:
        probe.write_text("")


def replace_line(path: Path, number: int, text: str) -> None:
    lines = path.read_text().splitlines(keepends=True)
    lines[number - 1] = f"{text}\n"
    path.write_text("".join(lines))


async def test_a_turn_is_recorded_with_its_files(desk: Desk) -> None:
    session = await desk.add_session()

    def work(root: Path) -> None:
        (root / "read.me").write_text("one\nTWO\nthree\n")
        (root / "new").write_text("a\nb\n")

    turn = await desk.play(session, work)

    assert [(f.path, f.status, f.added, f.removed, f.others) for f in turn.files] == [
        ("new", "added", 2, 0, False),
        ("read.me", "modified", 1, 1, False),
    ]
    assert "+TWO" in (await get_turn_diff(desk.workspace, turn.turn_id)).text
    assert (await get_turn_diff(desk.workspace, turn.turn_id, "new")).text.endswith("+a\n+b\n")


async def test_undo_restores_files_and_keeps_what_was_changed_since(desk: Desk) -> None:
    (desk.root / "text").write_text(LINES)
    session = await desk.add_session()

    def work(root: Path) -> None:
        replace_line(root / "text", 2, "the agent")
        (root / "read.me").unlink()
        (root / "deep" / "er").mkdir(parents=True)
        (root / "deep" / "er" / "new").write_text("new\n")

    turn = await desk.play(session, work)
    replace_line(desk.root / "text", 18, "the person")
    (desk.root / "mine").write_text("mine\n")

    preview = await preview_undo(desk.workspace, turn.turn_id)
    assert {file.path: file.action for file in preview.files} == {
        "text": "merge", "read.me": "restore", "deep/er/new": "restore",
    }  # fmt: skip
    await undo_turn(desk.workspace, turn.turn_id, "files")

    text = (desk.root / "text").read_text().splitlines()
    assert (text[1], text[17]) == ("line 2", "the person")
    assert (desk.root / "read.me").read_text() == "one\ntwo\nthree\n"
    assert not (desk.root / "deep").exists()
    assert (desk.root / "mine").read_text() == "mine\n"
    assert (await list_turns(desk.workspace, session.id))[0].undone == "files"

    await redo_turn(desk.workspace, turn.turn_id)

    text = (desk.root / "text").read_text().splitlines()
    assert (text[1], text[17]) == ("the agent", "the person")
    assert not (desk.root / "read.me").exists()
    assert (desk.root / "deep" / "er" / "new").exists()


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("keep", "the person"), ("before", "line 2"), ("markers", "<<<<<<< now")],
)
async def test_a_conflict_needs_a_choice(desk: Desk, choice: str, expected: str) -> None:
    (desk.root / "text").write_text(LINES)
    session = await desk.add_session()
    turn = await desk.play(session, lambda root: replace_line(root / "text", 2, "the agent"))
    replace_line(desk.root / "text", 2, "the person")
    before = (desk.root / "text").read_text()

    with pytest.raises(SpinneyError, match=r"1 file changed since in the same place: text\."):
        await undo_turn(desk.workspace, turn.turn_id, "files")
    assert (desk.root / "text").read_text() == before

    await undo_turn(desk.workspace, turn.turn_id, "files", choices={"text": choice})
    assert (desk.root / "text").read_text().splitlines()[1] == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("keep", "the person"), ("before", "the agent"), ("markers", "<<<<<<< now")],
)
async def test_a_redo_needs_a_choice_where_the_file_changed_since_the_undo(
    desk: Desk, choice: str, expected: str
) -> None:
    (desk.root / "text").write_text(LINES)
    session = await desk.add_session()

    def work(root: Path) -> None:
        replace_line(root / "text", 2, "the agent")
        write(root / "other", "new")

    turn = await desk.play(session, work)
    await undo_turn(desk.workspace, turn.turn_id, "both")
    replace_line(desk.root / "text", 2, "the person")

    preview = await preview_redo(desk.workspace, turn.turn_id)
    assert {file.path: (file.action, file.has_markers) for file in preview.files} == {
        "text": ("conflict", True), "other": ("restore", False),
    }  # fmt: skip
    with pytest.raises(SpinneyError, match=r"1 file changed since in the same place: text\."):
        await redo_turn(desk.workspace, turn.turn_id)
    assert (await list_turns(desk.workspace, session.id))[0].undone == "both"
    assert not (desk.root / "other").exists()

    await redo_turn(desk.workspace, turn.turn_id, {"text": choice})
    assert (desk.root / "text").read_text().splitlines()[1] == expected
    assert (desk.root / "other").exists()
    with pytest.raises(SpinneyError, match="not undone"):
        await preview_redo(desk.workspace, turn.turn_id)


async def test_another_sessions_work_in_the_same_time_stays(desk: Desk) -> None:
    (desk.root / "shared").write_text(LINES)
    wrong, right = await desk.add_session("wrong"), await desk.add_session("right")
    first, second = await desk.begin(wrong), await desk.begin(right)

    def edit(number: int, text: str) -> agent_events.ToolUse:
        old = f"line {number}\n"
        replace_line(desk.root / "shared", number, text)
        given = {"file_path": "shared", "old_content": old, "new_content": f"{text}\n"}
        return agent_events.ToolUse(f"edit {number}", "edit", given)

    first.say(edit(3, "wrong"), agent_events.ToolResult("edit 3", "ok"))
    second.say(edit(15, "right"), agent_events.ToolResult("edit 15", "ok"))
    (desk.root / "of right").write_text("right\n")
    turn = await desk.finish(wrong, first)
    await desk.finish(right, second)
    assert {file.path: file.others for file in turn.files} == {"of right": True, "shared": False}

    await undo_turn(desk.workspace, turn.turn_id, "files")

    lines = (desk.root / "shared").read_text().splitlines()
    assert (lines[2], lines[14]) == ("line 3", "right")
    assert (desk.root / "of right").exists()


async def test_a_fork_in_a_new_worktree_has_the_files_after_its_turn(desk: Desk) -> None:
    session = await desk.add_session()
    for name in (".gitignore", ".worktreeinclude"):
        write(desk.root / name, "ignored\n")
    write(desk.root / "ignored", "mine")
    first = await desk.play(session, lambda root: write(root / "f1", "one"), "step 1")
    await desk.play(session, lambda root: write(root / "f1", "two"), "step 2")

    fork = await fork_session(desk.workspace, session.id, first.turn_id, new_worktree=True)

    worktree = desk.workspace.store.state.worktrees[fork.worktree_id]
    assert (Path(worktree.path) / "f1").read_text() == "one"
    assert (Path(worktree.path) / "ignored").read_text() == "mine"
    assert worktree.id != desk.worktree.id
    messages = (await desk.workspace.store.messages(fork.id)).messages
    assert [message.text for message in messages if message.role == "user"] == ["step 1"]
    assert (await desk.begin(fork, "another way")).launch.fork_at == "mark 1"
    assert (desk.root / "f1").read_text() == "two"


async def test_a_fork_keeps_the_attachments_after_its_original_is_deleted(desk: Desk) -> None:
    session, uploads = await desk.add_session(), desk.workspace.uploads
    image = (await uploads.save_image(session.id, base64.b64encode(PNG).decode())).path
    file = (await uploads.save_file(session.id, b"a,b", "data.csv")).path
    sending = desk.workspace.chats.send(session.id, "Look", [str(file)], [str(image)])
    await desk.finish(session, await desk.backend.receiver_of(sending))

    fork = await fork_session(desk.workspace, session.id)
    await delete_session(desk.workspace, session.id)

    async with asyncio.timeout(PATIENCE):
        while image.exists() or file.exists():
            await asyncio.sleep(0.01)
    sent = (await desk.workspace.store.messages(fork.id)).messages[0]
    (shown,) = (block for block in sent.content if isinstance(block, ImageBlock))
    assert Path(shown.path).parent.name == fork.id
    assert await uploads.read_image(fork.id, image.name) == Path(shown.path).read_bytes()
    assert Path(sent.files[0]).read_bytes() == b"a,b"


async def test_a_conversation_goes_back_with_the_files_of_all_later_turns(desk: Desk) -> None:
    session = await desk.add_session()
    for number in (1, 2, 3):
        work = partial(write_below, f"f{number}")
        await desk.play(session, work, f"step {number}")
    turns = await list_turns(desk.workspace, session.id)

    result = await undo_turn(desk.workspace, turns[1].turn_id, "both")

    assert result.message == "step 2"
    assert [(desk.root / f"f{n}").exists() for n in (1, 2, 3)] == [True, False, False]
    puppet = await desk.begin(session, "step 2, better")
    assert puppet.launch.fork_at == "mark 1"
    turn = await desk.finish(session, puppet)
    assert turn.number == 4
    with pytest.raises(SpinneyError, match="has continued since"):
        await redo_turn(desk.workspace, turns[1].turn_id)


async def test_what_is_in_no_snapshot_is_left_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversions, "_MAX_FILTERED", 4)
    git, root = desk.repository.git, desk.root
    git("config", "filter.lfs.clean", "tr a-z A-Z")
    git("config", "filter.lfs.smudge", "tr A-Z a-z")
    for name, text in {
        ".gitattributes": "large filter=lfs", ".gitignore": "*.env", "mine.env": "ignored",
        "large": "large content", "secret": "secret",
    }.items():  # fmt: skip
        write(root / name, text)
    (root / "secret").chmod(0o600)
    git("add", ".gitattributes", "large", cwd=root)
    git("commit", "--quiet", "-m", "Large", cwd=root)
    session = await desk.add_session()

    def work(root: Path) -> None:
        write(root / ".gitignore", "")
        (root / "secret").unlink()
        (root / "read.me").unlink()
        write(root / "large", "another large content")
        git("clone", "--quiet", str(desk.repository.root), str(root / "read.me"))

    turn = await desk.play(session, work)
    preview = await preview_undo(desk.workspace, turn.turn_id)
    assert [file.path for file in preview.files] == [".gitignore", "secret"]
    await undo_turn(desk.workspace, turn.turn_id, "files")

    assert (root / ".gitignore").read_text() == "*.env"
    assert (root / "mine.env").read_text() == "ignored"
    assert (root / "large").read_text() == "another large content"
    assert (root / "secret").stat().st_mode & 0o777 == 0o600
    assert git("status", "--porcelain", cwd=root / "read.me") == ""
    await redo_turn(desk.workspace, turn.turn_id)
    assert (root / "mine.env").read_text() == "ignored"


@pytest.mark.parametrize("killed_at", [0, 1, 2])
async def test_an_interrupted_undo_is_completed_by_undoing_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    session = await desk.add_session()

    def work(root: Path) -> None:
        for name in ("read.me", "b", "c"):
            write(root / name, "the agent's")

    write(desk.root / "b", "b before")
    write(desk.root / "c", "c before")
    turn = await desk.play(session, work)
    write_file, written = files.write_file, list[str]()

    def write_some(root: Path, path: str, *rest: Any) -> None:
        if len(written) == killed_at:
            raise SpinneyError("The disk is full.", "internal_error")
        written.append(path)
        write_file(root, path, *rest)

    monkeypatch.setattr(files, "write_file", write_some)
    with pytest.raises(SpinneyError, match="The disk is full"):
        await undo_turn(desk.workspace, turn.turn_id, "files")
    assert (await list_turns(desk.workspace, session.id))[0].undone is None
    monkeypatch.undo()

    await undo_turn(desk.workspace, turn.turn_id, "files")

    contents = [(desk.root / name).read_text() for name in ("read.me", "b", "c")]
    assert contents == ["one\ntwo\nthree\n", "b before", "c before"]
    (desk.root / "of a person").write_text("stays")
    await redo_turn(desk.workspace, turn.turn_id)
    contents = [(desk.root / name).read_text() for name in ("read.me", "b", "c")]
    assert contents == ["the agent's"] * 3


@pytest.mark.parametrize("change", ["file", "new file", "deleted", "commit"])
async def test_an_undo_names_the_submodules_whose_files_it_leaves(desk: Desk, change: str) -> None:
    add_submodule(desk.repository, desk.root)
    inside = desk.root / "sub"
    for command in (("add", "--all"), ("commit", "--quiet", "--message", "All")):
        desk.repository.git(*command, cwd=inside)
    desk.repository.git("commit", "--quiet", "--all", "--message", "Add sub", cwd=desk.root)
    session = await desk.add_session()
    before = await desk.play(session, lambda root: write(root / "read.me", "first\n"))

    def work(root: Path) -> None:
        write(root / "read.me", "second\n")
        match change:
            case "file":
                write(root / "sub/in sub", "by the agent\n")
            case "new file":
                write(root / "sub/new.txt", "by the agent\n")
            case "deleted":
                (root / "sub/in sub").unlink()
            case _:
                desk.repository.commit("new.txt", "by the agent\n", cwd=root / "sub")

    turn = await desk.play(session, work)
    preview = await preview_undo(desk.workspace, turn.turn_id)
    assert {file.path: file.action for file in preview.files} == {
        "read.me": "restore",
        "sub": "submodule",
    }
    undone = await undo_turn(desk.workspace, turn.turn_id, "files", choices={"sub": "keep"})
    assert undone.submodules == ["sub"]
    assert (desk.root / "read.me").read_text() == "first\n"
    assert [file.path for file in before.files] == ["read.me"]


def save_before_writing(
    monkeypatch: pytest.MonkeyPatch, saved: Path, function: str, text: str
) -> None:
    """Let a person append to a file right before the first file is written or removed."""
    real, has_saved = getattr(files, function), list[Path]()

    def save_and_write(*args: Any) -> None:
        if not has_saved:
            has_saved.append(saved)
            with saved.open("a") as file:
                file.write(text)
        real(*args)

    monkeypatch.setattr(files, function, save_and_write)


async def test_what_is_saved_during_an_undo_and_a_redo_stays_and_a_second_one_merges_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, other = desk.root / "text", desk.root / "other"
    write(text, LINES)
    write(other, "before")
    session = await desk.add_session()

    def work(root: Path) -> None:
        replace_line(root / "text", 2, "the agent")
        write(root / "other", "after")

    turn = await desk.play(session, work)

    for command, done, number in ((undo_turn, "before", 1), (redo_turn, "after", 2)):
        arguments = ("files",) if command is undo_turn else ()
        was = text.read_text()
        with monkeypatch.context() as patched:
            save_before_writing(patched, text, "write_file", f"saved {number}\n")
            with pytest.raises(SpinneyError, match=r"was saved meanwhile .*: text") as raised:
                await command(desk.workspace, turn.turn_id, *arguments)
        assert raised.value.error_type == "conflict"
        assert text.read_text() == f"{was}saved {number}\n"
        assert other.read_text() == done

        await command(desk.workspace, turn.turn_id, *arguments)

        lines = text.read_text().splitlines()
        assert lines[1] == ("line 2" if command is undo_turn else "the agent")
        assert lines[20:] == [f"saved {each}" for each in range(1, number + 1)]
        assert other.read_text() == done


async def test_a_new_file_that_is_saved_while_it_is_removed_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.add_session()
    turn = await desk.play(session, lambda root: write(root / "new", "the agent\n"))
    save_before_writing(monkeypatch, desk.root / "new", "remove_file", "the person\n")
    with pytest.raises(SpinneyError, match="stays as it is: new"):
        await undo_turn(desk.workspace, turn.turn_id, "files")
    assert (desk.root / "new").read_text() == "the agent\nthe person\n"


async def test_what_others_save_during_an_undo_is_no_part_of_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.add_session()
    turn = await desk.play(session, lambda root: write(root / "read.me", "the agent"))
    save_before_writing(monkeypatch, desk.root / "mine", "write_file", "mine")
    await undo_turn(desk.workspace, turn.turn_id, "files")
    await redo_turn(desk.workspace, turn.turn_id)
    assert (desk.root / "read.me").read_text() == "the agent"
    assert (desk.root / "mine").read_text() == "mine"


async def test_a_full_disk_refuses_an_undo_before_any_file_is_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.add_session()
    turn = await desk.play(session, lambda root: write(root / "read.me", "the agent"))

    async def fail(*_: object) -> None:
        raise SpinneyError("unable to write loose object file: No space left", "git_error")

    with monkeypatch.context() as patched:
        patched.setattr(chain, "add_tree", fail)
        with pytest.raises(SpinneyError, match=r"Nothing was changed, .*No space left"):
            await undo_turn(desk.workspace, turn.turn_id, "files")
    assert (desk.root / "read.me").read_text() == "the agent"
    await undo_turn(desk.workspace, turn.turn_id, "files")
    assert (desk.root / "read.me").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("tool", ["bash", "edit"])
async def test_what_is_saved_before_the_snapshot_of_an_ended_turn_is_not_the_agents(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    (desk.root / "both").write_text(LINES)
    (desk.root / "mine").write_text("before\n")
    session = await desk.add_session()
    puppet = await desk.begin(session)
    replace_line(desk.root / "both", 2, "the agent")
    given = {"file_path": "both", "old_content": "line 2\n", "new_content": "the agent\n"}
    puppet.say(agent_events.ToolUse("1", tool, given), agent_events.ToolResult("1", "done"))
    take_snapshot = recorder.take_snapshot

    async def save_before(root: Path, note: chain.SnapshotNote) -> chain.Snapshot:
        wait_for_next_tick(desk.root)
        write(desk.root / "mine", "saved\n")
        if tool == "edit":
            replace_line(desk.root / "both", 18, "saved")
        return await take_snapshot(root, note)

    monkeypatch.setattr(recorder, "take_snapshot", save_before)
    turn = await desk.finish(session, puppet)
    assert {file.path: file.others for file in turn.files} == {"both": False, "mine": True}

    await undo_turn(desk.workspace, turn.turn_id, "files")

    assert (desk.root / "mine").read_text() == "saved\n"
    lines = (desk.root / "both").read_text().splitlines()
    assert (lines[1], lines[17]) == ("line 2", "saved" if tool == "edit" else "line 18")
