"""A page in Chromium as a person has it: its screen, its place, and what may not happen in it."""

import os
import shutil
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request

from tests.patience import PATIENCE


@dataclass(frozen=True)
class Screen:
    """What a person looks at."""

    width: int
    height: int
    touch: bool = False
    scheme: str = "dark"
    """Which of the themes the device asks for: dark or light."""


DESKTOP = Screen(1280, 800)
PHONE = Screen(390, 844, touch=True)

PLACES = (
    "needs",
    "session",
    "worktree",
    "project",
    "diff",
    "canvas",
    "new",
    "search",
    "archive",
    "preferences",
    "server",
    "help",
)
"""The views that have an address."""

REPORTS_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`violates ${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


@dataclass
class Faults:
    """What went wrong in a page where nothing may: errors, violations, calls to strangers."""

    allowed: list[str] = field(default_factory=list)
    """Parts of messages that this test expects, as those of a connection that it cuts."""
    found: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext, host: str) -> None:
        """Note the faults of every page of this context, which may talk to `host` alone."""

        def said(message: ConsoleMessage) -> None:
            if message.type in ("error", "assert"):
                self.found.append(f"console: {message.text} {message.location}")

        def asked(request: Request) -> None:
            address = urlsplit(request.url)
            if address.scheme in ("http", "https", "ws", "wss") and address.netloc != host:
                self.found.append(f"asked a stranger: {request.url}")

        context.on("console", said)
        context.on("weberror", lambda error: self.found.append(f"error: {error.error}"))
        context.on("request", asked)

    def allow(self, *parts: str) -> None:
        """Expect messages with these parts."""
        self.allowed.extend(parts)

    @property
    def unexpected(self) -> list[str]:
        return [told for told in self.found if not any(part in told for part in self.allowed)]


def launching(home: str, *, notifies: bool = False) -> dict[str, Any]:
    """What Playwright starts the system's Chromium with, which keeps nothing outside `home`.

    Of Debian's two packages the one without windows needs a third less time; only the other
    `notifies`: it can ask a person whether a page may.
    """
    without_windows = None if notifies else shutil.which("chromium-headless-shell")
    path = without_windows or shutil.which("chromium")
    if path is None:
        pytest.skip("needs chromium on the PATH, as Debian's package of this name brings it")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no sandbox to give
    return {
        "executable_path": path,
        "env": {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"},
        "args": ["--disable-gpu", *as_root],
    }


async def launched(playwright: Playwright, home: str, *, notifies: bool = False) -> Browser:
    """Chromium for tests."""
    return await playwright.chromium.launch(**launching(home, notifies=notifies))


async def made_context(
    browser: Browser,
    screen: Screen,
    base_url: str,
    *,
    has_worker: bool = True,
    has_motion: bool = True,
) -> BrowserContext:
    """A browser profile for this screen.

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


async def signed_in(page: Page, token: str, place: str = "") -> None:
    """Open the page as the terminal's QR code does, at a place such as `/session/ID`."""
    await page.goto(f"/#token={token}&go={place}")
    await ready(page)


async def ready(page: Page) -> None:
    """Wait until it has the state. (`wait_for_function` fails: the policy forbids `eval`.)"""
    await page.wait_for_selector("body[data-ready]", state="attached")
