"""Excerpts of messages, in lists of sessions and of search results."""

from typing import Any

from playwright.async_api import Page, expect

from tests.server.conftest import Socket


async def test_excerpts_show_text_without_the_signs_of_markdown(
    page: Page, client: Socket, session: Any
) -> None:
    message = "/demo say The **new** parser, see [its page](https://x.test), is in `parse.py`."
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    plain = "The new parser, see its page, is in parse.py."
    await page.goto("/#/canvas")
    await expect(page.locator(".last-message")).to_have_text(plain)
    await page.goto("/#/search?q=parser")
    answer = page.locator(".hit .verbatim").filter(has_not_text="/demo")
    await expect(answer).to_have_text(plain)
