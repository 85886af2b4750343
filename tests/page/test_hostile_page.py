"""A page of somebody else in the same browser, at another port of this machine, which tries all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser

from tests.page.browser import DESKTOP, made_context
from tests.ports import own_port
from tests.program import Serving
from tests.server.conftest import Socket

TRIES = """async ({ base, session }) => {
  const told = {};
  const tried = async (name, address, options) => {
    try {
      const answer = await fetch(base + address, options);
      told[name] = answer.type === "opaque" ? "opaque" : String(answer.status);
    } catch {
      told[name] = "blocked";
    }
  };
  const send = "/api/sessions/" + session + "/messages";
  const body = JSON.stringify({ message: "from a stranger" });
  const json = { "Content-Type": "application/json" };
  const packed = { "Content-Encoding": "gzip" };
  const blindly = { method: "POST", mode: "no-cors", credentials: "include" };
  await tried("state", "/api/init");
  await tried("state with cookies", "/api/init", { credentials: "include" });
  await tried("message", send, { method: "POST", body, headers: json });
  await tried("simple message", send, { ...blindly, body });
  await tried("delete", "/api/sessions/" + session, { method: "DELETE" });
  await tried("packed", "/lite/sign-in", { method: "POST", body, headers: packed });
  await tried("lite", "/lite", { credentials: "include" });
  const form = new URLSearchParams({ message: "from a stranger" });
  const orders = { ...blindly, body: form };
  await tried("lite message", "/lite/sessions/" + session + "/messages", orders);
  await tried("lite stop", "/lite/sessions/" + session + "/stop", orders);
  await tried("lite sign-out", "/lite/sign-out", orders);
  told.socket = await new Promise((done) => {
    const socket = new WebSocket(base.replace("http", "ws") + "/ws?since=0");
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  });
  return told;
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def elsewhere() -> AsyncIterator[str]:
    """The origin of an empty page, at a port of its own."""
    app = web.Application()
    empty = web.Response(text="<!doctype html>", content_type="text/html")
    app.add_routes([web.get("/", lambda _: asyncio.sleep(0, empty))])
    runner = web.AppRunner(app)
    await runner.setup()
    port = own_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


async def test_a_page_of_somebody_else_reads_nothing_and_does_nothing(
    browser: Browser, served: Serving, elsewhere: str, other: Socket, session: Any
) -> None:
    context = await made_context(browser, DESKTOP, served.base_url)
    own = await context.new_page()
    await own.goto("/lite/sign-in")
    await own.locator("input[type=password]").fill(served.token)
    await own.locator("form[action='/lite/sign-in'] button").click()
    await own.wait_for_url("**/lite")
    # Its cookie goes along from another port: for a browser that is the same site.
    assert [cookie["path"] for cookie in await context.cookies()] == ["/lite"]
    page = await context.new_page()
    await page.goto(elsewhere)
    told = await page.evaluate(TRIES, {"base": served.base_url, "session": session["id"]})
    assert told == {
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
    read = await other.call("get_messages", sessionId=session["id"])
    assert read["messages"] == []
    await own.reload()
    assert await own.locator("form[action='/lite/sign-in']").count() == 0, "still signed in"
    await context.close()
