"""The page as people meet it: `spinney serve --demo`, a real browser, the demo agent.

All of these tests share one event loop in a process, because they share its browser. An async
fixture beside them must be made with `@pytest_asyncio.fixture(loop_scope="session")`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.contract.conftest import payload_of, program_in
from tests.page.browser import (
    DESKTOP,
    PHONE,
    Faults,
    Screen,
    launched,
    made_context,
    signed_in,
)
from tests.page.line import Line, line_to
from tests.page.person import Hands, Keys, Pointer
from tests.page.stage import Stage, staged
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket
from tests.shared_program import SharedProgram, shared, wants_its_own

OpenPage = Callable[..., Awaitable[Page]]

HERE = Path(__file__).parent

expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in the loop of the browser."""
    in_its_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(in_its_loop, append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One Chromium for all; what pages keep is apart in their contexts."""
    async with async_playwright() as playwright:
        made = await launched(playwright, str(tmp_path_factory.mktemp("chromium")))
        yield made
        await made.close()


# What is served -----------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """This test's own Spinney, not started."""
    return program_in(tmp_path)


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Serving]:
    """A `spinney serve --demo` without projects: the module's, or this test's own if it wants one.

    A module may say `served = stage` instead: the server in this process.
    """
    if not wants_its_own(request):
        yield request.getfixturevalue("shared_program").emptied()
        return
    program: Program = request.getfixturevalue("program")
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProgram]:
    """The program that the tests of a module share."""
    with shared(program_in(tmp_path_factory.mktemp("served")), "--demo") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """For modules whose `served` is this: the server in this process, with agents on strings."""
    place = program_in(tmp_path / "stage")
    for name in ("HOME", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, place.environ[name])
    async with staged(place.place) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def other(served: Serving) -> AsyncIterator[Socket]:
    """Another client of the same Spinney: `await other.call("list_projects")`, `other.event(…)`."""
    async with aiohttp.ClientSession(served.base_url) as http:
        upgrade = http.ws_connect("/ws", params={"token": served.token}, max_msg_size=0)
        yield Socket(await upgrade)


# What stands in it --------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of two files."""
    place = program_in(tmp_path / "repositories")
    root = place.place / "orchard"
    root.mkdir()
    (root / "orchard.py").write_text("def count(trees):\n    return len(trees)\n")
    (root / "README.md").write_text("# Orchard\n\nCounts apples.\n")
    return place.made_repository("orchard")


@pytest_asyncio.fixture(loop_scope="session")
async def project(other: Socket, repository: Path) -> Any:
    """A project of this test alone."""
    return await other.call("add_project", path=str(repository))


async def made_worktree(other: Socket, **asked: Any) -> Any:
    """A worktree, made as `create_worktree` is asked for, once it is ready."""
    made = await other.call("create_worktree", **asked)
    while (created := await payload_of(other, "worktree:created"))["worktree"]["id"] != made["id"]:
        pass
    return created["worktree"]


@pytest_asyncio.fixture(loop_scope="session")
async def worktree(other: Socket, project: Any) -> Any:
    """A worktree that is ready."""
    return await made_worktree(other, projectId=project["id"])


@pytest_asyncio.fixture(loop_scope="session")
async def session(other: Socket, worktree: Any) -> Any:
    """A session of the demo agent in plan mode; its words: `/demo help`."""
    return await other.call("create_session", worktreeId=worktree["id"], name="Fix the parser")


# The page -----------------------------------------------------------------------------------------


@pytest.fixture
def faults() -> Iterator[Faults]:
    """What may not happen in this test's pages; `faults.allow("…")` expects a message."""
    watched = Faults()
    yield watched
    assert not watched.unexpected, "\n".join(watched.unexpected)


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, served: Serving, faults: Faults) -> AsyncIterator[OpenPage]:
    """Opens signed-in pages, each in a browser profile of its own.

    `await open_page("/session/ID", screen=PHONE)`; `base_url` if a proxy is between the page and
    Spinney; `has_worker=True` for tests of the service worker, which loads every file of the page.
    """
    contexts = []

    async def open_one(
        place: str = "", *, screen: Screen = DESKTOP, base_url: str = "", has_worker: bool = False
    ) -> Page:
        base_url = base_url or served.base_url
        context = await made_context(
            browser, screen, base_url, has_worker=has_worker, has_motion=False
        )
        contexts.append(context)
        faults.watch(context, urlsplit(base_url).netloc)
        page = await context.new_page()
        await signed_in(page, served.token, place)
        return page

    yield open_one
    for context in contexts:
        await context.close()


@pytest.fixture(
    params=[
        pytest.param(DESKTOP, id="desktop", marks=pytest.mark.longer),
        pytest.param(PHONE, id="phone"),
    ]
)
def screen(request: pytest.FixtureRequest) -> Screen:
    """Both kinds of screen: by mouse at a desk, by touch in one hand."""
    found: Screen = request.param
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage) -> Page:
    """A page at a desk, where it starts."""
    return await open_page()


@pytest_asyncio.fixture(loop_scope="session")
async def phone(open_page: OpenPage) -> Page:
    """A page on a phone, where it starts."""
    return await open_page(screen=PHONE)


@pytest_asyncio.fixture(
    params=[
        pytest.param("mouse", marks=pytest.mark.longer),
        pytest.param("touch", marks=pytest.mark.longer),
        "keys",
    ],
    loop_scope="session",
)
async def hands(request: pytest.FixtureRequest, open_page: OpenPage) -> Hands:
    """Somebody at a page just started: by mouse at a desk, by touch on a phone, by keys."""
    page = await open_page(screen=PHONE if request.param == "touch" else DESKTOP)
    return Keys(page) if request.param == "keys" else Pointer(page, request.param == "touch")


@pytest_asyncio.fixture(loop_scope="session")
async def line(served: Serving, faults: Faults) -> AsyncIterator[Line]:
    """What stands between pages and Spinney. That it breaks is told in the console."""
    faults.allow("WebSocket connection to", "net::ERR_")
    async with line_to(served.base_url) as made:
        yield made
