"""Answers of services are read in a worker thread: their texts are of others, and may be long."""

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.hosting import fields
from model.hosting.github import api, pull_requests
from model.hosting.gitlab.answers import Answer
from model.hosting.linear import Linear
from tests.model.hosting.conftest import FakeGh
from tests.model.hosting.linear_stub import KEY, LinearStub

HIDDEN = '{"data": {"text": "a\\u200b"}}'
SHOWN = {"data": {"text": "a<U+200B>"}}
NESTED = "[" * 100_000


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> set[threading.Thread]:
    """The threads in which texts were made visible."""
    found: set[threading.Thread] = set()
    make_visible = fields.make_json_visible

    def note(value: object) -> object:
        found.add(threading.current_thread())
        return make_visible(value)

    monkeypatch.setattr(fields, "make_json_visible", note)
    return found


async def test_json_is_made_visible_and_other_text_is_nothing(
    threads: set[threading.Thread],
) -> None:
    assert await fields.read_json(HIDDEN) == SHOWN
    assert threads and threading.current_thread() not in threads
    assert await fields.read_json("{") is None
    assert await fields.read_json(NESTED) is None


async def _ask_linear(_: Path) -> None:
    stub = LinearStub()
    async with stub.running():
        await Linear(stub.endpoint).list_teams(KEY)


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: api.query(path, "github.com", "query Otters { x }"),
        lambda _: api.RestAnswer(200, body=HIDDEN).parse(),
        lambda path: api.find_repository(path, "ada/engine"),
        lambda path: pull_requests.fetch_pull_request_state(path, 7),
        lambda _: Answer(200, HIDDEN).parse(dict),
        _ask_linear,
    ],
    ids=["query", "request", "repository", "state", "gitlab", "linear"],
)
async def test_every_answer_is_read_off_the_event_loop(
    ask: Callable[[Path], Awaitable[object]],
    fake_gh: FakeGh,
    threads: set[threading.Thread],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fake_gh.set_result("Otters", f"HTTP/2.0 200 OK\n\n{HIDDEN}")
    await ask(tmp_path)
    assert threads and threading.current_thread() not in threads
