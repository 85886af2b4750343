"""Fixtures for tests of the page: `spinney serve --demo`, a real browser, the demo agent.

All of these tests share one event loop in a process, because they share its browser. Their async
fixtures must be declared with `@pytest_asyncio.fixture(loop_scope="session")`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect
from playwright.async_api import Error as PlaywrightError

from tests.contract.conftest import make_program, receive_payload
from tests.page.browser import (
    DESKTOP,
    PHONE,
    PageErrors,
    PagePool,
    Screen,
    create_context,
    launch_browser,
    sign_in,
    wait_until_connected,
)
from tests.page.in_process import InProcessServer, serve_in_process
from tests.page.proxy import Proxy, run_proxy
from tests.page.user_input import Keyboard, Pointer, UserInput
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.program import Program, Serving
from tests.server.conftest import Socket
from tests.shared_program import SharedProgram, needs_own_program, share_program

OpenPage = Callable[..., Awaitable[Page]]

HERE = Path(__file__).parent

HAS_FAILED = pytest.StashKey[bool]()

IS_DRAWN = """new Promise((resolve) => {
  requestAnimationFrame(() => resolve(true));
  setTimeout(resolve, 1000, false);
})"""

expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in the event loop of the browser."""
    in_session_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(in_session_loop, append=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[HAS_FAILED] = item.stash.get(HAS_FAILED, False) or report.failed
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One Chromium for all tests; their browser contexts are isolated."""
    async with async_playwright() as playwright:
        launched = await launch_browser(playwright, str(tmp_path_factory.mktemp("chromium")))
        yield launched
        await launched.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pages(browser: Browser) -> PagePool:
    """The pages that tests use one after another."""
    return PagePool(browser)


# Servers ------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """This test's own Spinney, not started."""
    return make_program(tmp_path)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Serving]:
    """A `spinney serve --demo` without projects: the shared one, or the test's own if it needs one.

    A module can override it with `in_process_server`.
    """
    if not needs_own_program(request):
        yield request.getfixturevalue("shared_program").reset()
        return
    program: Program = request.getfixturevalue("program")
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture(scope="session")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedProgram]:
    """The program shared by all tests of a process, whose browser contexts have its files."""
    with share_program(make_program(tmp_path_factory.mktemp("served")), "--demo") as shared:
        yield shared


@pytest.fixture(scope="session")
def usual_port() -> int:
    """The port of one server in process after another; kept contexts have its files."""
    return find_free_port()


@pytest_asyncio.fixture(loop_scope="session")
async def in_process_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usual_port: int
) -> AsyncIterator[InProcessServer]:
    """A server in this process whose agents the test controls.

    For modules whose fixture `server` returns it.
    """
    program = make_program(tmp_path / "place")
    for name in ("HOME", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, program.environ[name])
    async with serve_in_process(program.place, usual_port) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Serving) -> AsyncIterator[Socket]:
    """A WebSocket client of the server: `await client.call("list_projects")`, `client.event(…)`."""
    params = {"token": server.token}
    async with (
        aiohttp.ClientSession(server.base_url) as http,
        http.ws_connect("/ws", params=params, max_msg_size=0) as socket,
    ):
        staying = asyncio.create_task(stay_connected(socket))
        yield Socket(socket)
        staying.cancel()


async def stay_connected(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Send a sign of life often: the server's pings are answered only while the test receives."""
    while True:
        await asyncio.sleep(10)
        await socket.pong()


# Projects, worktrees, sessions --------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit of two files."""
    program = make_program(tmp_path / "repositories")
    root = program.place / "orchard"
    root.mkdir()
    (root / "orchard.py").write_text("def count(trees):\n    return len(trees)\n")
    (root / "README.md").write_text("# Orchard\n\nCounts apples.\n")
    return program.make_repository("orchard")


@pytest_asyncio.fixture(loop_scope="session")
async def project(client: Socket, repository: Path) -> Any:
    """A project of `repository`."""
    return await client.call("add_project", path=str(repository))


async def create_worktree(client: Socket, **arguments: Any) -> Any:
    """Call `create_worktree` with these arguments; return the worktree when it is ready."""
    pending = await client.call("create_worktree", **arguments)
    while True:
        created = (await receive_payload(client, "worktree:created"))["worktree"]
        if created["id"] == pending["id"]:
            return created


@pytest_asyncio.fixture(loop_scope="session")
async def worktree(client: Socket, project: Any) -> Any:
    """A worktree that is ready."""
    return await create_worktree(client, projectId=project["id"])


@pytest_asyncio.fixture(loop_scope="session")
async def session(client: Socket, worktree: Any) -> Any:
    """A session of the demo agent in plan mode; `/demo help` lists the agent's commands."""
    return await client.call("create_session", worktreeId=worktree["id"], name="Fix the parser")


# Pages --------------------------------------------------------------------------------------------


@pytest.fixture
def page_errors() -> Iterator[PageErrors]:
    """Fails the test if its pages have errors other than those in `page_errors.allow("…")`."""
    errors = PageErrors()
    yield errors
    assert not errors.unexpected, "\n".join(errors.unexpected)


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(
    request: pytest.FixtureRequest,
    browser: Browser,
    pages: PagePool,
    server: Serving,
    page_errors: PageErrors,
) -> AsyncIterator[OpenPage]:
    """A function that opens signed-in pages, each in a browser profile of its own.

    `await open_page("/session/ID", screen=PHONE)`; `base_url` if a proxy is between the page and
    Spinney; `has_worker=True` for tests of the service worker, which loads every file of the page;
    `guest_link` opens that instead of signing in; `is_new=True` for a test that adds scripts, as
    pages of earlier tests are emptied and used again.
    What the pages of a failed test showed is part of its report.
    """
    async with AsyncExitStack() as opened:

        async def open_one(
            place: str = "",
            *,
            screen: Screen = DESKTOP,
            base_url: str = "",
            has_worker: bool = False,
            guest_link: str = "",
            is_new: bool = False,
        ) -> Page:
            origin = base_url or server.base_url
            if base_url or has_worker or is_new:
                context = await create_context(
                    browser, screen, origin, has_worker=has_worker, has_motion=False
                )
                page = await context.new_page()
                opened.push_async_callback(close, page)
            else:
                page = await pages.take(screen, origin)
                opened.push_async_callback(keep, page, screen, origin)
            opened.callback(page_errors.watch(page.context, urlsplit(origin).netloc))
            if guest_link:
                await page.goto(guest_link)
                await wait_until_connected(page)
            else:
                await sign_in(page, server.token, place)
            return page

        async def close(page: Page) -> None:
            if request.node.stash.get(HAS_FAILED, False):
                for one in page.context.pages:
                    print(await describe(one))
            await page.context.close()

        async def keep(page: Page, screen: Screen, origin: str) -> None:
            if request.node.stash.get(HAS_FAILED, False):
                await close(page)
            else:
                await pages.keep(page, screen, origin)

        yield open_one


async def describe(page: Page) -> str:
    """What a page shows, and whether its browser still draws it."""
    try:
        is_drawn = await page.evaluate(IS_DRAWN)
        content = await page.locator("body").aria_snapshot(timeout=5000)
    except PlaywrightError as error:
        return f"{page.url} does not respond: {error}"
    return f"{page.url}{'' if is_drawn else ', NOT DRAWN'}\n{content}"


@pytest.fixture(
    params=[
        pytest.param(DESKTOP, id="desktop", marks=pytest.mark.longer),
        pytest.param(PHONE, id="phone"),
    ]
)
def screen(request: pytest.FixtureRequest) -> Screen:
    """A desktop screen with a mouse, and a phone with touch."""
    screen: Screen = request.param
    return screen


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage) -> Page:
    """The start page on a desktop."""
    return await open_page()


@pytest_asyncio.fixture(loop_scope="session")
async def phone(open_page: OpenPage) -> Page:
    """The start page on a phone."""
    return await open_page(screen=PHONE)


@pytest_asyncio.fixture(
    params=[
        pytest.param("mouse", marks=pytest.mark.longer),
        pytest.param("touch", marks=pytest.mark.longer),
        "keys",
    ],
    loop_scope="session",
)
async def user(request: pytest.FixtureRequest, open_page: OpenPage) -> UserInput:
    """Input to the start page: by mouse, by touch on a phone, by keyboard."""
    page = await open_page(screen=PHONE if request.param == "touch" else DESKTOP)
    return Keyboard(page) if request.param == "keys" else Pointer(page, request.param == "touch")


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(server: Serving, page_errors: PageErrors) -> AsyncIterator[Proxy]:
    """A proxy between pages and the server; the errors of broken connections are allowed."""
    page_errors.allow("WebSocket connection to", "net::ERR_")
    async with run_proxy(server.base_url) as running:
        yield running
