"""What waits under a conversation, for the agent or for the connection, changed and removed."""

from typing import Any

from tests.journeys.ledger import MARK, Conversation
from tests.journeys.page_hands import press_if_there
from tests.journeys.page_place import PagePlace

ROWS = """(rows) => rows.filter((row) => row.querySelector("button")).map(
  (row) => [row.dataset.key, row.querySelector("span").lastChild.textContent])"""
"""Keys and texts of those that can still be changed."""


def take(at: PagePlace, here: Conversation, number: int, button: str) -> None:
    """Take one of them back by its button: `Edit` brings it into the box, `Remove` deletes it."""
    rows: list[Any] = at.page.locator(".queue li").evaluate_all(ROWS)
    if not at.is_online:  # Only letters can be taken back then, which have not been sent.
        rows = [row for row in rows if " " not in row[0]]
    if not rows:
        return
    key, text = rows[number % len(rows)]
    row = at.page.locator(f'.queue li[data-key="{key}"]')
    if not press_if_there(at, row.get_by_role("button", name=button)):
        return
    # A letter that was not sent has the id that its message will have.
    message_id = key.partition(" ")[0].partition("/")[0]
    at.settle(lambda: f"it waits still: {text}" if _waits(at, here, message_id) else "")
    now = at.world.conversations[here.id]
    if any(message["id"] == message_id for message in now.messages):
        return  # It was sent before.
    at.ledger.take_back(text)
    if button == "Edit":
        at.ledger.type(text)
        wanted = "".join(text.split())
        at.wait_for(lambda seen: wanted in "".join(seen.box.split()), f"“{text}” in the box")
    else:
        for mark in MARK.findall(text):
            at.ledger.typed.pop(mark, None)


def _waits(at: PagePlace, here: Conversation, message_id: str) -> bool:
    queued = at.world.conversations[here.id].queued
    letters = at.look().kept.get("spinney-outbox", "")
    return message_id in letters or any(message["id"] == message_id for message in queued)
