"""The JSON of lists of sessions, which is kept from one list to the next."""

import gc

import pytest
from pydantic import TypeAdapter

from model.domain.requests import Request
from model.domain.sessions import Session
from server import session_json
from server.session_json import SessionJson
from server.wire import dump_result

LIST = TypeAdapter(list[Session])


def make_sessions(*names: str, **fields: object) -> list[Session]:
    return [
        Session.model_validate(
            {"id": name, "worktree_id": "w", "name": name, "created_at": 1, **fields}
        )
        for name in names
    ]


def test_a_list_is_the_same_as_if_it_were_encoded_whole_also_after_changes() -> None:
    encoder = SessionJson()
    sessions = make_sessions("a", "b", "\N{PILE OF POO}")
    for _ in range(3):
        assert encoder.dump(sessions) == LIST.dump_json(sessions)
    sessions[1] = sessions[1].model_copy(update={"name": "renamed", "archived_at": 5.0})
    assert encoder.dump(sessions) == LIST.dump_json(sessions)
    assert encoder.dump([]) == b"[]"


def test_a_new_session_in_the_place_of_a_freed_one_has_its_own_json() -> None:
    encoder = SessionJson()
    for number in range(300):
        sessions = make_sessions(f"number {number}")
        assert encoder.dump(sessions) == LIST.dump_json(sessions)
        del sessions
        gc.collect(0)


def test_neither_more_sessions_than_the_limit_nor_long_ones_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_json, "_MAX_SESSIONS", 3)
    encoder = SessionJson()
    sessions = make_sessions(*map(str, range(10)))
    assert encoder.dump(sessions) == LIST.dump_json(sessions)
    plan = Request(id="r", kind="plan", plan="x" * 10_000)
    long = make_sessions("long", request=plan)
    assert encoder.dump(long) == LIST.dump_json(long)
    assert 0 < len(encoder._known) <= 3
    assert id(long[0]) not in encoder._known


def test_invalid_unicode_of_one_session_is_replaced() -> None:
    sessions = make_sessions("good", "bad")
    sessions[1] = sessions[1].model_copy(update={"name": "\ud800"})
    answer = dump_result(LIST, sessions).decode()
    assert '"good"' in answer
    assert "\\ud800" not in answer.lower()
