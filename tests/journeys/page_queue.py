"""Edits and removes messages that wait for the agent or the connection."""

from typing import Any

from tests.journeys.ledger import MARK, Conversation
from tests.journeys.page_harness import PageHarness
from tests.journeys.page_input import press_if_present

READ_ROWS = """(rows) => rows.filter((row) => row.querySelector("button")).map(
  (row) => [row.dataset.key, row.querySelector("span").lastChild.textContent])"""
"""Keys and texts of the queued messages that can still be changed."""


def take_from_queue(harness: PageHarness, current: Conversation, number: int, button: str) -> None:
    """Press a button of a queued message: `Edit` moves it into the box, `Remove` deletes it."""
    rows: list[Any] = harness.page.locator(".queue li").evaluate_all(READ_ROWS)
    if not harness.is_online:  # Then only unsent messages can be changed.
        rows = [row for row in rows if " " not in row[0]]
    if not rows:
        return
    key, text = rows[number % len(rows)]
    row = harness.page.locator(f'.queue li[data-key="{key}"]')
    if not press_if_present(harness, row.get_by_role("button", name=button)):
        return
    # The key of an unsent message begins with the id that the message will have.
    message_id = key.partition(" ")[0].partition("/")[0]
    harness.settle(
        lambda: f"it is still waiting: {text}" if _is_waiting(harness, current, message_id) else ""
    )
    updated = harness.world.conversations[current.id]
    if any(message["id"] == message_id for message in updated.messages):
        return  # It was sent before.
    harness.ledger.record_removed(text)
    if button == "Edit":
        harness.ledger.record_typed(text)
        wanted = "".join(text.split())
        harness.wait_for(lambda view: wanted in "".join(view.box.split()), f"“{text}” in the box")
    else:
        for mark in MARK.findall(text):
            harness.ledger.typed.pop(mark, None)


def send_now(harness: PageHarness, current: Conversation) -> None:
    """Send the first queued message that offers it into the running turn."""
    waiting = [message for message in current.queued if not message.get("steered")]
    if current.status != "running" or not waiting or not harness.is_online:
        return
    row = harness.page.locator(f'.queue li[data-key^="{waiting[0]["id"]} "]')
    button = row.locator("> button").filter(has_text="Send now")
    if not press_if_present(harness, button):
        return

    def find_problem() -> str:
        now = harness.world.conversations[current.id]
        if now.status != "running" or not harness.is_online:
            return ""
        found = [message for message in now.queued if message["id"] == waiting[0]["id"]]
        return "it is queued as before" if found and not found[0].get("steered") else ""

    harness.settle(find_problem)


def _is_waiting(harness: PageHarness, current: Conversation, message_id: str) -> bool:
    queued = harness.world.conversations[current.id].queued
    unsent = harness.read_view().kept.get("spinney-outbox", "")
    return message_id in unsent or any(message["id"] == message_id for message in queued)
