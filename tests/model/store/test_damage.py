"""Opening damaged databases: damaged data is marked in its place, and a copy is kept."""

import asyncio
import os
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from model.agents.catalog import Catalog
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands.doctor import get_problems
from model.commands.projects import remove_project
from model.commands.sessions import delete_session, get_session
from model.domain.messages import TextBlock, UnreadableBlock
from model.domain.turns import Turn, make_turn_id
from model.domain.usage import TurnUsage, Usage
from model.runtime.workspace import Workspace
from model.store.backups import list_kept_copies
from model.store.database import Database
from model.store.repair import repair_database
from model.store.rows import document_row
from model.store.usage_queries import UsageSelection, read_usage
from model.store.usage_rows import usage_rows
from tests.bench.long_session import write_messages, write_sessions
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository

FLIPS = 60
"""Number of files with 64 random bytes in them."""
MESSAGES = {"one": 40, "two": 12, "three": 60}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a database with sessions, messages and a search index."""
    path = tmp_path_factory.mktemp("whole") / "db"
    asyncio.run(write_sessions(path, MESSAGES))
    return path.read_bytes()


async def read_all(database: Database) -> int:
    """Read everything that clients can request; return the number of messages."""
    saved = await database.load()
    worktrees = {worktree.id: worktree for worktree in saved.worktrees}
    projects = {project.id for project in saved.projects}
    assert all(session.worktree_id in worktrees for session in saved.sessions)
    assert all(worktree.project_id in projects for worktree in worktrees.values())
    found = 0
    for session in saved.sessions:
        page = await database.messages(session.id, limit=200)
        found += len(page.messages)
        for message in page.messages:
            alone = await database.message(message.id)
            # A search in a damaged page may end elsewhere from another place.
            is_damaged = any(b.type == "unreadable" for b in (alone or message).content)
            assert alone in (message, None) or is_damaged
    await database.search("apples", None, 50)
    if saved.damage:
        assert "kept as" in await database.back_up_and_repair(saved)
    return found


def damage(path: Path, *statements: str) -> None:
    """Damage the file with SQL statements."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.few(1)
@pytest.mark.parametrize("tens", range(FLIPS // 10))
async def test_a_file_with_random_damage_opens_and_reports_the_loss(
    tmp_path: Path, whole: bytes, tens: int
) -> None:
    for seed in range(tens * 10, tens * 10 + 10):
        (tmp_path / str(seed)).mkdir()
        await _check_with_flips(tmp_path / str(seed) / "db", whole, seed)


async def _check_with_flips(path: Path, whole: bytes, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(whole)
    # Every tenth file is damaged in the first page, which holds the schema.
    offset = chance.randrange(4096 if seed % 10 == 0 else len(content) - 64)
    content[offset : offset + 64] = chance.randbytes(64)
    path.write_bytes(content)
    database, problem = await Database.open(path)
    found = await read_all(database)
    assert found == sum(MESSAGES.values()) or problem is not None
    assert problem is None or list_kept_copies(path)[0].name in problem
    assert len(list_kept_copies(path)) < 3
    await database.close()
    # Damage is reported once: the next start reports nothing.
    database, problem = await Database.open(path)
    assert (problem, (await database.load()).damage) == (None, "")
    assert await read_all(database) == found
    await database.close()


async def test_a_damaged_block_keeps_its_place(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    key = "one-000003"
    database, _ = await Database.open(path)
    before = (await database.message(key)) or pytest.fail("the message is missing")
    await database.close()
    damage(
        path,
        f"UPDATE blocks SET body = replace(body, 'counted', char(10)) WHERE message_id = '{key}'"
        " AND json_extract(body, '$.type') = 'text'",
    )
    database, _ = await Database.open(path)
    after = (await database.message(key)) or pytest.fail("the message is missing")
    [at] = [n for n, block in enumerate(after.content) if isinstance(block, UnreadableBlock)]
    assert isinstance(before.content[at], TextBlock)
    left = after.content[at]
    assert isinstance(left, UnreadableBlock) and "The loop in `count_3`" in left.text
    assert "the fence keeps the order" in left.text
    others = [n for n in range(len(before.content)) if n != at]
    assert [after.content[n] for n in others] == [before.content[n] for n in others]
    assert len((await database.messages("one", limit=100)).messages) == MESSAGES["one"]
    assert await database.search("apples", ["one"], 100)
    await database.close()


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE messages SET body = '{oops' WHERE id = 'one-000003'",
        "UPDATE messages SET body = CAST(x'7bff7d' AS TEXT) WHERE id = 'one-000003'",
        "UPDATE messages SET body = x'00' WHERE id = 'one-000003'",
        "UPDATE messages SET body = '[7]' WHERE id = 'one-000003'",
        'UPDATE blocks SET body = \'{"type": "text", "text": 5}\''
        " WHERE message_id = 'one-000003'",
        "UPDATE blocks SET body = '' WHERE message_id = 'one-000003'",
        "DELETE FROM blocks WHERE message_id = 'one-000003' AND place = 0",
    ],
)
async def test_a_damaged_message_stays_in_its_session(
    tmp_path: Path, whole: bytes, harm: str
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    damage(path, harm)
    database, problem = await Database.open(path)
    assert problem is None
    page = await database.messages("one", limit=100)
    assert len(page.messages) == MESSAGES["one"]
    message = page.messages[3]
    assert message.id == "one-000003" and message.content
    assert "UPDATE messages" in harm or isinstance(message.content[0], UnreadableBlock)
    assert [m.id for m in page.messages] == [f"one-{n:06d}" for n in range(MESSAGES["one"])]
    await read_all(database)
    await database.close()


@pytest.mark.parametrize("is_repaired", [False, True])
@pytest.mark.parametrize("body", ["{oops", "[7]", '{"role": "user", "time'])
async def test_a_message_whose_row_is_damaged_says_so_and_keeps_role_and_time(
    tmp_path: Path, whole: bytes, body: str, is_repaired: bool
) -> None:
    directories = Directories(tmp_path, tmp_path, tmp_path)
    path = directories.database
    path.write_bytes(whole)
    database, _ = await Database.open(path)
    before = (await database.messages("one", limit=100)).messages
    of_user, of_agent = (
        next(n for n, one in enumerate(before) if n and one.role == role)
        for role in ("user", "assistant")
    )
    began = Turn(
        id=make_turn_id("one", 1), session_id="one", worktree_id="w", number=1,
        message_id=before[of_user].id, prompt="", started_at=before[of_user].timestamp,
    )  # fmt: skip
    await database.write([document_row("turn", began.id, began)])
    await database.close()
    chosen = [before[of_user].id]
    if "role" not in body:
        chosen.append(before[of_agent].id)
    names = ", ".join(f"'{key}'" for key in chosen)
    damage(path, f"UPDATE messages SET body = '{body}' WHERE id IN ({names})")
    if is_repaired and not body.startswith("["):
        repair_database(directories)
    database, _ = await Database.open(path)
    after = (await database.messages("one", limit=100)).messages
    for was, now in zip(before, after, strict=True):
        assert (now.id, now.role) == (was.id, was.role)
        if was.id in chosen:
            assert now.content == [*was.content, UnreadableBlock(part="message")]
        else:
            assert now == was
    assert after[of_user].timestamp == before[of_user].timestamp
    assert before[of_agent - 1].timestamp <= after[of_agent].timestamp
    assert after[of_agent].timestamp <= before[of_agent].timestamp
    await database.close()


@pytest.mark.parametrize(
    ("harm", "is_right"),
    [
        ("DROP TABLE blocks", lambda saved: len(saved.sessions) == 3),
        ("DROP TABLE messages", lambda saved: len(saved.sessions) == 3),
        ("DROP TABLE words", lambda saved: len(saved.sessions) == 3),
        ("DROP TABLE documents", lambda saved: len(saved.sessions) == 3),
        ("PRAGMA user_version=0", lambda saved: len(saved.sessions) == 3),
        ("PRAGMA user_version=1", lambda saved: len(saved.sessions) == 3),
        ("PRAGMA user_version=-7", lambda saved: len(saved.sessions) == 3),
        ("DELETE FROM words_data", lambda saved: len(saved.sessions) == 3),
        ("DROP TABLE turn_usage", lambda saved: len(saved.sessions) == 3),
        ("DROP TABLE daily_usage", lambda saved: len(saved.sessions) == 3),
    ],
)
async def test_missing_tables_rows_and_versions_lose_only_themselves(
    tmp_path: Path, whole: bytes, harm: str, is_right: Callable[[object], bool]
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    damage(path, harm)
    database, problem = await Database.open(path)
    assert is_right(await database.load())
    lost = harm.startswith("DROP TABLE") and not harm.endswith((" words", " daily_usage"))
    assert (problem is not None) == (lost or "-7" in harm)
    await database.write([("DELETE FROM messages WHERE id = 'one-000003'", ())])
    await read_all(database)
    await database.close()


async def test_what_turns_used_is_rescued_from_a_damaged_file_with_its_sums(
    tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    turn = TurnUsage(
        id="t", backend="b", account="b", started_at=1, ended_at=2, day="2026-11-27",
        usage=Usage(output_tokens=7), cost_usd=0.5, cost_source="reported",
    )  # fmt: skip
    database, _ = await Database.open(path)
    await database.write(usage_rows(turn))
    await database.close()
    damage(path, "DROP TABLE blocks")
    database, problem = await Database.open(path)
    assert problem is not None
    [total] = await read_usage(database, UsageSelection())
    assert (total.turns, total.usage, total.cost_usd) == (1, turn.usage, 0.5)
    await database.close()
    damage(path, "DROP TABLE daily_usage")
    database, problem = await Database.open(path)
    assert problem is None
    assert await read_usage(database, UsageSelection()) == [total]
    await database.close()


async def test_damaged_projects_worktrees_and_sessions_keep_their_places(
    tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    damage(
        path,
        "UPDATE documents SET body = '{oops' WHERE id = 'two'",
        'UPDATE documents SET body = replace(body, \'"execution_mode":"\', \'"execution_mode":\')'
        " WHERE id = 'three'",
        "DELETE FROM documents WHERE kind = 'worktree'",
    )
    database, _ = await Database.open(path)
    saved = await database.load()
    sessions = {session.id: session for session in saved.sessions}
    assert sessions["two"].name == "unreadable session"
    assert sessions["three"].name == "60 messages"
    assert sessions["three"].worktree_id == "w"
    assert {worktree.name for worktree in saved.worktrees} == {"unreadable worktree"}
    assert "'unreadable session'" in saved.damage and "60 messages" in saved.damage
    report = await database.back_up_and_repair(saved)
    assert list_kept_copies(path)[0].name in report
    with sqlite3.connect(list_kept_copies(path)[0]) as kept:
        [body] = kept.execute("SELECT body FROM documents WHERE id = 'two'").fetchone()
    assert body == "{oops"
    assert (await database.load()).damage == ""
    await database.close()


async def test_a_damaged_search_index_refuses_no_message_and_is_rebuilt(
    tmp_path: Path, whole: bytes
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    database, _ = await Database.open(path)
    damage(path, "UPDATE words_data SET block = x'ffffffffff'")
    with pytest.raises(SpinneyError, match=r"nothing can be searched.*doctor --repair"):
        await database.search("apples", None, 100)
    await write_messages(database, "two", 14)
    assert len((await database.messages("two")).messages) == 14
    assert len(await database.search("apples", ["two"], 100)) == 7
    await database.close()


async def test_damage_while_spinney_runs_is_a_readable_error(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)
    database, _ = await Database.open(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(len(whole) - 4096))
    with pytest.raises(SpinneyError, match=r"this conversation cannot be read.*doctor --repair"):
        await database.messages("one")
    with pytest.raises(SpinneyError, match="doctor --repair"):
        await database.write([("DELETE FROM messages WHERE id = 'one-000003'", ())])
    await database.close()


async def test_spinney_starts_with_orphaned_rows_and_finds_their_repository(
    directories: Directories, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    repository = Repository(tmp_path / "orchard")
    repository.root.mkdir()
    repository.git("init", "--quiet")
    repository.commit("read.me", "apples\n")
    tree = tmp_path / "calm-otter"
    repository.git("worktree", "add", "--quiet", str(tree))
    directories.create()
    await write_sessions(directories.database, MESSAGES)
    damage(
        directories.database,
        "UPDATE documents SET body = json_set(body, '$.path', '" + str(tree) + "')"
        " WHERE kind = 'worktree'",
        "DELETE FROM documents WHERE kind = 'project'",
        "UPDATE documents SET body = '' WHERE id = 'two'",
    )
    workspace = Workspace(directories, {"demo": FakeBackend()}, Catalog())
    await workspace.start()
    problem, *_ = await get_problems(workspace)
    assert "the project 'orchard'" in problem and "kept as" in problem
    state = workspace.store.state
    assert (state.projects["p"].path, state.projects["p"].name) == (str(repository.root), "orchard")
    lost = state.sessions["two"]
    assert (lost.name, state.worktrees[lost.worktree_id].name) == (
        "unreadable session",
        "unreadable worktree",
    )
    assert (await get_session(workspace, "two")).messages
    await workspace.poller.refresh_and_wait(["w", lost.worktree_id])
    # Recovered sessions and projects can be deleted.
    await delete_session(workspace, "two")
    await remove_project(workspace, state.worktrees[lost.worktree_id].project_id)
    assert lost.worktree_id not in workspace.store.state.worktrees
    await workspace.stop()
    assert [record for record in caplog.records if record.exc_info] == []


async def test_the_error_for_a_read_only_database_says_what_to_do(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "db"
    path.write_bytes(whole)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "not yours")

    monkeypatch.setattr(Path, "chmod", refuse)
    database, problem = await Database.open(path)  # owned by another user, who shares it
    assert problem is None
    await database.close()
    access = os.access
    monkeypatch.setattr(os, "access", lambda place, how: place != path and access(place, how))
    with pytest.raises(SpinneyError, match=r"no write access to .*db.*chown"):
        await Database.open(path)
    assert path.read_bytes()[4096:] == whole[4096:] and not list_kept_copies(path)


async def test_a_damaged_message_is_among_the_problems_while_it_is_damaged(
    directories: Directories, whole: bytes
) -> None:
    path = directories.database
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole)
    workspace = Workspace(directories, {"demo": FakeBackend()}, Catalog())
    await workspace.start()
    before = await get_problems(workspace)
    damage(path, "UPDATE messages SET body = '{oops' WHERE id IN ('one-000003', 'one-000004')")
    name = workspace.store.state.sessions["one"].name
    [problem] = [each for each in await get_problems(workspace) if each not in before]
    assert problem.startswith(f"2 messages of the session '{name}' cannot be read completely")
    await workspace.stop()
