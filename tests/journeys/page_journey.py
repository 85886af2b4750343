"""The steps of a journey on the page.

A step takes JSON values, so that a journey can be recorded and replayed. A step that is impossible
in the current state, such as a decision without a request, does nothing.
"""

import json
from typing import Any, Final

from playwright.sync_api import Locator

from tests.journeys.ledger import InvariantError
from tests.journeys.page_harness import PageHarness
from tests.journeys.page_input import scroll
from tests.journeys.page_landing import LandingSteps
from tests.patience import PATIENCE

DECISIONS: Final = {
    "plan": {
        "approved build": ["Build"],
        "approved yolo": ["Yolo", "Confirm: it will not ask again"],
    },
    "permission": {"allowed": ["Allow"], "denied": ["Deny"]},
    "question": {"answered red": ["red"], "answered blue": ["blue"]},
}
"""For each kind of request: the outcomes and the buttons that lead to them."""
DOUBLE_PRESS: Final = 600
"""Milliseconds after which a second press is not part of a double press."""
MAX_PRESSES: Final = 5
"""How often to press a button that moves while text is added above it."""
KEYBOARD_HEIGHT: Final = 414
"""Height of a phone's on-screen keyboard."""
POSSIBLE_WHEN_BLANK: Final = ("come_back", "elsewhere", "reload_offline", "resize", "switch_tab")
"""Steps that are possible after the page was loaded offline and has no content yet."""


class PageJourney(LandingSteps):
    """Performs steps and checks the invariants after each."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self.steps: list[tuple[str, dict[str, Any]]] = []

    def perform(self, name: str, **values: Any) -> None:
        """Perform a step and check the invariants. Raises `InvariantError` with all steps."""
        self.steps.append((name, values))
        try:
            if self._harness is None or not self.harness.is_blank or name in POSSIBLE_WHEN_BLANK:
                getattr(self, name)(**values)
            self.harness.check()
        except Exception as error:
            steps = "\n".join(f"    {json.dumps(step)}" for step in self.steps)
            message = f"{error}\nafter {len(self.steps)} steps:\n{steps}\n"
            report = self._harness.describe_state() if self._harness is not None else ""
            failure = InvariantError(message + report)
            failure.steps = self.steps
            raise failure from error

    def close(self) -> None:
        """Stop all processes."""
        if self._harness is not None:
            self._harness.close()

    def open_page(self, screen: str) -> None:
        """Open the page on a screen of this kind."""
        self._harness = PageHarness(screen, self.patience)

    # Navigation ---------------------------------------------------------------------------------

    def open_by_tree(self, number: int) -> None:
        """Open a session by its row in the tree, which a phone shows in a drawer."""
        conversation = self.harness.world.nth(number)
        if conversation.is_archived:
            return
        before = self.harness.read_view().session_id
        menu = self.harness.page.locator("#menu")
        if menu.is_visible() and menu.get_attribute("aria-expanded") != "true":
            self._press(menu)
        row = self.harness.page.locator(f'#tree .row[data-session="{conversation.id}"] > a')
        self._press(row)
        self.harness.wait_for_session(conversation.id, before)
        self.harness.wait_for(lambda view: not view.is_drawer_open, "the drawer to close")

    def open_by_needs(self, number: int) -> None:
        """Open a session from the list of those that need the user."""
        if not self._go_to_needs():
            return
        waiting = sorted(
            each.id for each in self.harness.world.open_sessions if each.request is not None
        )
        if waiting:
            session_id = waiting[number % len(waiting)]
            link = self.harness.page.locator(f'.waiting-item[data-key="{session_id}"] a.session')
            if self._press_if_present(link):
                self.harness.wait_for_session(session_id)

    def _go_to_needs(self) -> bool:
        """Open that list by its button in the bar. Return whether the button is there."""
        if not self._press_if_present(self.harness.page.locator("#needs")):
            return False
        self.harness.wait_for(lambda view: view.address == "#/needs", "the list “Needs you”")
        return True

    def open_by_address(self, number: int) -> None:
        """Open a session by its URL."""
        before = self.harness.read_view().session_id
        self.harness.page.goto(f"/#/session/{self.harness.world.nth(number).id}")
        self.harness.wait_for_session(self.harness.world.nth(number).id, before)

    def open_by_palette(self, number: int) -> None:
        """Open a session in the palette, by the name that the tree shows."""
        conversation, view = self.harness.world.nth(number), self.harness.read_view()
        if conversation.is_archived or conversation.id not in view.tree:
            return
        before, (name, _) = view.session_id, view.tree[conversation.id]
        self.harness.page.keyboard.press("Control+k")
        option = self.harness.page.get_by_role("option").filter(has_text=name).first
        self.harness.page.keyboard.insert_text(name)
        option.wait_for()
        self.harness.page.keyboard.press("Enter")
        self.harness.wait_for_session(conversation.id, before)
        self.harness.wait_for(lambda view: not view.dialogs, "the palette to close")

    def traverse_history(self, step: int) -> None:
        """Go back or forward in the browser's history."""
        goal = self.harness.page.evaluate(
            "(step) => navigation.entries()[navigation.currentEntry.index + step]?.url ?? ''", step
        )
        if not goal:
            return
        current = self.harness.read_view().address
        _, hash_sign, fragment = goal.partition("#")
        address = hash_sign + fragment if fragment else ""
        self.harness.page.evaluate("(step) => history.go(step)", step)
        if address != current:
            self.harness.wait_for(lambda view: view.address == address, f"the address {address}")
        else:  # An overlay pushed a history entry of its own.
            self.harness.poll_until(lambda: self.harness.read_view().address != current, seconds=1)
        self.harness.is_scrolled = False

    def scroll(self, turns: int) -> None:
        """Scroll up if `turns` is negative, else down."""
        scroller = self.harness.page.locator(".transcript")
        if self.shown is not None and scroller.count():
            scroll(self.harness, scroller, turns * 500)
            self.harness.is_scrolled = True

    def resize(self, is_small: bool) -> None:
        """Show or hide a phone's keyboard; on a desktop, resize the window."""
        screen = self.harness.screen
        height = screen.height - KEYBOARD_HEIGHT if is_small else screen.height
        width = 1000 if is_small and not screen.touch else screen.width
        self.harness.page.set_viewport_size({"width": width, "height": height})

    def reload(self) -> None:
        """Reload the page."""
        if self.harness.is_online:
            self.harness.page.reload()
            self.harness.page.wait_for_selector("body[data-ready]", state="attached")
            self.harness.is_scrolled = False

    def go_offline(self) -> None:
        """Cut the connection."""
        if self.harness.is_online:
            self.harness.proxy.cut()
            self.harness.wait_for(lambda view: view.link == "lost", "the offline notice")

    def come_back(self) -> None:
        """Restore the connection and dispatch the browser's `online` event."""
        if not self.harness.is_online:
            self.harness.proxy.restore()
            self.harness.blank.clear()
            for tab in self.harness.tabs:
                tab.evaluate("() => dispatchEvent(new Event('online'))")
            self.harness.wait_for(lambda view: view.link == "open", "the connection")

    def reload_offline(self) -> None:
        """Reload the page while it is offline; the service worker serves it."""
        if not self.harness.is_online:
            self.harness.page.reload()
            self.harness.blank.add(self.harness.page)
            self.harness.wait_for(lambda view: view.link == "lost", "the offline notice")

    def open_tab(self, number: int) -> None:
        """Open a session in a second tab."""
        if self.harness.is_online and len(self.harness.tabs) == 1:
            session_id = self.harness.world.nth(number).id
            self.harness.open_tab(f"/session/{session_id}")
            self.harness.wait_for_session(session_id)

    def switch_tab(self) -> None:
        """Switch to the other tab. If both show the same session, they must have the same draft."""
        if len(self.harness.tabs) == 1:
            return
        left = self.harness.read_view()
        was_shown = not self.harness.is_blank
        self.harness.switch_tab()
        if (
            was_shown
            and not self.harness.is_blank
            and left.session_id == self.harness.read_view().session_id
        ):
            self.harness.wait_for(lambda view: view.box == left.box, f"the draft “{left.box}”")

    def close_tab(self) -> None:
        """Close this tab and continue in the other one."""
        if len(self.harness.tabs) > 1:
            left = self.harness.page
            self.harness.switch_tab()
            self.harness.close_tab(left)

    # Sessions -----------------------------------------------------------------------------------

    def decide(self, number: int, in_list: bool) -> None:
        """Decide a request by its buttons, in the session or in the list of all requests."""
        current = self.shown
        if not self.harness.is_online:
            return
        if in_list:
            if not self._go_to_needs():
                return
            waiting = [
                each for each in self.harness.world.open_sessions if each.request is not None
            ]
            current = waiting[number % len(waiting)] if waiting else None
        if current is None or current.request is None:
            return
        card = f'.waiting-item[data-key="{current.id}"]' if in_list else ".session-end"
        outcomes = sorted(DECISIONS[current.request["kind"]].items())
        outcome, buttons = outcomes[number % len(outcomes)]
        self.harness.ledger.record_decision(current.request["message_id"], outcome)
        request_id = current.request["id"]

        def is_decided() -> bool:
            request = self.harness.world.conversations[current.id].request
            return request is None or request["id"] != request_id

        for _ in range(MAX_PRESSES):
            self._press_all(self.harness.page.locator(f"{card} .request"), buttons)
            if self.harness.poll_until(is_decided):
                return
        raise InvariantError(f"cannot press {buttons}")

    def _press_all(self, card: Locator, buttons: list[str]) -> None:
        for name in buttons:
            button = card.locator('button:not([aria-disabled="true"]):not(:disabled)')
            if not self._press_if_present(button.filter(has_text=name).first, wait=True):
                return
            if buttons[0] == "Yolo":
                self.harness.page.wait_for_timeout(DOUBLE_PRESS)

    def watch(self) -> None:
        """Wait briefly for the agent to finish or ask something."""
        self.harness.poll_until(
            lambda: (current := self.shown) is None or current.status != "running"
        )

    def stop(self) -> None:
        """Press the stop button, if there is one."""
        if self.harness.is_online:
            self._press_if_present(self.harness.page.locator(".composer .stop"))

    def switch_mode(self, mode: str) -> None:
        """Choose a mode under the message box, or in the sheet of a phone."""
        current = self.shown
        if current is not None and self.harness.is_online:
            has_sheet = self._press_if_present(self.harness.page.locator(".settings-chip"))
            self.harness.page.locator("select.mode").select_option(mode)
            if has_sheet:
                self._press(self.harness.page.get_by_role("button", name="Done"))
            self.harness.settle(
                lambda: (
                    ""
                    if self.harness.world.conversations[current.id].session["execution_mode"]
                    == mode
                    else f"the mode {mode} was chosen without effect"
                )
            )

    def archive(self) -> None:
        """Archive the open session by its menu, or restore it by its button."""
        current = self.shown
        if current is None or not self.harness.is_online:
            return
        if current.is_archived:
            self._press(self.harness.page.get_by_role("button", name="Restore"))
        elif len(self.harness.world.open_sessions) > 3 and current.status == "idle":
            self.harness.ledger.expect("session-archived")
            self._press(self.harness.page.locator("#view-bar .more"))
            self._press(self.harness.page.get_by_role("button", name="Archive the session"))
            self._press(self.harness.page.get_by_role("button", name="Archive", exact=True))
        else:
            return
        conversations = lambda: self.harness.world.conversations  # noqa: E731
        self.harness.settle(
            lambda: (
                ""
                if conversations()[current.id].is_archived != current.is_archived
                else "not archived"
            )
        )
        self.harness.wait_for(lambda view: not view.dialogs, "the menu to close")

    def elsewhere(self, action: str, number: int) -> None:
        """Have the second client perform an action on a session."""
        self.harness.second.perform(action, self.harness.client, self.harness.world, number)

    def decide_as_guest(self, number: int) -> None:
        """Have the guest answer a session's request."""
        self.harness.guest.decide(self.harness.second, self.harness.world, number)
