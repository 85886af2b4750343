"""Somebody without JavaScript who has signed in, and a session that may ask them something."""

from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from model.backends import base
from model.domain.resources import Session
from model.runtime.workspace import Workspace
from server.app import Server
from tests.conftest import Eventually
from tests.fakes import FakeAgent, FakeBackend
from tests.server.lite.browser import Browser
from tests.server.lite.strict_html import Read

Waiting = Callable[..., Awaitable[Read]]


@pytest.fixture
async def browser(server: Server, http: aiohttp.ClientSession) -> Browser:
    """Signed in."""
    made = Browser(server, http)
    await made.sign_in()
    return made


@pytest.fixture
def path(session: Session) -> str:
    return f"/lite/sessions/{session.id}"


@pytest.fixture
def waiting(
    browser: Browser,
    backend: FakeBackend,
    session: Session,
    workspace: Workspace,
    eventually: Eventually,
) -> Waiting:
    """`await waiting(event)`: the session's page once its agent has asked this."""

    async def ask(*events: base.AgentEvent) -> Read:
        backend.script = lambda _: events
        path = f"/lite/sessions/{session.id}"
        await browser.done(await browser.see(path), "messages", message="go")
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
        return await browser.see(path)

    return ask


@pytest.fixture
def agent(backend: FakeBackend, session: Session) -> Callable[[], FakeAgent]:
    """The session's agent, once it was spoken to."""
    return lambda: backend.agents[session.id]
