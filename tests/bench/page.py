"""The page in Chromium: start, streaming, a long session, scrolling, another client's messages."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from playwright.async_api import Browser, CDPSession, async_playwright

from model.backends import agent_events
from model.backends.demo import texts
from model.domain.usage import Usage
from tests.bench.long_session import write_sessions
from tests.bench.served import add_plain_worktree
from tests.bench.tables import Table
from tests.contract.conftest import make_program
from tests.page.browser import (
    DESKTOP,
    PHONE,
    Screen,
    create_context,
    launch_browser,
    wait_until_ready,
)
from tests.page.in_process import InProcessServer, serve_in_process

DELTAS = 20_000
RATE = 2_000
MESSAGES = 20
SCROLL_SPEED = 4_000
"""Pixels a second, a fast flick."""
SCROLL_DISTANCE = 24_000

WATCH_START = """
new MutationObserver((_, observer) => {
  if (!document.body?.dataset.ready) return;
  observer.disconnect();
  window.interactive = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""

LATER = """() => performance.getEntriesByType("resource")
  .filter((one) => one.startTime > window.interactive)
  .map((one) => one.name)"""
"""The addresses that were requested after the start."""

WATCH_FRAMES = """() => {
  const seen = { frames: 0, late: 0, worst: 0, tasks: [] };
  let last = performance.now();
  const step = (now) => {
    const gap = now - last;
    last = now;
    seen.frames += 1;
    seen.late += Math.max(0, Math.round(gap / (1000 / 60)) - 1);
    seen.worst = Math.max(seen.worst, gap);
    if (!seen.isOver) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  const note = (list) => seen.tasks.push(...list.getEntries().map((one) => one.duration));
  new PerformanceObserver(note).observe({ type: "longtask" });
  window.seen = seen;
}"""

WATCH_GAPS = """() => {
  const gaps = [];
  let last = performance.now();
  const step = (now) => {
    gaps.push(now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  window.gaps = gaps;
}"""

WAIT_FOR_PROSE = """(id) => new Promise((done) => {
  const began = performance.now();
  const look = () => document.querySelectorAll(".message").length >= 100
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)))
    : requestAnimationFrame(look);
  location.hash = `#/session/${id}`;
  look();
})"""

WAIT_FOR_SAID = """(text) => { window.said = new Promise((done) => {
  const now = () => performance.timeOrigin + performance.now();
  const look = () =>
    [...document.querySelectorAll(".verbatim")].some((one) => one.textContent === text)
    ? requestAnimationFrame(() => setTimeout(() => done(now())))
    : requestAnimationFrame(look);
  look();
}); }"""


def measure(runs: int, deltas: int = DELTAS, messages: int = 10_000) -> Table:
    """Measure starts and streams `runs` times; the table has the best ones."""
    table = Table("page", "the page in Chromium, on this machine, 1280×800")
    asyncio.run(_measure(table, runs, deltas, messages))
    return table


async def _measure(table: Table, runs: int, deltas: int, messages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        async with async_playwright() as playwright:
            browser = await launch_browser(playwright, str(place))
            await _add_start(table, browser, place / "start", runs * 3)
            for throttle in (1, 4):
                await _add_stream(
                    table, browser, place / f"stream{throttle}", deltas, throttle, runs
                )
            await _add_long_session(table, browser, place / "long", messages, runs * 3)
            for screen in (DESKTOP, PHONE):
                await _add_scrolling(
                    table, browser, place / f"scroll{screen.width}", messages, screen, runs
                )
            await _add_other_client(table, browser, place / "another")
            await browser.close()


class _TransferCounter:
    """Counts the bytes transferred at a start, including headers."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._sizes: dict[str, float] = {}

    @classmethod
    async def attach(cls, client: CDPSession) -> "_TransferCounter":
        made = cls()
        client.on("Network.requestWillBeSent", made._count_request)
        client.on("Network.loadingFinished", made._count_response)
        await client.send("Network.enable")
        return made

    def _count_request(self, event: dict[str, Any]) -> None:
        self._names[event["requestId"]] = event["request"]["url"]

    def _count_response(self, event: dict[str, Any]) -> None:
        self._sizes[event["requestId"]] = event["encodedDataLength"]

    def sum_without(self, later: set[str]) -> float:
        """Bytes of all but these addresses."""
        return sum(size for key, size in self._sizes.items() if self._names[key] not in later)


async def _add_start(table: Table, browser: Browser, place: Path, runs: int) -> None:
    found: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
    with make_program(place).serving("--demo") as serving:
        for _ in range(runs):
            context = await create_context(browser, DESKTOP, serving.base_url)
            await context.add_init_script(WATCH_START)
            for kind in found:
                page = await context.new_page()
                client = await context.new_cdp_session(page)
                wire = await _TransferCounter.attach(client)
                await page.goto(f"/#token={serving.token}")
                await wait_until_ready(page)
                await page.wait_for_load_state("networkidle")
                size = wire.sum_without(set(await page.evaluate(LATER)))
                found[kind].append((await page.evaluate("window.interactive"), size / 1024))
                await page.close()
            await context.close()
    for kind, limit in (("cold", 250), ("warm", 150)):
        best, size = min(found[kind])
        median = statistics.median(seconds for seconds, _ in found[kind])
        table.add(f"shell to interactive, {kind}", best_ms=best, median_ms=median, KiB=size)
        table.at_most(f"shell to interactive, {kind}, ms", best, limit)
    table.at_most("on the wire, cold, KiB", min(size for _, size in found["cold"]), 78)


async def _add_stream(
    table: Table, browser: Browser, place: Path, deltas: int, throttle: int, runs: int
) -> None:
    """Stream an answer in pieces of four letters; use the run with the fewest lost frames."""
    text = texts.markdown(deltas * 4 / 1024)
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    found = [await _stream(browser, place / str(run), pieces, throttle) for run in range(runs)]
    best = min(found, key=lambda figures: figures["lost"])
    slower = ", 4× slower" if throttle > 1 else ""
    table.add(f"{len(pieces):,} deltas, {RATE:,} a second{slower}", **best)
    if throttle == 1:
        table.at_most("long tasks while an answer streams", best["long_tasks"], 0)
        share = best["lost"] / (best["lost"] + best["frames"])
        table.at_most("share of frames lost while an answer streams", share, 0.05)


async def _stream(
    browser: Browser, place: Path, pieces: list[str], throttle: int
) -> dict[str, float]:
    async with (
        serve_in_process(place) as stage,
        _open_session(stage, browser) as (page, client, send),
    ):
        await client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        puppet = await stage.backend.receiver_of(send("go"))
        await client.send("Performance.enable")
        before = await _script_seconds(client)
        await page.evaluate(WATCH_FRAMES)
        began = time.monotonic()
        sent = 0
        while sent < len(pieces):
            due = min(len(pieces), int((time.monotonic() - began) * RATE) + 1)
            puppet.say(*(agent_events.TextDelta("answer", piece) for piece in pieces[sent:due]))
            sent = due
            await asyncio.sleep(0.004)
        puppet.say(agent_events.TurnFinished("end_turn", Usage()))
        await page.wait_for_selector(".pulse", state="detached")
        seconds = time.monotonic() - began
        seen = await page.evaluate("() => { seen.isOver = true; return seen; }")
        cpu = await _script_seconds(client) - before
    long = [task for task in seen["tasks"] if task > 50]
    return {
        "seconds": seconds,
        "frames": seen["frames"],
        "lost": seen["late"],
        "worst_gap_ms": seen["worst"],
        "long_tasks": len(long),
        "longest_ms": max(long, default=0.0),
        "CPU_seconds": cpu,
    }


async def _script_seconds(client: CDPSession) -> float:
    response = await client.send("Performance.getMetrics")
    return next(one["value"] for one in response["metrics"] if one["name"] == "TaskDuration")


@asynccontextmanager
async def _open_session(stage: InProcessServer, browser: Browser) -> AsyncIterator[Any]:
    """Open a page at a new session; yield the page, its debugger, and a function that sends."""
    await add_plain_worktree(stage.workspace, stage.workspace.directories.data)
    async with aiohttp.ClientSession(
        stage.base_url, headers={"Authorization": f"Bearer {stage.token}"}
    ) as http:
        url = f"/ws?token={stage.token}"
        async with http.ws_connect(url) as socket:

            async def call(command: str, **args: object) -> Any:
                await socket.send_str(json.dumps({"id": "1", "command": command, "args": args}))
                while (frame := await socket.receive_json()).get("id") != "1":
                    pass
                return frame["data"]

            session = await call("create_session", worktreeId="w", name="bench", backend="demo")
            context = await create_context(browser, DESKTOP, stage.base_url)
            page = await context.new_page()
            await page.goto(f"/#token={stage.token}&go=/session/{session['id']}")
            await wait_until_ready(page)
            client = await context.new_cdp_session(page)
            yield (
                page,
                client,
                lambda text: call("send_chat_message", sessionId=session["id"], message=text),
            )
            await context.close()


async def _add_long_session(
    table: Table, browser: Browser, place: Path, messages: int, runs: int
) -> None:
    program = make_program(place)
    program.data.mkdir(mode=0o700)
    await write_sessions(program.data / "spinney.db", {"long": messages})
    found = []
    with program.serving() as serving:
        for _ in range(runs):
            context = await create_context(browser, DESKTOP, serving.base_url)
            page = await context.new_page()
            await page.goto(f"/#token={serving.token}&go=/help")
            await wait_until_ready(page)
            await page.wait_for_selector("#link[data-state=open]")
            found.append(await page.evaluate(WAIT_FOR_PROSE, "long"))
            await context.close()
    name = f"first page of {messages:,} messages"
    table.add(name, best_ms=min(found), median_ms=statistics.median(found))
    table.at_most(f"{name}, ms", min(found), 200)


async def _add_scrolling(
    table: Table, browser: Browser, place: Path, messages: int, screen: Screen, runs: int
) -> None:
    """Scroll up in a long session, by wheel or finger, and measure the time between two frames."""
    program = make_program(place)
    program.data.mkdir(mode=0o700)
    await write_sessions(program.data / "spinney.db", {"long": messages})
    with program.serving() as serving:
        found = [
            await _scroll(browser, screen, serving.base_url, serving.token) for _ in range(runs)
        ]
    best = min(found, key=lambda figures: figures["p95_ms"])
    name = f"scrolling up, {'by finger' if screen.touch else 'by wheel'}"
    table.add(name, **best)
    table.at_most(f"{name}, p95, ms", best["p95_ms"], 25)


async def _turn_wheel(client: CDPSession, screen: Screen) -> None:
    """Scroll up at a constant speed."""
    gesture = {
        "x": screen.width / 2,
        "y": screen.height / 2,
        "yDistance": SCROLL_DISTANCE,
        "speed": SCROLL_SPEED,
        "gestureSourceType": "mouse",
    }
    await client.send("Input.synthesizeScrollGesture", gesture)


async def _swipe(client: CDPSession, screen: Screen) -> None:
    """Swipe over half the screen, again and again; synthesized touch gestures do nothing."""
    top, distance = screen.height * 0.3, screen.height * 0.5
    steps = round(distance / SCROLL_SPEED * 60)
    for _ in range(round(SCROLL_DISTANCE / distance)):
        for step in range(steps + 1):
            point = {"x": screen.width / 2, "y": top + distance * step / steps}
            kind = "touchMove" if step else "touchStart"
            await client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
            await asyncio.sleep(1 / 60)
        await client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


async def _scroll(browser: Browser, screen: Screen, url: str, token: str) -> dict[str, float]:
    context = await create_context(browser, screen, url)
    page = await context.new_page()
    await page.goto(f"/#token={token}&go=/session/long")
    await wait_until_ready(page)
    await page.wait_for_selector(".message >> nth=99")
    await page.wait_for_timeout(1000)  # what is loaded after the first view
    client = await context.new_cdp_session(page)
    await page.evaluate(WATCH_GAPS)
    await (_swipe if screen.touch else _turn_wheel)(client, screen)
    gaps = sorted(await page.evaluate("() => window.gaps"))
    loaded = await page.locator(".message").count()
    await context.close()
    return {
        "frames": len(gaps),
        "messages": loaded,
        "median_ms": statistics.median(gaps),
        "p95_ms": gaps[int(len(gaps) * 0.95)],
        "worst_ms": gaps[-1],
    }


async def _add_other_client(table: Table, browser: Browser, place: Path) -> None:
    """Measure from the press of enter in one page until the message is painted in another."""
    async with serve_in_process(place) as stage, _open_session(stage, browser) as (page, _, send):
        context = await create_context(browser, DESKTOP, stage.base_url)
        other = await context.new_page()
        await other.goto(f"/#token={stage.token}&go={page.url.partition('#')[2]}")
        await wait_until_ready(other)
        await send("begin")
        puppet = await stage.backend.newest()
        found = []
        for number in range(MESSAGES):
            await puppet.wait_for_call("send")
            puppet.say(agent_events.TurnFinished("end_turn", Usage()))
            await page.wait_for_selector(".pulse", state="detached")
            text = f"message {number}"
            await page.fill(".composer textarea", text)
            await other.evaluate(WAIT_FOR_SAID, text)
            began = time.time() * 1e3
            await page.press(".composer textarea", "Enter")
            found.append(await other.evaluate("() => window.said") - began)
        await context.close()
    table.add(
        "another client's message, from key to painted",
        best_ms=min(found),
        median_ms=statistics.median(found),
        worst_ms=max(found),
    )
    table.at_most("another client's message, median, ms", statistics.median(found), 200)
