"""The page on the device: installed, there without a connection, told of a newer one."""

import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from server.app import Server
from server.static import WEB, StaticFiles
from tests.page.browser import Faults, ready
from tests.page.conftest import OpenPage
from tests.page.stage import Stage, staged


async def with_worker(page: Page) -> None:
    """Wait until the worker has kept the page."""
    await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")


async def test_it_can_be_installed(open_page: OpenPage) -> None:
    page = await open_page(has_worker=True)
    await with_worker(page)
    session = await page.context.new_cdp_session(page)
    found = await session.send("Page.getInstallabilityErrors")
    faults = {error["errorId"] for error in found["installabilityErrors"]}
    assert faults <= {"in-incognito"}  # every context of a test is that
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    for icon in json.loads(manifest["data"])["icons"]:
        answer = await page.request.get(icon["src"])
        assert answer.ok, icon


async def test_only_its_own_worker_passes_the_policy(open_page: OpenPage, faults: Faults) -> None:
    faults.allow("violates", "Trusted Type", "TrustedScriptURL")
    page = await open_page(has_worker=True)
    refused = await page.evaluate(
        "navigator.serviceWorker.register('/other.js').then(() => '', (error) => error.name)"
    )
    assert refused == "TypeError"


async def test_without_a_connection_a_reload_shows_the_page_and_how_it_stands(
    open_page: OpenPage, faults: Faults
) -> None:
    faults.allow("ERR_INTERNET_DISCONNECTED", "Failed to fetch", "WebSocket")
    page = await open_page("/preferences", has_worker=True)
    await with_worker(page)
    await page.context.set_offline(True)
    await page.reload()
    await expect(page.locator("#link")).to_contain_text("offline, next try")
    await expect(page.locator("#content")).to_contain_text("Spinney is not responding")
    await expect(page.locator("html")).to_have_css("color-scheme", "dark")
    assert await page.locator("#menu").evaluate("e => getComputedStyle(e).cursor") == "pointer"
    await page.context.set_offline(False)
    await ready(page)
    await expect(page.locator("#title")).to_have_text("Preferences")


async def test_nothing_that_people_say_is_kept(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}", has_worker=True)
    await with_worker(page)
    await page.reload()
    await ready(page)
    kept = await page.evaluate(
        """async () => {
          const found = [];
          for (const name of await caches.keys()) {
            for (const request of await (await caches.open(name)).keys()) found.push(request.url);
          }
          return found.map((address) => new URL(address).pathname);
        }"""
    )
    assert "/" in kept
    assert all(re.fullmatch(r"/|/theme\.css|/v/\w+/[\w./-]+", path) for path in kept), kept


class TestANewerPage:
    """Whoever has the page open is told, and reloads when they like."""

    @pytest_asyncio.fixture(loop_scope="session")
    async def served(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
        """A server in this process, of a copy of the page."""
        shutil.copytree(WEB, tmp_path / "web")
        monkeypatch.setattr(
            Server, "_read_files", lambda _: StaticFiles.read(tmp_path / "web", {"/fonts.css": b""})
        )
        async with staged(tmp_path / "stage") as made:
            yield made

    async def test_is_told_and_never_forced(
        self, open_page: OpenPage, served: Stage, tmp_path: Path, faults: Faults
    ) -> None:
        faults.allow("ERR_CONNECTION_REFUSED", "WebSocket", "404")
        page = await open_page("/search", has_worker=True)
        await with_worker(page)
        await page.get_by_label("Search messages").fill("apples")
        await expect(page.locator("#newer")).to_have_count(0)
        server = served.workspace.http_server
        assert isinstance(server, Server)
        port = server.status()["port"]
        await server.stop()
        (tmp_path / "web" / "css" / "base.css").write_text(
            (WEB / "css" / "base.css").read_text() + "/* newer */"
        )
        await server.start(port, localhost_only=True, token_required=True)
        await page.evaluate("dispatchEvent(new Event('online'))")
        banner = page.locator("#newer")
        await expect(banner).to_contain_text("A new version of this page is available.")
        await expect(page.get_by_label("Search messages")).to_have_value("apples")
        sheet = page.locator("link[href*='base.css']")
        before = await sheet.get_attribute("href") or ""
        await banner.get_by_role("button", name="Reload").click()
        await expect(sheet).not_to_have_attribute("href", before)
        await ready(page)
        await expect(banner).to_have_count(0)
