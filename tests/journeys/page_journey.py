"""A person's way through Spinney on a page: its steps, each by its name.

A step takes plain values, so that a journey can be written down and walked again. One that is not
possible where it comes (nothing waits, nothing is open) does nothing.
"""

import json
from typing import Any, Final

from playwright.sync_api import Locator

from tests.journeys.ledger import FoundError
from tests.journeys.page_hands import scroll
from tests.journeys.page_place import PagePlace
from tests.journeys.page_work import WorkSteps
from tests.patience import PATIENCE

DECISIONS: Final = {
    "plan": {
        "approved build": ["Build"],
        "approved yolo": ["Yolo", "Confirm: it will not ask again"],
    },
    "permission": {"allowed": ["Allow"], "denied": ["Deny"]},
    "question": {"answered red": ["red", "Answer"], "answered blue": ["blue", "Answer"]},
}
"""What becomes of each kind of request by which of its buttons."""
DOUBLE: Final = 600
"""Milliseconds after which a second press is one of its own."""
TRIES: Final = 5
"""Presses of a button that moves, as what is written above it does."""
KEYBOARD: Final = 414
"""What a phone's keyboard takes of the height."""
ON_A_BLANK_PAGE: Final = ("come_back", "elsewhere", "reload_offline", "resize", "switch_tab")
"""What can be done where a page was loaded without a connection, and shows nothing yet."""


class PageJourney(WorkSteps):
    """Steps through one Spinney, and what holds after each of them."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self.steps: list[tuple[str, dict[str, Any]]] = []

    def perform(self, name: str, **values: Any) -> None:
        """Take a step, and see that all holds."""
        self.steps.append((name, values))
        try:
            if self.place is None or not self.at.is_blank or name in ON_A_BLANK_PAGE:
                getattr(self, name)(**values)
            self.at.check()
        except Exception as error:
            steps = "\n".join(f"    {json.dumps(step)}" for step in self.steps)
            told = f"{error}\nafter {len(self.steps)} steps:\n{steps}\n"
            report = self.place.draw_report() if self.place is not None else ""
            found = FoundError(told + report)
            found.steps = self.steps
            raise found from error

    def close(self) -> None:
        """End everything."""
        if self.place is not None:
            self.place.close()

    def sit_down(self, screen: str) -> None:
        """Open the page on a phone or at a desk."""
        self.place = PagePlace(screen, self.patience)

    # Going about --------------------------------------------------------------------------------

    def open_by_tree(self, number: int) -> None:
        """Open a session by its row of the tree; on a phone it is behind a button."""
        conversation = self.at.world.at(number)
        if conversation.is_archived:
            return
        before = self.at.look().session_id
        menu = self.at.page.locator("#menu")
        if menu.is_visible() and menu.get_attribute("aria-expanded") != "true":
            self._press(menu)
        row = self.at.page.locator(f'#tree .row[data-key="{conversation.id}"] a')
        self._press(row)
        self.at.wait_for_session(conversation.id, before)
        self.at.wait_for(lambda seen: not seen.is_drawer_open, "the end of the drawer")

    def open_by_needs(self, number: int) -> None:
        """Open one of those that need somebody by their list, as far as any does."""
        if not self._go_to_needs():
            return
        waiting = sorted(made.id for made in self.at.world.open if made.request is not None)
        if waiting:
            session_id = waiting[number % len(waiting)]
            link = self.at.page.locator(f'.waiting-item[data-key="{session_id}"] a.session')
            if self._press_if_there(link):
                self.at.wait_for_session(session_id)

    def _go_to_needs(self) -> bool:
        """Go to the list by its button in the bar, where there is one."""
        if not self._press_if_there(self.at.page.locator("#needs")):
            return False
        self.at.wait_for(lambda seen: seen.address == "#/needs", "the list of those in need")
        return True

    def open_by_address(self, number: int) -> None:
        """Open a session by a link to it."""
        before = self.at.look().session_id
        self.at.page.goto(f"/#/session/{self.at.world.at(number).id}")
        self.at.wait_for_session(self.at.world.at(number).id, before)

    def open_by_palette(self, number: int) -> None:
        """Open a session by its name in the palette: the one that the page knows."""
        conversation, seen = self.at.world.at(number), self.at.look()
        if conversation.is_archived or conversation.id not in seen.tree:
            return
        before, (name, _) = seen.session_id, seen.tree[conversation.id]
        self.at.page.keyboard.press("Control+k")
        option = self.at.page.get_by_role("option").filter(has_text=name).first
        self.at.page.keyboard.insert_text(name)
        option.wait_for()
        self.at.page.keyboard.press("Enter")
        self.at.wait_for_session(conversation.id, before)
        self.at.wait_for(lambda seen: not seen.dialogs, "the end of the palette")

    def travel(self, step: int) -> None:
        """Go back or forward."""
        goal = self.at.page.evaluate(
            "(step) => navigation.entries()[navigation.currentEntry.index + step]?.url ?? ''", step
        )
        if not goal:
            return
        here = self.at.look().address
        _, sign, place = goal.partition("#")
        address = sign + place if place else ""
        self.at.page.evaluate("(step) => history.go(step)", step)
        if address != here:
            self.at.wait_for(lambda seen: seen.address == address, f"the address {address}")
        else:  # What lay over the page has this step, and takes one more for it.
            self.at.look_on(lambda: self.at.look().address != here, seconds=1)
        self.at.is_scrolled = False

    def scroll(self, turns: int) -> None:
        """Look at older messages, or come back."""
        scroller = self.at.page.locator(".transcript")
        if self.shown is not None and scroller.count():
            scroll(self.at, scroller, turns * 500)
            self.at.is_scrolled = True

    def resize(self, is_small: bool) -> None:
        """Have a phone's keyboard come or go; at a desk make the window smaller or larger."""
        screen = self.at.screen
        height = screen.height - KEYBOARD if is_small else screen.height
        width = 1000 if is_small and not screen.touch else screen.width
        self.at.page.set_viewport_size({"width": width, "height": height})

    def reload(self) -> None:
        """Load the page anew."""
        if self.at.is_online:
            self.at.page.reload()
            self.at.page.wait_for_selector("body[data-ready]", state="attached")
            self.at.is_scrolled = False

    def go_offline(self) -> None:
        """Lose the connection."""
        if self.at.is_online:
            self.at.line.cut()
            self.at.wait_for(lambda seen: seen.link == "lost", "a word that it is offline")

    def come_back(self) -> None:
        """Have the connection back, as the browser says."""
        if not self.at.is_online:
            self.at.line.restore()
            self.at.blank.clear()
            for tab in self.at.tabs:
                tab.evaluate("() => dispatchEvent(new Event('online'))")
            self.at.wait_for(lambda seen: seen.link == "open", "the connection")

    def reload_offline(self) -> None:
        """Load the page anew while there is no connection: it comes from what the browser keeps."""
        if not self.at.is_online:
            self.at.page.reload()
            self.at.blank.add(self.at.page)
            self.at.wait_for(lambda seen: seen.link == "lost", "a word that it is offline")

    def open_tab(self, number: int) -> None:
        """Open a session in a tab beside this one."""
        if self.at.is_online and len(self.at.tabs) == 1:
            session_id = self.at.world.at(number).id
            self.at.open_tab(f"/session/{session_id}")
            self.at.wait_for_session(session_id)

    def switch_tab(self) -> None:
        """Look at the other tab; where both show one session, what is written stands in both."""
        if len(self.at.tabs) == 1:
            return
        left = self.at.look()
        are_shown = not self.at.is_blank
        self.at.switch_tab()
        if are_shown and not self.at.is_blank and left.session_id == self.at.look().session_id:
            self.at.wait_for(lambda seen: seen.box == left.box, f"the draft “{left.box}”")

    def close_tab(self) -> None:
        """Close this tab, and go on in the other one."""
        if len(self.at.tabs) > 1:
            left = self.at.page
            self.at.switch_tab()
            self.at.close_tab(left)

    # Sessions -----------------------------------------------------------------------------------

    def decide(self, number: int, in_list: bool) -> None:
        """Decide what waits, by the buttons for it: in its session, or in the list of all."""
        here = self.shown
        if not self.at.is_online:
            return
        if in_list:
            if not self._go_to_needs():
                return
            waiting = [made for made in self.at.world.open if made.request is not None]
            here = waiting[number % len(waiting)] if waiting else None
        if here is None or here.request is None:
            return
        card = f'.waiting-item[data-key="{here.id}"]' if in_list else ".session-end"
        outcomes = sorted(DECISIONS[here.request["kind"]].items())
        outcome, buttons = outcomes[number % len(outcomes)]
        self.at.ledger.act(here.request["message_id"], outcome)
        request_id = here.request["id"]

        def is_decided() -> bool:
            request = self.at.world.conversations[here.id].request
            return request is None or request["id"] != request_id

        for _ in range(TRIES):
            self._press_all(self.at.page.locator(f"{card} .request"), buttons)
            if self.at.look_on(is_decided):
                return
        raise FoundError(f"it could not be pressed: {buttons}")

    def _press_all(self, card: Locator, buttons: list[str]) -> None:
        for name in buttons:
            button = card.locator('button:not([aria-disabled="true"]):not(:disabled)')
            if not self._press_if_there(button.filter(has_text=name).first, wait=True):
                return
            if buttons[0] == "Yolo":
                self.at.page.wait_for_timeout(DOUBLE)

    def watch(self) -> None:
        """Look on until the agent rests or asks something, if it does soon."""
        self.at.look_on(lambda: (here := self.shown) is None or here.status != "running")

    def stop(self) -> None:
        """Press the button that stops, where there is one."""
        if self.at.is_online:
            self._press_if_there(self.at.page.locator(".composer .stop"))

    def switch_mode(self, mode: str) -> None:
        """Choose a mode under the message box."""
        here = self.shown
        if here is not None and self.at.is_online:
            self.at.page.locator("select.mode").select_option(mode)
            self.at.settle(
                lambda: (
                    ""
                    if self.at.world.conversations[here.id].session["execution_mode"] == mode
                    else f"the mode {mode} was chosen in vain"
                )
            )

    def archive(self) -> None:
        """Archive the open session by its menu, or bring it back by the button there."""
        here = self.shown
        if here is None or not self.at.is_online:
            return
        if here.is_archived:
            self._press(self.at.page.get_by_role("button", name="Restore"))
        elif len(self.at.world.open) > 3 and here.status == "idle":
            self.at.ledger.want("session-archived")
            self._press(self.at.page.locator(".top .more"))
            self._press(self.at.page.get_by_role("button", name="Archive the session"))
            self._press(self.at.page.get_by_role("button", name="Archive", exact=True))
        else:
            return
        conversations = lambda: self.at.world.conversations  # noqa: E731
        self.at.settle(
            lambda: (
                "" if conversations()[here.id].is_archived != here.is_archived else "not archived"
            )
        )
        self.at.wait_for(lambda seen: not seen.dialogs, "the end of the menu")

    def elsewhere(self, do: str, number: int) -> None:
        """The second person does something to a session."""
        self.at.second.do(do, self.at.client, self.at.world, number)
