"""Search in messages, with any query."""

import asyncio
import sqlite3

import pytest

from model.api.search import SearchHit
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands.search import search_messages
from model.commands.sessions import (
    archive_session,
    delete_session,
    remove_queued_message,
    send_chat_message,
)
from model.domain.events.projects import ProjectAdded
from model.domain.projects import Project
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from model.store.database import Database
from tests import fakes
from tests.conftest import Eventually
from tests.fakes import FakeBackend


async def _send(
    workspace: Workspace, session: Session, eventually: Eventually, *texts: str
) -> None:
    for text in texts:
        await send_chat_message(workspace, session.id, text)
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")


async def _search(workspace: Workspace, query: str, **options: object) -> list[SearchHit]:
    return await search_messages(workspace, query, **options)  # type: ignore[arg-type]


async def test_messages_of_user_and_agent_are_found_newest_first(
    workspace: Workspace, session: Session, eventually: Eventually
) -> None:
    await _send(workspace, session, eventually, "count the apples", "count the pears")
    hits = await _search(workspace, "count")
    assert [hit.role for hit in hits] == ["assistant", "user", "assistant", "user"]
    assert "pears" in hits[0].snippet
    assert hits[0].session.id == session.id
    assert hits[0].timestamp >= hits[-1].timestamp


async def test_all_words_must_match_and_the_last_may_be_a_prefix(
    workspace: Workspace, session: Session, eventually: Eventually
) -> None:
    await _send(workspace, session, eventually, "Grüße aus dem Obstgarten", "Grüße vom Strand")
    assert len(await _search(workspace, "grusse obst")) == 0
    assert len(await _search(workspace, "GRÜßE Obst")) == 2
    assert len(await _search(workspace, "Obst Grüße")) == 0
    assert len(await _search(workspace, "grüße")) == 4


@pytest.mark.parametrize(
    "query",
    [
        '"', "'", '" OR "', "apples AND", "NOT apples", "NEAR(apples", "text:apples", "(", ")", "*",
        "^apples", "apples*", "-apples", "a\0b", "{x}: y", "; DROP TABLE words", "\\", "%", "",
        "🍎", "a" * 100_000, "a " * 10_000,
    ],
)  # fmt: skip
async def test_no_query_is_an_error(
    query: str, workspace: Workspace, session: Session, eventually: Eventually
) -> None:
    await _send(workspace, session, eventually, "apples")
    assert isinstance(await _search(workspace, query), list)
    assert len(await _search(workspace, "apples")) == 2


async def test_a_project_and_a_limit_restrict_the_results(
    workspace: Workspace, session: Session, project: Project, eventually: Eventually
) -> None:
    await _send(workspace, session, eventually, "apples", "more apples")
    assert len(await _search(workspace, "apples", project_id=project.id)) == 4
    assert len(await _search(workspace, "apples", limit=1)) == 1
    other = project.model_copy(update={"id": "other", "path": "/elsewhere"})
    await workspace.store.accept(ProjectAdded(project=other))
    assert await _search(workspace, "apples", project_id="other") == []
    with pytest.raises(SpinneyError, match="Project not found: nowhere"):
        await _search(workspace, "apples", project_id="nowhere")
    with pytest.raises(SpinneyError, match="Invalid field 'limit'"):
        await _search(workspace, "apples", limit=0)


async def test_deleted_messages_are_not_found_and_archived_ones_are(
    workspace: Workspace, session: Session, eventually: Eventually
) -> None:
    await _send(workspace, session, eventually, "apples")
    await archive_session(workspace, session.id)
    assert len(await _search(workspace, "apples")) == 2
    await delete_session(workspace, session.id)
    assert await _search(workspace, "apples") == []


async def test_a_queued_message_is_found_until_it_is_removed(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    backend.script = fakes.silence
    await send_chat_message(workspace, session.id, "first")
    waiting = await send_chat_message(workspace, session.id, "then apples")
    assert [hit.message_id for hit in await _search(workspace, "apples")] == [waiting.message_id]
    await remove_queued_message(workspace, session.id, waiting.message_id)
    assert await _search(workspace, "apples") == []


async def test_messages_of_an_older_database_are_found_after_the_upgrade(
    workspace: Workspace, session: Session, eventually: Eventually, directories: Directories
) -> None:
    await _send(workspace, session, eventually, "old apples")
    await workspace.stop()
    await asyncio.to_thread(_downgrade_to_version_1, directories)
    database, _ = await Database.open(directories.database)
    try:
        assert len(await database.search("apples", None, 10)) == 2
    finally:
        await database.close()


def _downgrade_to_version_1(directories: Directories) -> None:
    file = sqlite3.connect(directories.database)
    file.executescript("DROP TRIGGER words_forgotten; DROP TABLE words; PRAGMA user_version=1;")
    file.close()
