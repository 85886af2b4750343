"""Chromium for tests: screens, browser contexts, and the errors of their pages."""

import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    WebError,
)

from tests.patience import PATIENCE


@dataclass(frozen=True)
class Screen:
    """The screen and color scheme of a device."""

    width: int
    height: int
    touch: bool = False
    scheme: str = "dark"
    """The color scheme that the device prefers: dark or light."""


DESKTOP = Screen(1280, 800)
PHONE = Screen(390, 844, touch=True)

VIEWS = (
    "needs",
    "session",
    "worktree",
    "project",
    "diff",
    "conflicts",
    "landing",
    "sweep",
    "pull-request",
    "work",
    "compare",
    "canvas",
    "new",
    "search",
    "archive",
    "preferences",
    "guests",
    "server",
    "help",
)
"""The views that have an address."""

REPORTS_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`violates ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


@dataclass
class PageErrors:
    """Console errors, uncaught exceptions, policy violations and requests to other hosts."""

    allowed: list[str] = field(default_factory=list)
    """Parts of messages that the test expects, such as those of a connection that it cuts."""
    messages: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext, host: str) -> Callable[[], None]:
        """Record the errors of all pages of this context, which may only connect to `host`.

        Returns a function that stops that.
        """

        def on_console(message: ConsoleMessage) -> None:
            if message.type in ("error", "assert"):
                self.messages.append(f"console: {message.text} {message.location}")

        def on_request(request: Request) -> None:
            address = urlsplit(request.url)
            if address.scheme in ("http", "https", "ws", "wss") and address.netloc != host:
                self.messages.append(f"request to another host: {request.url}")

        def on_error(error: WebError) -> None:
            self.messages.append(f"error: {error.error}")

        def stop() -> None:
            for event, listener in listeners.items():
                context.remove_listener(event, listener)

        listeners = {"console": on_console, "weberror": on_error, "request": on_request}
        for event, listener in listeners.items():
            context.on(event, listener)  # type: ignore[call-overload]
        return stop

    def allow(self, *parts: str) -> None:
        """Expect messages that contain one of these parts."""
        self.allowed.extend(parts)

    @property
    def unexpected(self) -> list[str]:
        return [
            message
            for message in self.messages
            if not any(part in message for part in self.allowed)
        ]


def launch_options(home: str, *, notifies: bool = False) -> dict[str, Any]:
    """Playwright's options for the system's Chromium, which writes only below `home`.

    Debian's chromium-headless-shell takes a third less time than chromium, but has no notification
    permission: `notifies` selects the latter.
    """
    headless_shell = None if notifies else shutil.which("chromium-headless-shell")
    path = headless_shell or shutil.which("chromium")
    if path is None:
        pytest.skip("needs chromium on the PATH, for example from Debian's package chromium")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # the sandbox does not work as root
    return {
        "executable_path": path,
        "env": {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "LANG": "C.UTF-8",
            # Tests show no notification on the desktop.
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        },
        "args": ["--disable-gpu", *as_root],
    }


async def launch_browser(playwright: Playwright, home: str, *, notifies: bool = False) -> Browser:
    """Launch Chromium for tests."""
    return await playwright.chromium.launch(**launch_options(home, notifies=notifies))


async def create_context(
    browser: Browser,
    screen: Screen,
    base_url: str,
    *,
    has_worker: bool = True,
    has_motion: bool = True,
) -> BrowserContext:
    """Create a browser profile for this screen.

    Without `has_motion` the page shows no animations, each of which Chromium paints sixty times a
    second without a graphics processor.
    """
    context = await browser.new_context(
        base_url=base_url,
        viewport={"width": screen.width, "height": screen.height},
        has_touch=screen.touch,
        is_mobile=screen.touch,
        color_scheme="light" if screen.scheme == "light" else "dark",
        service_workers="allow" if has_worker else "block",
        reduced_motion="no-preference" if has_motion else "reduce",
    )
    context.set_default_timeout(PATIENCE * 1000)
    await context.add_init_script(REPORTS_VIOLATIONS)
    return context


_IS_CHANGED = "[Date, WebSocket].some((own) => !own.toString().includes('[native code]'))"
"""Whether a test has replaced the clock or the connections of a page: both stay so."""


@dataclass
class PagePool:
    """Pages that one test after another uses, each in a browser context that is emptied for it.

    Loading the page takes 0.35 s of CPU time in the process that has loaded it before, and 0.85 s
    in a new one: 90 files are requested and compiled, which the HTTP cache hardly speeds up.
    """

    browser: Browser
    _idle: dict[tuple[Screen, str], list[Page]] = field(default_factory=lambda: defaultdict(list))

    async def take(self, screen: Screen, base_url: str) -> Page:
        """Return an empty page without storage, cookies and permissions."""
        if idle := self._idle[screen, base_url]:
            return idle.pop()
        context = await create_context(
            self.browser, screen, base_url, has_worker=False, has_motion=False
        )
        return await context.new_page()

    async def keep(self, page: Page, screen: Screen, base_url: str) -> None:
        """Empty a page that `take` returned, and close all others in its context.

        One whose clock or connections were replaced is closed as well.
        """
        if page.is_closed():
            await page.context.close()
            return
        if await page.evaluate(_IS_CHANGED):
            await page.context.close()
            return
        for other in page.context.pages:
            if other != page:
                await other.close()
        await page.evaluate("sessionStorage.clear()")
        await page.goto("about:blank")
        await page.unroute_all(behavior="ignoreErrors")
        await page.emulate_media(media="null", contrast="null")
        await page.set_viewport_size({"width": screen.width, "height": screen.height})
        await page.mouse.move(0, 0)
        await page.context.clear_permissions()
        await page.context.set_offline(False)
        devtools = await page.context.new_cdp_session(page)
        cleared = {"origin": base_url, "storageTypes": "all"}
        await devtools.send("Storage.clearDataForOrigin", cleared)
        await devtools.send("Page.resetNavigationHistory")
        await devtools.detach()
        self._idle[screen, base_url].append(page)


async def sign_in(page: Page, token: str, place: str = "") -> None:
    """Open the page with a token, as the terminal's QR code does, at a view like `/session/ID`."""
    await page.goto(f"/#token={token}&go={place}")
    await wait_until_ready(page)
    await wait_until_connected(page)


async def wait_until_ready(page: Page) -> None:
    """Wait until the page has its state.

    `wait_for_function` cannot be used: the content security policy forbids `eval`.
    """
    await page.wait_for_selector("body[data-ready]", state="attached")


async def wait_until_connected(page: Page) -> None:
    """Wait until the page receives events, and shows that: its layout changes then."""
    await page.wait_for_selector("#link[data-state=open]", state="attached")
