"""The page on the device: installable, cached for offline use, updated."""

import asyncio
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
from tests.page.browser import PageErrors, wait_until_ready
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, serve_in_process
from tests.patience import PATIENCE


async def wait_for_worker(page: Page) -> None:
    """Wait until the service worker has cached the page."""
    await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")


async def test_the_page_can_be_installed(open_page: OpenPage) -> None:
    page = await open_page(has_worker=True)
    await wait_for_worker(page)
    devtools = await page.context.new_cdp_session(page)
    response = await devtools.send("Page.getInstallabilityErrors")
    errors = {error["errorId"] for error in response["installabilityErrors"]}
    assert errors <= {"in-incognito"}  # every browser context is incognito
    manifest = await devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    for icon in json.loads(manifest["data"])["icons"]:
        icon_file = await page.request.get(icon["src"])
        assert icon_file.ok, icon


async def test_the_policy_allows_only_the_service_worker_of_the_page(
    open_page: OpenPage, page_errors: PageErrors
) -> None:
    page_errors.allow("violates", "Trusted Type", "TrustedScriptURL")
    page = await open_page(has_worker=True)
    error = await page.evaluate(
        "navigator.serviceWorker.register('/other.js').then(() => '', (error) => error.name)"
    )
    assert error == "TypeError"


async def test_an_offline_reload_shows_the_page_and_its_connection_state(
    open_page: OpenPage, page_errors: PageErrors
) -> None:
    page_errors.allow("ERR_INTERNET_DISCONNECTED", "Failed to fetch", "WebSocket")
    page = await open_page("/preferences", has_worker=True)
    await wait_for_worker(page)
    await page.context.set_offline(True)
    await page.reload()
    await expect(page.locator("#link")).to_contain_text("offline, next try")
    await expect(page.locator("#content")).to_contain_text("Spinney is not responding")
    await expect(page.locator("html")).to_have_css("color-scheme", "dark")
    assert await page.locator("#menu").evaluate("e => getComputedStyle(e).cursor") == "pointer"
    await page.context.set_offline(False)
    await wait_until_ready(page)
    await expect(page.locator("#title")).to_have_text("Preferences")


async def test_code_has_its_colors_offline_after_a_single_visit(
    open_page: OpenPage, session: Any, page_errors: PageErrors
) -> None:
    page_errors.allow("ERR_INTERNET_DISCONNECTED", "Failed to fetch", "WebSocket")
    page = await open_page(f"/session/{session['id']}", has_worker=True)
    await wait_for_worker(page)
    await page.context.set_offline(True)
    await page.reload()
    colors = page.locator("#code-colors")
    await expect(colors).to_be_attached()
    rules = "(link) => [...(link.sheet?.cssRules ?? [])].map((rule) => rule.cssText).join()"
    async with asyncio.timeout(PATIENCE):
        while ".tok-" not in await colors.evaluate(rules):
            await asyncio.sleep(0.05)


async def test_no_messages_are_cached(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}", has_worker=True)
    await wait_for_worker(page)
    await page.reload()
    await wait_until_ready(page)
    cached = await page.evaluate(
        """async () => {
          const urls = [];
          for (const name of await caches.keys()) {
            for (const request of await (await caches.open(name)).keys()) urls.push(request.url);
          }
          return urls.map((url) => new URL(url).pathname);
        }"""
    )
    assert "/" in cached
    assert all(re.fullmatch(r"/|/theme\.css|/v/\w+/[\w./-]+", path) for path in cached), cached


class TestNewPageVersion:
    """An open page announces a new version, which the user loads when they like."""

    @pytest_asyncio.fixture(loop_scope="session")
    async def server(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> AsyncIterator[InProcessServer]:
        """A server in this process that serves a copy of the page's files."""
        shutil.copytree(WEB, tmp_path / "web")
        monkeypatch.setattr(
            Server, "_read_files", lambda _: StaticFiles.read(tmp_path / "web", {"/fonts.css": b""})
        )
        async with serve_in_process(tmp_path / "place") as running:
            yield running

    async def test_is_announced_and_never_forced(
        self, open_page: OpenPage, server: InProcessServer, tmp_path: Path, page_errors: PageErrors
    ) -> None:
        page_errors.allow("ERR_CONNECTION_REFUSED", "WebSocket", "404")
        page = await open_page("/search", has_worker=True)
        await wait_for_worker(page)
        await page.get_by_label("Search messages").press_sequentially("apples")
        await expect(page.locator("#newer")).to_have_count(0)
        http_server = server.workspace.http_server
        assert isinstance(http_server, Server)
        port = http_server.status()["port"]
        await http_server.stop()
        (tmp_path / "web" / "css" / "base.css").write_text(
            (WEB / "css" / "base.css").read_text() + "/* newer */"
        )
        await http_server.start(port, localhost_only=True, token_required=True)
        await page.evaluate("dispatchEvent(new Event('online'))")
        banner = page.locator("#newer")
        await expect(banner).to_contain_text("A new version of this page is available.")
        await expect(page.get_by_label("Search messages")).to_have_value("apples")
        sheet = page.locator("link[href*='base.css']")
        before = await sheet.get_attribute("href") or ""
        await banner.get_by_role("button", name="Reload").click()
        await expect(sheet).not_to_have_attribute("href", before)
        await wait_until_ready(page)
        await expect(banner).to_have_count(0)
