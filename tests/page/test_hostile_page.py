"""A hostile page in the same browser, at another port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser

from tests.page.browser import DESKTOP, create_context
from tests.ports import find_free_port
from tests.program import Serving
from tests.server.conftest import Socket

ATTEMPTS = """async ({ base, session }) => {
  const results = {};
  const attempt = async (name, address, options) => {
    try {
      const answer = await fetch(base + address, options);
      results[name] = answer.type === "opaque" ? "opaque" : String(answer.status);
    } catch {
      results[name] = "blocked";
    }
  };
  const send = "/api/sessions/" + session + "/messages";
  const body = JSON.stringify({ message: "from another origin" });
  const json = { "Content-Type": "application/json" };
  const packed = { "Content-Encoding": "gzip" };
  const blindly = { method: "POST", mode: "no-cors", credentials: "include" };
  await attempt("state", "/api/init");
  await attempt("state with cookies", "/api/init", { credentials: "include" });
  await attempt("message", send, { method: "POST", body, headers: json });
  await attempt("simple message", send, { ...blindly, body });
  await attempt("delete", "/api/sessions/" + session, { method: "DELETE" });
  await attempt("packed", "/lite/sign-in", { method: "POST", body, headers: packed });
  await attempt("lite", "/lite", { credentials: "include" });
  const form = new URLSearchParams({ message: "from another origin" });
  const orders = { ...blindly, body: form };
  await attempt("lite message", "/lite/sessions/" + session + "/messages", orders);
  await attempt("lite stop", "/lite/sessions/" + session + "/stop", orders);
  await attempt("lite sign-out", "/lite/sign-out", orders);
  results.socket = await new Promise((done) => {
    const socket = new WebSocket(base.replace("http", "ws") + "/ws?since=0");
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  });
  return results;
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def other_origin() -> AsyncIterator[str]:
    """The origin of an empty page at another port."""
    app = web.Application()
    empty = web.Response(text="<!doctype html>", content_type="text/html")
    app.add_routes([web.get("/", lambda _: asyncio.sleep(0, empty))])
    runner = web.AppRunner(app)
    await runner.setup()
    port = find_free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


async def test_a_page_of_another_origin_reads_nothing_and_changes_nothing(
    browser: Browser, server: Serving, other_origin: str, client: Socket, session: Any
) -> None:
    context = await create_context(browser, DESKTOP, server.base_url)
    own = await context.new_page()
    await own.goto("/lite/sign-in")
    await own.locator("input[type=password]").fill(server.token)
    await own.locator("form[action='/lite/sign-in'] button").click()
    await own.wait_for_url("**/lite")
    # The cookie is sent from another port, too: to a browser that is the same site.
    assert [cookie["path"] for cookie in await context.cookies()] == ["/lite"]
    page = await context.new_page()
    await page.goto(other_origin)
    results = await page.evaluate(ATTEMPTS, {"base": server.base_url, "session": session["id"]})
    assert results == {
        "state": "401",
        "state with cookies": "blocked",
        "message": "401",
        "simple message": "opaque",
        "delete": "401",
        "packed": "blocked",
        "lite": "blocked",
        "lite message": "opaque",
        "lite stop": "opaque",
        "lite sign-out": "opaque",
        "socket": "refused",
    }
    page_of_messages = await client.call("get_messages", sessionId=session["id"])
    assert page_of_messages["messages"] == []
    await own.reload()
    assert await own.locator("form[action='/lite/sign-in']").count() == 0, "it was signed out"
    await context.close()
