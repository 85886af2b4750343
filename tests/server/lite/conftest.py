"""A signed-in browser without JavaScript, and a session whose agent can ask the user."""

from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from model.backends import agent_events
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from tests.conftest import Eventually
from tests.fakes import FakeAgent, FakeBackend
from tests.server.lite.browser import Browser
from tests.server.lite.strict_html import StrictPage

AskUser = Callable[..., Awaitable[StrictPage]]


@pytest.fixture
async def browser(server: Server, http: aiohttp.ClientSession) -> Browser:
    """A browser that is signed in."""
    made = Browser(server, http)
    await made.sign_in()
    return made


@pytest.fixture
def path(session: Session) -> str:
    return f"/lite/sessions/{session.id}"


@pytest.fixture
def ask_user(
    browser: Browser,
    backend: FakeBackend,
    session: Session,
    workspace: Workspace,
    eventually: Eventually,
) -> AskUser:
    """Makes the agent ask: `await ask_user(event)` returns the session's page."""

    async def ask(*events: agent_events.AgentEvent) -> StrictPage:
        backend.script = lambda _: events
        path = f"/lite/sessions/{session.id}"
        await browser.submit_and_follow(await browser.get_page(path), "messages", message="go")
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
        return await browser.get_page(path)

    return ask


@pytest.fixture
def agent(backend: FakeBackend, session: Session) -> Callable[[], FakeAgent]:
    """Returns the session's agent, which the first message starts."""
    return lambda: backend.agents[session.id]
