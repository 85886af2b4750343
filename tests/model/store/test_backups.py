"""Backups of the database, reports of lost data, repair, restore and export."""

import asyncio
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.base.instance import hold_lock
from model.base.paths import Directories
from model.cli.export import export_all
from model.store.backups import (
    INTERVAL,
    MAX_BACKUPS,
    DailyBackups,
    back_up,
    list_backups,
    list_kept_copies,
)
from model.store.database import Database
from model.store.repair import find_damage, repair_database, restore_backup
from model.store.schema import SCHEMA_VERSION, migrate
from tests.bench.long_session import write_messages, write_sessions

NOON = 1_800_000_000.0


@pytest.fixture
async def database(directories: Directories) -> Path:
    """A database with two sessions of six messages."""
    directories.create()
    await write_sessions(directories.database, {"one": 6, "two": 6})
    return directories.database


def copy_as_after_kill(database: Path) -> Path:
    """Copy the files as they are now, as a kill would leave them."""
    place = shutil.copytree(database.parent, database.parent.parent / "killed")
    return place / database.name


async def count(path: Path) -> int:
    opened, _ = await Database.open(path)
    pages = [await opened.messages(key) for key in ("one", "two")]
    await opened.close()
    return sum(len(page.messages) for page in pages)


async def test_a_day_has_one_backup_and_seven_are_kept(database: Path) -> None:
    problems: list[str] = []
    daily = DailyBackups(database, problems.append)
    opened, _ = await Database.open(database)
    for hour in range(24 * 10):
        if hour % 8 == 0:
            await write_messages(opened, "one", hour // 8 + 7)
        await daily.check(NOON + hour * 3600)
    found = list_backups(database)
    assert (len(found), problems) == (MAX_BACKUPS, [])
    assert [backup.at for backup in found] == [
        NOON + (9 - n) * INTERVAL for n in range(MAX_BACKUPS)
    ]
    assert {backup.path.stat().st_mode & 0o777 for backup in found} == {0o600}
    assert found[0].path.parent.stat().st_mode & 0o777 == 0o700
    assert {path.suffix for path in found[0].path.parent.iterdir()} == {".db"}
    # Nothing was written since: no new file, the newest backup only gets a later time.
    await daily.check(NOON + 20 * INTERVAL)
    before = [backup.path for backup in list_backups(database)]
    await daily.check(NOON + 21 * INTERVAL)
    assert [backup.path for backup in list_backups(database)] == before
    assert list_backups(database)[0].at == NOON + 21 * INTERVAL
    # The clock was set back: the newest may be of any day.
    await write_messages(opened, "one", 200)
    await daily.check(NOON - 5 * INTERVAL)
    assert any(backup.at == NOON - 5 * INTERVAL for backup in list_backups(database))
    await opened.close()


async def test_a_backup_made_during_writes_is_complete_and_can_be_searched(
    database: Path, directories: Directories
) -> None:
    opened, _ = await Database.open(database)
    await write_messages(opened, "two", 40)
    made = back_up(database, NOON)
    await opened.close()
    copy, problem = await Database.open(made)
    found = await copy.search("apples", ["two"], 100)
    for hit in found:
        assert (await copy.message(hit.message_id)) is not None
    assert (len(found), problem) == (20, None)
    await copy.close()


async def test_an_emptied_database_does_not_replace_full_backups(database: Path) -> None:
    opened, _ = await Database.open(database)
    for number in range(30):
        await write_messages(opened, "one", 1 + number % 2)
    await opened.close()
    full = back_up(database, NOON)
    database.write_bytes(b"")
    opened, _ = await Database.open(database)
    for day in range(1, 12):
        await opened.write([("INSERT INTO documents VALUES (?, '', '')", (f"x{day}",))])
        await DailyBackups(database, print).check(NOON + day * INTERVAL)
    await opened.close()
    assert len(list_backups(database)) == MAX_BACKUPS + 1
    assert full.exists()


async def test_a_damaged_database_is_reported_and_not_backed_up(database: Path) -> None:
    content = bytearray(database.read_bytes())
    content[4096 * 3 : 4096 * 5] = bytes(8192)
    database.write_bytes(content)
    problems: list[str] = []
    daily = DailyBackups(database, problems.append)
    await daily.check(NOON)
    await daily.check(NOON)
    [problem] = problems
    assert "is damaged" in problem and "spinney doctor --repair" in problem
    assert list_backups(database) == []


@pytest.mark.parametrize("loss", ["empty", "removed", "no journal"])
async def test_lost_data_is_reported_once_with_the_backup(database: Path, loss: str) -> None:
    backup = back_up(database, NOON)
    opened, _ = await Database.open(database)
    early = database.read_bytes()
    await write_messages(opened, "one", 40)
    if loss == "no journal":
        backup = back_up(database, NOON + 60)
    database = copy_as_after_kill(database)
    await opened.close()
    database.with_name(f"{database.name}-wal").unlink()
    match loss:
        case "empty":
            database.write_bytes(b"")
        case "removed":
            database.unlink()
        case "no journal":
            database.write_bytes(early)
    again, problem = await Database.open(database)
    assert problem is not None and backup.name in problem and "--restore" in problem
    assert ("missing or empty" in problem) == (loss != "no journal")
    await again.close()
    again, problem = await Database.open(database)
    assert problem is None
    await again.close()


async def test_a_start_without_loss_reports_nothing(
    database: Path, directories: Directories
) -> None:
    opened, _ = await Database.open(database)
    await write_messages(opened, "one", 10)
    database = copy_as_after_kill(database)
    await opened.close()
    # Another program opens it and writes the journal into the file.
    with sqlite3.connect(database) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    again, problem = await Database.open(database)
    assert problem is None
    await again.write([("DELETE FROM messages WHERE id = 'one-000001'", ())])
    await again.close()
    # An older program does not update the commit count.
    with sqlite3.connect(database) as older:
        older.execute("DELETE FROM messages WHERE id = 'one-000002'")
    older.close()
    again, problem = await Database.open(database)
    assert problem is None
    await again.close()
    # A file moved from elsewhere has no marker beside it.
    (directories.data / "moved").mkdir()
    database.rename(directories.data / "moved" / "spinney.db")
    again, problem = await Database.open(directories.data / "moved" / "spinney.db")
    assert problem is None
    await again.close()


async def test_a_restored_backup_is_not_reported_as_a_loss_and_the_earlier_file_is_kept(
    database: Path, directories: Directories
) -> None:
    back_up(database, NOON - INTERVAL)
    newest = back_up(database, NOON)
    opened, _ = await Database.open(database)
    await write_messages(opened, "one", 40)
    await opened.close()
    with pytest.raises(SpinneyError, match="No backup named 'x'"):
        restore_backup(directories, "x")
    with hold_lock(directories.lock), pytest.raises(SpinneyError, match="already running"):
        restore_backup(directories, newest.name)
    message = restore_backup(directories, "")
    [before] = list_kept_copies(database)
    assert before.name in message
    opened, problem = await Database.open(database)
    assert problem is None
    await opened.close()
    assert (await count(database), await count(before)) == (12, 46)


async def test_repair_keeps_a_copy_and_takes_unreadable_rows_from_the_backup(
    database: Path, directories: Directories
) -> None:
    assert "Nothing was changed" in repair_database(directories)
    back_up(database, NOON)
    opened, _ = await Database.open(database)
    await write_messages(opened, "two", 8)
    await opened.write([("DELETE FROM documents WHERE id = 'one'", ())])
    await opened.close()
    with sqlite3.connect(database) as harm:
        harm.execute(
            "UPDATE blocks SET body = '{' WHERE message_id IN ('two-000000', 'two-000007')"
        )
        harm.execute("UPDATE documents SET body = '{' WHERE id = 'two'")
    harm.close()
    assert "rows cannot be read" in find_damage(database)
    with hold_lock(directories.lock), pytest.raises(SpinneyError, match="already running"):
        repair_database(directories)
    report = repair_database(directories)
    [before] = list_kept_copies(database)
    assert before.name in report and "from the backup of" in report
    assert (find_damage(database), find_damage(before) != "") == ("", True)
    opened, problem = await Database.open(database)
    saved = await opened.load()
    assert (problem, saved.damage) == (None, "")
    assert [(s.id, s.name) for s in saved.sessions] == [("two", "6 messages")]
    messages = (await opened.messages("two")).messages
    damaged = [m.id for m in messages if any(b.type == "unreadable" for b in m.content)]
    assert (len(messages), damaged) == (8, ["two-000007"])  # it is newer than the backup
    await opened.close()


async def test_an_export_contains_everything_that_can_be_read(
    database: Path, directories: Directories, tmp_path: Path
) -> None:
    opened, _ = await Database.open(database)
    await opened.write([("UPDATE documents SET body = '{' WHERE id = 'one'", ())])
    rewound = "UPDATE messages SET body = json_set(body, '$.rewound', json('true')) WHERE id = ?"
    await opened.write([(rewound, ("two-000000",))])
    message = await _export(database, tmp_path / "out")
    await opened.close()
    assert "(2 with 12 messages)" in message
    lines = [json.loads(line) for line in (tmp_path / "out" / "spinney.jsonl").open()]
    assert [line["kind"] for line in lines].count("message") == 12
    files = sorted((tmp_path / "out" / "orchard" / "calm-otter").iterdir())
    [lost] = sorted((tmp_path / "out" / "unreadable-project").glob("*/*.md"))
    assert [path.name for path in files] == ["6-messages-two.md"]
    text = files[0].read_text()
    assert (
        text.index("Question 0: why?")
        < text.index("visits every tree once")
        < text.index("Question 2")
    )
    assert text.count(", rewound\n") == 1
    assert "Question 4" in lost.read_text()
    assert lost.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SpinneyError, match="already"):
        await _export(database, tmp_path / "out")


async def test_a_truncated_file_can_be_exported(database: Path, tmp_path: Path) -> None:
    content = database.read_bytes()
    database.write_bytes(content[: len(content) // 2])
    message = await _export(database, tmp_path / "out")
    assert "(2 with" in message
    assert database.read_bytes() == content[: len(content) // 2]


async def _export(database: Path, to: Path) -> str:
    return await asyncio.to_thread(export_all, database, to)


async def test_an_interrupted_migration_loses_nothing_and_an_older_file_is_copied_first(
    directories: Directories,
) -> None:
    directories.create()
    path = directories.database
    await write_sessions(path, {"one": 40, "two": 0})
    with sqlite3.connect(path) as older:
        older.executescript("DROP TRIGGER words_forgotten; DROP TABLE words")
        older.execute("PRAGMA user_version=1")
    older.close()
    interrupted = sqlite3.connect(path, isolation_level=None)
    interrupted.set_progress_handler(lambda: 1, 500)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        migrate(interrupted, path)
    interrupted.set_progress_handler(None, 0)
    assert interrupted.execute("PRAGMA user_version").fetchone() == (1,)
    assert interrupted.execute("SELECT count(*) FROM messages").fetchone() == (40,)
    interrupted.close()
    before = list_backups(path)[0].path
    with sqlite3.connect(before) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (1,)
    copy.close()
    opened, problem = await Database.open(path)
    assert problem is None
    assert len(await opened.search("apples", None, 100)) == 20
    await opened.close()


async def test_an_older_program_leaves_a_newer_database_alone_and_says_what_to_do(
    database: Path, directories: Directories
) -> None:
    back_up(database, NOON)
    with sqlite3.connect(database) as newer:
        newer.execute("CREATE TABLE of_tomorrow (x)")
        newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    newer.close()
    content = database.read_bytes()
    for attempt in (Database.open(database), asyncio.to_thread(repair_database, directories)):
        with pytest.raises(SpinneyError, match=r"newer version.*Update Spinney.*--restore"):
            await attempt
    assert (database.read_bytes(), list_kept_copies(database)) == (content, [])
    restore_backup(directories, "")
    assert list_kept_copies(database)[0].read_bytes() == content
    assert await count(database) == 12


async def test_damage_is_reported_by_the_daily_backup_and_repaired_from_an_older_one(
    database: Path, directories: Directories
) -> None:
    back_up(database, NOON)
    with sqlite3.connect(database) as harm:
        harm.execute("UPDATE blocks SET body = '{' WHERE message_id = 'two-000000'")
    harm.close()
    problems: list[str] = []
    opened, _ = await Database.open(database)
    await write_messages(opened, "one", 8)
    await DailyBackups(database, problems.append).check(NOON + INTERVAL)
    await opened.close()
    assert len(list_backups(database)) == 2
    assert "are damaged (1)" in problems[0] and "doctor --repair" in problems[0]
    # Each start reports it once, even if no backup is due.
    again = DailyBackups(database, problems.append)
    await again.check(NOON + INTERVAL + 1)
    await again.check(NOON + INTERVAL + 2)
    assert problems[1:] == problems[:1]
    # A damaged backup is skipped.
    junk = back_up(database, NOON + INTERVAL + 60)
    junk.write_bytes(b"junk" * 5000)
    assert "from the backup of" in repair_database(directories)
    opened, _ = await Database.open(database)
    assert (await opened.messages("two")).messages[0].content[0].type == "text"
    await opened.close()
