"""Text as block trees on the wire: what a page puts together is what the whole text renders to."""

import asyncio
import random
from typing import Any

import aiohttp
import pytest

from model.commands import blocks
from model.domain import events as e
from model.domain.resources import Message, PlanBlock, Session, TextBlock, Usage
from model.richtext.blocks import as_json
from model.richtext.markdown import parse_markdown
from model.runtime.workspace import Workspace
from server import block_feed
from server.app import Server
from tests.patience import PATIENCE
from tests.server.conftest import Socket, connect

TEXT = """# A plan

Some **words** with `code` and a [link][1], and a list:

- one
- two
  - inside

```python
def weave(loom: str) -> int:
    return len(loom)
```

| a | b |
| - | -: |
| 1 | 2 |

> said by
> somebody

[1]: https://example.org
"""


class Page:
    """Puts blocks together as the page in the browser does."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.blocks: dict[tuple[str, int], list[dict[str, Any]]] = {}

    async def show(self, session_id: str | None) -> None:
        await self.socket.send({"type": "show", "session_id": session_id})

    async def until(self, name: str) -> dict[str, Any]:
        while True:
            frame = await self.socket.receive()
            if frame.get("event") == "content-blocks":
                self._place(frame["payload"])
            if frame.get("event") == name:
                return frame

    def _place(self, told: dict[str, Any]) -> None:
        known = self.blocks.setdefault((told["message_id"], told["content_index"]), [])
        first, blocks = told["from"], told["blocks"]
        assert first <= len(known)
        if blocks and "from_line" in blocks[0]:
            grown = dict(blocks[0])
            kept = known[first]["lines"][: grown.pop("from_line")]
            blocks = [{**grown, "lines": [*kept, *grown["lines"]]}, *blocks[1:]]
        known[first:] = blocks


@pytest.fixture
async def session(workspace: Workspace) -> Session:
    made = Session(id="s", worktree_id="w", name="s", created_at=1)
    workspace.store.record(e.SessionCreated(session=made))
    return made


def begin(workspace: Workspace, message_id: str = "m") -> None:
    message = Message(id=message_id, role="assistant", timestamp=1, session_id="s")
    workspace.store.record(e.MessageStarted(message_id=message_id, session_id="s", message=message))


def write(workspace: Workspace, text: str, index: int = 0, message_id: str = "m") -> None:
    delta = e.ContentDelta(message_id=message_id, content=text, content_index=index, session_id="s")
    workspace.store.record(delta)


def end(workspace: Workspace, message_id: str = "m") -> None:
    done = e.MessageCompleted(
        message_id=message_id, session_id="s", stop_reason="end_turn", usage=Usage()
    )
    workspace.store.record(done)


def whole(text: str) -> list[dict[str, Any]]:
    return [as_json(block) for block in parse_markdown(text)]


async def a_page(http: aiohttp.ClientSession, server: Server) -> Page:
    return Page(await connect(server, http, 0, blocks=True))


@pytest.mark.parametrize("seed", range(8))
async def test_wherever_a_text_is_cut_a_page_has_the_blocks_of_the_whole(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session, seed: int
) -> None:
    chance = random.Random(seed)
    page = await a_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")  # it is shown by now
    begin(workspace)
    rest = TEXT
    while rest:
        size = chance.randint(1, 60)
        write(workspace, rest[:size])
        rest = rest[size:]
        if chance.random() < 0.3:
            await page.until("content-blocks")
    end(workspace)
    await page.until("message-completed")
    await page.socket.call("get_preferences")
    for frame in page.socket.frames:
        assert frame.get("event") != "content-delta"
    # What comes with the end of a message stands behind it.
    late = [f for f in page.socket.frames if f.get("event") == "content-blocks"]
    again = Page(page.socket)
    for frame in late:
        again._place(frame["payload"])
    assert again.blocks["m", 0] == whole(TEXT)


async def test_who_comes_late_has_all_that_was_written(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    early, late = await a_page(http, server), await a_page(http, server)
    await early.show("s")
    await early.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "One.\n\n```\nline\n")
    await early.until("content-blocks")
    await late.show("s")
    await late.until("content-blocks")
    write(workspace, "another\n")
    for page in (early, late):
        await page.until("content-blocks")
        [block] = page.blocks["m", 0][1:]
        assert [line for line in block["lines"] if line] == [[["line"]], [["another"]]]


async def test_code_that_grows_is_told_by_its_new_lines_alone(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await a_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "```\n" + "a line\n" * 1000)
    await page.until("content-blocks")
    write(workspace, "one more\n")
    told = (await page.until("content-blocks"))["payload"]["blocks"]
    assert len(told[0]["lines"]) < 5
    assert len(page.blocks["m", 0][0]["lines"]) >= 1001


async def test_a_long_paragraph_is_not_told_anew_with_each_change(
    server: Server,
    http: aiohttp.ClientSession,
    workspace: Workspace,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_feed, "MAX_RESEND_RATE", 100)
    page = await a_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "a word " * 1000)
    await page.until("content-blocks")
    for _ in range(3):
        write(workspace, "and another ")
        await asyncio.sleep(block_feed.FLUSH_INTERVAL * 2)
    end(workspace)
    told = []
    while not told or told[-1] not in ("content-blocks", "message-completed"):
        told.append((await page.socket.receive()).get("event"))
    assert told[-1] == "message-completed"
    await page.until("content-blocks")
    assert page.blocks["m", 0] == whole("a word " * 1000 + "and another " * 3)


async def test_only_the_session_that_is_shown_is_fed(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await a_page(http, server)
    await page.show("s")
    await page.show(None)
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "Nobody looks.")
    end(workspace)
    await page.until("message-completed")
    await page.socket.call("get_preferences")
    assert not [f for f in page.socket.frames if f.get("event") == "content-blocks"]


async def test_a_session_that_is_not_there_cannot_be_shown(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await a_page(http, server)
    await page.show("nobody")
    frame = await page.socket.answer(None)
    assert "nobody" in frame["error"]


async def test_other_clients_get_no_blocks_and_cannot_ask_for_them(
    server: Server, http: aiohttp.ClientSession
) -> None:
    for since in (None, 0):
        client = await connect(server, http, since)
        await client.send({"type": "show", "session_id": None})
        assert (await client.answer(None))["error"] == "Missing field: id"


async def test_stored_messages_come_with_blocks_beside_their_texts(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await a_page(http, server)
    content = [TextBlock(text="**bold**"), PlanBlock(text="1. look")]
    said = Message(id="m", role="assistant", timestamp=1, session_id="s", content=content)
    workspace.store.record(e.MessageStarted(message_id="m", session_id="s", message=said))
    end(workspace)
    told = await page.socket.call("get_message_blocks", session_id="s")
    blocks = told["messages"][0]["content"]
    assert [block["blocks"] for block in blocks] == [whole("**bold**"), whole("1. look")]
    assert [block["text"] for block in blocks] == ["**bold**", "1. look"]


async def test_the_loop_goes_on_beside_long_texts_and_their_page_holds_all_that_was_told_before_it(
    workspace: Workspace, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        begin(workspace, f"m{number}")
        write(workspace, "One." * 5000, message_id=f"m{number}")
        if number < 2:
            end(workspace, f"m{number}")
    render_message = blocks._with_blocks
    loop = asyncio.get_running_loop()

    async def write_more() -> None:
        write(workspace, "Two.", 1, message_id="m2")

    def while_more_is_written(message: Message) -> dict[str, Any]:
        if message.id == "m1":
            asyncio.run_coroutine_threadsafe(write_more(), loop).result(PATIENCE)
        return render_message(message)

    monkeypatch.setattr(blocks, "_with_blocks", while_more_is_written)
    page = await blocks.get_message_blocks(workspace, "s")
    texts = [block["text"] for block in page.messages[-1]["content"]]
    assert texts == ["One." * 5000, "Two."]
