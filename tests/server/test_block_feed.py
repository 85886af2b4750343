"""Text streamed as block trees: a client assembles the same blocks as the whole text renders to."""

import asyncio
import random
from typing import Any

import aiohttp
import pytest

from model.commands import blocks
from model.domain.events.messages import ContentDelta, MessageCompleted, MessageStarted
from model.domain.events.sessions import SessionCreated
from model.domain.messages import Message, PlanBlock, TextBlock
from model.domain.sessions import Session
from model.domain.usage import Usage
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
> someone

[1]: https://example.org
"""


class Page:
    """Assembles blocks as the page in the browser does."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.blocks: dict[tuple[str, int], list[dict[str, Any]]] = {}

    async def show(self, session_id: str | None) -> None:
        await self.socket.send({"type": "show", "session_id": session_id})

    async def until(self, name: str) -> dict[str, Any]:
        while True:
            frame = await self.socket.receive()
            if frame.get("event") == "content-blocks":
                self._apply(frame["payload"])
            if frame.get("event") == name:
                return frame

    def _apply(self, payload: dict[str, Any]) -> None:
        known = self.blocks.setdefault((payload["message_id"], payload["content_index"]), [])
        first, blocks = payload["from"], payload["blocks"]
        assert first <= len(known)
        if blocks and "from_line" in blocks[0]:
            grown = dict(blocks[0])
            kept = known[first]["lines"][: grown.pop("from_line")]
            blocks = [{**grown, "lines": [*kept, *grown["lines"]]}, *blocks[1:]]
        known[first:] = blocks


@pytest.fixture
async def session(workspace: Workspace) -> Session:
    made = Session(id="s", worktree_id="w", name="s", created_at=1)
    workspace.store.record(SessionCreated(session=made))
    return made


def begin(workspace: Workspace, message_id: str = "m") -> None:
    message = Message(id=message_id, role="assistant", timestamp=1, session_id="s")
    workspace.store.record(MessageStarted(message_id=message_id, session_id="s", message=message))


def write(workspace: Workspace, text: str, index: int = 0, message_id: str = "m") -> None:
    delta = ContentDelta(message_id=message_id, content=text, content_index=index, session_id="s")
    workspace.store.record(delta)


def end(workspace: Workspace, message_id: str = "m") -> None:
    done = MessageCompleted(
        message_id=message_id, session_id="s", stop_reason="end_turn", usage=Usage()
    )
    workspace.store.record(done)


def render(text: str) -> list[dict[str, Any]]:
    return [as_json(block) for block in parse_markdown(text)]


async def open_page(http: aiohttp.ClientSession, server: Server) -> Page:
    return Page(await connect(server, http, 0, blocks=True))


@pytest.mark.parametrize("seed", range(8))
async def test_streamed_blocks_equal_those_of_the_whole_text(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session, seed: int
) -> None:
    rng = random.Random(seed)
    page = await open_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")  # the session is shown now
    begin(workspace)
    rest = TEXT
    while rest:
        size = rng.randint(1, 60)
        write(workspace, rest[:size])
        rest = rest[size:]
        if rng.random() < 0.3:
            await page.until("content-blocks")
    end(workspace)
    await page.until("message-completed")
    await page.socket.call("get_preferences")
    for frame in page.socket.frames:
        assert frame.get("event") != "content-delta"
    # The last blocks may arrive after the end of the message.
    late = [f for f in page.socket.frames if f.get("event") == "content-blocks"]
    again = Page(page.socket)
    for frame in late:
        again._apply(frame["payload"])
    assert again.blocks["m", 0] == render(TEXT)


async def test_a_late_client_gets_everything_written_so_far(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    early, late = await open_page(http, server), await open_page(http, server)
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


async def test_growing_code_is_sent_as_its_new_lines_only(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await open_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "```\n" + "a line\n" * 1000)
    await page.until("content-blocks")
    write(workspace, "one more\n")
    sent = (await page.until("content-blocks"))["payload"]["blocks"]
    assert len(sent[0]["lines"]) < 5
    assert len(page.blocks["m", 0][0]["lines"]) >= 1001


async def test_a_long_paragraph_is_not_resent_with_each_change(
    server: Server,
    http: aiohttp.ClientSession,
    workspace: Workspace,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_feed, "FLUSH_INTERVAL", 0)
    monkeypatch.setattr(block_feed, "MAX_RESEND_RATE", 100)
    page = await open_page(http, server)
    await page.show("s")
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "a word " * 1000)
    await page.until("content-blocks")
    sent = len(page.socket.frames)
    for _ in range(3):
        write(workspace, "and another ")
        await page.socket.call("get_preferences")  # What is due by now comes before the reply.
    assert "content-blocks" not in [frame.get("event") for frame in page.socket.frames[sent:]]
    end(workspace)
    while (event := (await page.socket.receive()).get("event")) != "message-completed":
        assert event != "content-blocks"
    await page.until("content-blocks")
    assert page.blocks["m", 0] == render("a word " * 1000 + "and another " * 3)


async def test_only_the_shown_session_sends_blocks(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await open_page(http, server)
    await page.show("s")
    await page.show(None)
    await page.socket.call("get_preferences")
    begin(workspace)
    write(workspace, "Nobody looks.")
    end(workspace)
    await page.until("message-completed")
    await page.socket.call("get_preferences")
    assert not [f for f in page.socket.frames if f.get("event") == "content-blocks"]


async def test_an_unknown_session_cannot_be_shown(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await open_page(http, server)
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


async def test_stored_messages_have_blocks_beside_their_texts(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace, session: Session
) -> None:
    page = await open_page(http, server)
    content = [TextBlock(text="**bold**"), PlanBlock(text="1. look")]
    message = Message(id="m", role="assistant", timestamp=1, session_id="s", content=content)
    workspace.store.record(MessageStarted(message_id="m", session_id="s", message=message))
    end(workspace)
    stored = await page.socket.call("get_message_blocks", session_id="s")
    blocks = stored["messages"][0]["content"]
    assert [block["blocks"] for block in blocks] == [render("**bold**"), render("1. look")]
    assert [block["text"] for block in blocks] == ["**bold**", "1. look"]


async def test_rendering_does_not_block_the_loop_and_includes_text_written_meanwhile(
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

    def write_while_rendering(message: Message) -> dict[str, Any]:
        if message.id == "m1":
            asyncio.run_coroutine_threadsafe(write_more(), loop).result(PATIENCE)
        return render_message(message)

    monkeypatch.setattr(blocks, "_with_blocks", write_while_rendering)
    page = await blocks.get_message_blocks(workspace, "s")
    texts = [block["text"] for block in page.messages[-1]["content"]]
    assert texts == ["One." * 5000, "Two."]
