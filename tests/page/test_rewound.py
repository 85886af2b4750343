"""Messages that were taken back, on the page of their session."""

from typing import Any

import pytest
from playwright.async_api import expect

from model.backends import agent_events
from model.chat.rewinding import ConversationPoint
from model.domain.usage import Usage
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, begin_turn
from tests.server.conftest import Socket

DONE = agent_events.TurnFinished("end_turn", Usage())


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


async def run_turn(server: InProcessServer, client: Socket, session: Any, text: str) -> None:
    puppet = await begin_turn(server, client, session, text)
    puppet.say(agent_events.TextFinal(text, f"Done: {text}."), DONE)
    await client.until(
        lambda shown: shown["status"] == "idle", "get_session", sessionId=session["id"]
    )


async def test_they_are_one_line_that_shows_and_hides_them(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    for text in ("one", "two", "three"):
        await run_turn(in_process_server, client, session, text)
    page = await open_page(f"/session/{session['id']}")
    transcript, line = page.locator(".transcript"), page.locator("button.rewound")
    await expect(transcript.get_by_text("Done: three.")).to_be_visible()
    found = await client.call("get_messages", sessionId=session["id"])
    second = found["messages"][2]["id"]
    chats = in_process_server.workspace.chats
    point = ConversationPoint(message_id=second, backend="demo")
    rewound = await chats.rewind(session["id"], keep=point)
    await expect(line).to_have_text("4 messages rewound · show")
    await expect(transcript.get_by_text("Done: one.")).to_be_visible()
    await expect(transcript.get_by_text("Done: two.")).to_be_hidden()
    await line.click()
    await expect(transcript.get_by_text("Done: two.")).to_be_visible()
    await expect(line).to_have_attribute("aria-expanded", "true")
    await expect(line).to_be_focused()
    await line.click()
    await expect(transcript.get_by_text("Done: two.")).to_be_hidden()
    await page.reload()
    await expect(line).to_have_text("4 messages rewound · show")
    await page.evaluate(f"() => {{ location.hash = '#/session/{session['id']}?message={second}' }}")
    await expect(page.locator(f"#m-{second}")).to_be_visible()
    await chats.restore(session["id"], rewound)
    await expect(line).to_have_count(0)
    await expect(transcript.get_by_text("Done: three.")).to_be_visible()
