"""The store and its file: accepted events are saved at once, recorded ones soon after."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageCompleted,
    MessageQueued,
    MessageStarted,
)
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import (
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
    TurnRecorded,
)
from model.domain.events.worktrees import WorktreeCreated, WorktreeStatusUpdated, WorktreeUpdated
from model.domain.messages import Message, TextBlock, ToolResultBlock
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.turns import Turn, make_turn_id
from model.domain.usage import Usage
from model.domain.worktrees import Label, Worktree
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from tests.patience import PATIENCE

PROJECT = Project(id="p", name="alpha", path="/alpha", default_branch="main", added_at=1)
WORKTREE = Worktree(id="w", project_id="p", name="n", path="/w", branch="n", created_at=1)
SESSION = Session(id="s", worktree_id="w", name="Session 1", created_at=1)


async def open_store(path: Path) -> Store:
    database, problem = await Database.open(path)
    assert problem is None
    return Store(database, EventBus(), State())


async def open_with_session(path: Path) -> Store:
    store = await open_store(path)
    await store.accept(
        ProjectAdded(project=PROJECT),
        WorktreeCreated(worktree=WORKTREE),
        SessionCreated(session=SESSION),
    )
    return store


def make_message(message_id: str, text: str = "hello") -> Message:
    return Message(
        id=message_id, role="user", content=[TextBlock(text=text)], timestamp=1, session_id="s"
    )


def make_queued(message: Message, status: str = "processing") -> MessageQueued:
    return MessageQueued.model_validate({"session_id": "s", "message": message, "status": status})


def stream(store: Store, text: str, message_id: str = "a") -> None:
    message = Message(
        id=message_id, role="assistant", timestamp=2, session_id="s", status="processing"
    )
    store.record(
        MessageStarted(message_id=message_id, session_id="s", message=message),
        ContentDelta(message_id=message_id, content=text, content_index=0, session_id="s"),
    )


async def open_again(path: Path) -> Database:
    """Open the file a second time, as after a crash: the first program never closed it."""
    database, problem = await Database.open(path)
    assert problem is None
    return database


async def test_turns_are_read_in_pages_from_the_newest_back(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    for number in range(1, 8):
        turn = Turn(
            id=make_turn_id("s", number), session_id="s", worktree_id="w", number=number,
            started_at=number,
        )  # fmt: skip
        store.record(TurnRecorded(turn=turn))

    async def read(**page: int) -> list[int]:
        return [turn.number for turn in await store.turns("s", **page)]

    assert await read() == [1, 2, 3, 4, 5, 6, 7]
    assert await read(limit=3) == [5, 6, 7]
    assert await read(limit=3, before=5) == [2, 3, 4]
    assert await read(limit=3, before=2) == [1]
    assert await read(limit=3, before=1) == []
    assert await read(first=3, before=5) == [3, 4]
    await store.close()


async def test_accepted_events_are_in_the_file_before_accept_returns(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    await store.accept(make_queued(make_message("m")))
    other = await open_again(tmp_path / "db")
    assert (await other.load()).sessions == [SESSION]
    assert (await other.messages("s")).messages == [make_message("m")]
    await other.close()
    await store.close()


async def test_a_refused_change_changes_nothing(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    before = store.state

    def refuse(state: State) -> list[Event]:
        raise SpinneyError("no")

    with pytest.raises(SpinneyError, match="no"):
        await store.accept(SessionUpdated(session_id="s", updates={"name": "x"}), refuse)
    assert store.state is before
    await store.close()


async def test_a_change_decides_on_the_newest_state(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")

    def count(state: State) -> list[Event]:
        number = state.sessions["s"].message_count + 1
        return [SessionUpdated(session_id="s", updates={"message_count": number})]

    await asyncio.gather(*(store.accept(count) for _ in range(20)))
    assert store.state.sessions["s"].message_count == 20
    await store.close()


async def test_recording_does_not_undo_a_concurrent_accept(
    tmp_path: Path,
) -> None:
    store = await open_with_session(tmp_path / "db")
    deciding = asyncio.Event()

    def rename(state: State) -> list[Event]:
        deciding.set()
        return [SessionUpdated(session_id="s", updates={"name": "renamed"})]

    renaming = asyncio.create_task(store.accept(rename))
    await deciding.wait()
    store.record(SessionUpdated(session_id="s", updates={"status": "running"}))
    await renaming
    await store.close()
    other = await open_again(tmp_path / "db")
    [session] = (await other.load()).sessions
    assert (session.name, session.status) == ("renamed", "running")
    await other.close()


async def test_a_status_recorded_while_a_worktree_changes_is_kept_with_the_change(
    tmp_path: Path,
) -> None:
    store = await open_with_session(tmp_path / "db")
    label = Label(name="soon", color="#00ff00")
    deciding = asyncio.Event()

    def add_label(state: State) -> list[Event]:
        deciding.set()
        worktree = state.worktrees["w"]
        return [WorktreeUpdated(worktree=worktree.model_copy(update={"label": label}))]

    changing = asyncio.create_task(store.accept(add_label))
    await deciding.wait()
    store.record(
        WorktreeStatusUpdated(
            worktree_id="w", cached_pr_status="open", cached_check_status="success"
        )
    )
    await changing
    both = WORKTREE.model_copy(
        update={"label": label, "cached_pr_status": "open", "cached_check_status": "success"}
    )
    assert store.state.worktrees["w"] == both
    await store.close()
    other = await open_again(tmp_path / "db")
    assert (await other.load()).worktrees == [both]
    await other.close()


async def test_streamed_text_is_in_a_page_of_messages_while_it_streams(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    stream(store, "half a sen")
    [message] = (await store.messages("s")).messages
    assert message.text == "half a sen"
    assert message.status == "processing"
    await store.close()


async def test_streamed_text_is_saved_periodically(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    stream(store, "kept")
    other = await open_again(tmp_path / "db")
    async with asyncio.timeout(PATIENCE):
        while not (await other.load()).unfinished or not ((await other.load()).unfinished[0].text):
            await asyncio.sleep(0.02)
    assert (await other.load()).unfinished[0].text == "kept"
    await other.close()
    await store.close()


async def test_a_finished_message_keeps_its_blocks_in_order(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    stream(store, "text")
    result = ToolResultBlock(tool_use_id="t", content="out")
    store.record(
        BlockChanged(session_id="s", message_id="a", content_index=1, block=result),
        ContentDelta(message_id="a", content="!", content_index=0, session_id="s"),
        MessageCompleted(
            message_id="a", session_id="s", stop_reason="end_turn", usage=Usage(output_tokens=3)
        ),
    )
    assert store.state.streaming == {}
    [message] = (await store.messages("s")).messages
    assert message.content == [TextBlock(text="text!"), result]
    assert (message.status, message.stop_reason, message.usage) == (
        "completed",
        "end_turn",
        Usage(output_tokens=3),
    )
    await store.close()


async def test_pages_count_from_the_newest_and_come_oldest_first(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    for number in range(25):
        await store.accept(make_queued(make_message(f"m{number}")))
    page = await store.messages("s", limit=10, offset=5)
    assert [message.id for message in page.messages] == [f"m{n}" for n in range(10, 20)]
    assert page.total == 25
    await store.close()


async def test_a_canceled_read_does_not_keep_later_ones_in_the_past(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    await store.accept(make_queued(make_message("first")))
    read = asyncio.create_task(store.messages("s"))
    await asyncio.sleep(0)
    read.cancel()
    await store.accept(make_queued(make_message("second")))
    assert [m.id for m in (await store.messages("s")).messages] == ["first", "second"]
    await store.close()


async def test_a_queued_message_is_not_part_of_the_conversation_until_it_runs(
    tmp_path: Path,
) -> None:
    store = await open_with_session(tmp_path / "db")
    await store.accept(
        make_queued(make_message("first")), make_queued(make_message("waits"), "sent")
    )
    assert [m.id for m in (await store.messages("s")).messages] == ["first"]
    other = await open_again(tmp_path / "db")
    assert [m.id for m in (await other.load()).queued] == ["waits"]
    await other.close()
    stream(store, "answer")
    store.record(make_queued(make_message("waits")))
    assert store.state.queued == {}
    assert [m.id for m in (await store.messages("s")).messages] == ["first", "a", "waits"]
    await store.close()


async def test_a_deleted_session_leaves_no_message_behind(tmp_path: Path) -> None:
    store = await open_with_session(tmp_path / "db")
    await store.accept(make_queued(make_message("m")))
    await store.accept(SessionDeleted(session_id="s"))
    await store.close()
    with sqlite3.connect(tmp_path / "db") as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM blocks").fetchone() == (0,)


async def test_unknown_fields_of_a_newer_version_survive(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "db")
    newer = Project.model_validate({**PROJECT.model_dump(), "colour_of_the_moon": "blue"})
    await store.accept(ProjectAdded(project=newer))
    await store.close()
    other = await open_again(tmp_path / "db")
    [project] = (await other.load()).projects
    assert project.model_dump()["colour_of_the_moon"] == "blue"
    await other.close()


async def test_a_full_disk_refuses_user_changes_and_keeps_agent_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_with_session(tmp_path / "db")
    reader = store.bus.reader()
    write = Database.write

    async def full(*_: object) -> None:
        raise SpinneyError("The disk is full: the change could not be saved.", "internal_error")

    monkeypatch.setattr(Database, "write", full)
    with pytest.raises(SpinneyError, match="The disk is full"):
        await store.accept(make_queued(make_message("m")))
    stream(store, "not lost")
    sealed = asyncio.Event()
    stop = store.bus.listen(sealed.set)
    failures: list[TaskCompleted] = []
    async with asyncio.timeout(PATIENCE):
        while not failures:
            await sealed.wait()
            sealed.clear()
            failures += [e.event for e in reader.take()[0] if isinstance(e.event, TaskCompleted)]
    assert not failures[0].ok
    assert "disk is full" in failures[0].detail
    # Reading includes what is not in the file yet.
    [message] = (await store.messages("s")).messages
    assert (message.text, await store.message("a")) == ("not lost", message)
    stop()
    monkeypatch.setattr(Database, "write", write)
    [message] = (await store.messages("s")).messages
    assert message.text == "not lost"
    await store.close()


@pytest.mark.parametrize("damage", ["header", "half", "noise"])
async def test_a_damaged_file_is_moved_aside_and_reported(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "db"
    store = await open_with_session(path)
    for number in range(50):
        await store.accept(make_queued(make_message(f"m{number}", "x" * 2000)))
    await store.close()
    content = bytearray(path.read_bytes())
    match damage:
        case "header":
            content[:100] = b"\0" * 100
        case "half":
            content = content[: len(content) // 2]
        case "noise":
            content[4096:12288] = bytes(range(256)) * 32
    path.write_bytes(content)
    database, problem = await Database.open(path)
    assert problem is not None
    [aside] = tmp_path.glob("db.broken-*")
    assert aside.read_bytes() == bytes(content)
    assert aside.name in problem
    saved = await database.load()
    # The overwritten pages lead to all the others.
    assert saved.sessions == ([] if damage == "noise" else [SESSION])
    assert (
        len((await database.messages("s")).messages)
        >= {"header": 50, "half": 20, "noise": 0}[damage]
    )
    await database.close()


async def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "db").touch()
    database, problem = await Database.open(tmp_path / "db")
    assert problem is None
    await database.close()


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=999")
    with pytest.raises(SpinneyError, match="newer version of Spinney"):
        await Database.open(path)
    assert list(tmp_path.glob("*broken*")) == []


async def test_the_file_is_private(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "db")
    assert (tmp_path / "db").stat().st_mode & 0o777 == 0o600
    await store.close()
