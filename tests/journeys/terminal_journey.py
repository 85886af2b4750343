"""The steps of a journey on the terminal.

A step takes JSON values, so that a journey can be recorded and replayed. A step that is impossible
in the current state, such as a decision without a request, does nothing.
"""

import json
import time
from typing import Any, Final

from tests.journeys.harness import WATCH_SECONDS
from tests.journeys.ledger import MARK, MODE_CHANGED, STOPPED, InvariantError, strings
from tests.journeys.prompts import DIRECTIVES
from tests.journeys.screen import TREE_FIRST_ROW
from tests.journeys.second_client import MAX_SESSIONS
from tests.journeys.terminal_input import (
    DOWN,
    ENTER,
    ESCAPE,
    KEY_INTERVAL,
    KEY_PAUSE,
    PALETTE,
    READING_SECONDS,
    TAB,
    UP,
)
from tests.journeys.terminal_places import ARCHIVE
from tests.journeys.terminal_review import ReviewSteps
from tests.patience import PATIENCE

NEXT_WAITING: Final = "\x00"
MODE, SEARCH, QUIT, NEW_SESSION = "\x1b[Z", "\x06", "\x11", "\x14"
PAGES: Final = {-1: "\x1b[5~", 1: "\x1b[6~"}
DECISIONS: Final = {
    "plan": {"approved build": "Build", "approved yolo": "Yolo"},
    "permission": {"allowed": "Allow once", "denied": "Deny"},
    "question": {"answered red": "red", "answered blue": "blue"},
}
"""For each kind of request: the outcomes and the choices that lead to them."""


def _first_missing(marks: list[str], pages: list[str]) -> str:
    """Return the first mark that the pages do not contain in this order, or an empty string."""
    text, position = "\n".join(pages), 0
    for mark in marks:
        position = text.find(mark, position)
        if position < 0:
            return mark
        position += len(mark)
    return ""


class TerminalJourney(ReviewSteps):
    """Performs steps and checks the invariants after each."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self.steps: list[tuple[str, dict[str, Any]]] = []

    def perform(self, name: str, **values: Any) -> None:
        """Perform a step and check the invariants. Raises `InvariantError` with all steps."""
        self.steps.append((name, values))
        try:
            getattr(self, name)(**values)
            self.harness.check()
        except Exception as error:
            steps = "\n".join(f"    {json.dumps(step)}" for step in self.steps)
            message = f"{error}\nafter {len(self.steps)} steps:\n{steps}\n"
            failure = InvariantError(message + self.harness.describe_state())
            failure.steps = self.steps
            raise failure from error

    def close(self) -> None:
        """Stop all processes."""
        self.harness.close()

    # Navigation ---------------------------------------------------------------------------------

    def click_row(self, number: int) -> None:
        """Open a session by a click on its row in the tree."""
        name = self.harness.world.nth(number).name
        if (row := self.harness.view.find_tree_row(name)) is not None:
            self.click(12, row)
            self.harness.wait_for_session(name)

    def click_and_type(self, number: int, words: str) -> None:
        """Click on the row of a session and type in the same write: the text is in its box."""
        target = self.harness.world.nth(number)
        row = self.harness.view.find_tree_row(target.name)
        if row is None or not self._is_free(target):
            return
        text = f"{words} {self.harness.ledger.new_mark()}"
        self.harness.ledger.record_typed(text, target.id)
        self.click(12, row, text)
        self.harness.wait_for_session(target.name)
        if self.find_draft(text) != target.id:
            raise InvariantError(f"{text} was typed after a click on {target.name}")
        self.box_texts[target.id] = text

    def open_next_waiting(self, words: str = "") -> None:
        """Go to the next session that needs the user, and type `words` in the same write."""
        none_left = ("No session needs you", "Only this session")
        says_none_left = lambda view: any(text in "\n".join(view.rows) for text in none_left)  # noqa: E731
        before, current = self.harness.view, self.shown
        if says_none_left(before):
            return  # The next message could not be distinguished from this one.
        self.harness.refresh()
        open_sessions = self.harness.world.open_sessions
        others = [each for each in open_sessions if each.needs_user and each.name != before.session]
        text = f"{words} {self.harness.ledger.new_mark()}" if words and current else ""
        self.harness.ledger.record_typed(text, *(each.id for each in open_sessions))
        self.press(NEXT_WAITING + text)
        if others:
            is_other = lambda view: view.session != before.session  # noqa: E731
            self.harness.wait_for(is_other, "the next session that needs the user")
        else:  # On a busy machine, the toast may disappear before it is drawn.
            self.harness.screen_shows(
                lambda view: view.session != before.session or says_none_left(view), WATCH_SECONDS
            )
        if text:
            self.box_texts[self.find_draft(text)] += text

    def search(self, number: int) -> None:
        """Open a session by a search result."""
        conversation = self.harness.world.nth(number)
        marks = sorted(MARK.findall(" ".join(strings(conversation.messages))))
        if not marks or conversation.is_archived:
            return
        self.press(SEARCH)
        self.harness.wait_for(lambda view: "Search" in view.overlays, "the search")
        self.press(marks[0])
        self.harness.wait_for(lambda view: "found in" in "\n".join(view.rows), "a search result")
        self.press(ENTER)
        self.harness.wait_for_session(conversation.name, at_end=False)

    def open_by_palette(self, number: int) -> None:
        """Open the canvas from the palette, and there a session by its name."""
        conversation = self.harness.world.nth(number)
        if not conversation.is_archived:
            self.open_by_name(conversation)

    def open_by_keys(self, number: int) -> None:
        """Open a session in the tree by Tab, arrows and Enter."""
        conversation, current = self.harness.world.nth(number), self.shown
        row = self.harness.view.find_tree_row(conversation.name)
        if current is None or current.request is not None or row is None:
            return
        self.focus_box()
        for keys in (TAB, UP * len(self.harness.view.rows), DOWN * (row - TREE_FIRST_ROW), ENTER):
            self.press(keys)
            time.sleep(KEY_INTERVAL)
        is_there = self.harness.screen_shows(
            lambda view: view.session == conversation.name, WATCH_SECONDS
        )
        if not is_there and self.reread(current).request is not None:
            self.focus_box()  # A new request received the keys, without effect.
        else:
            self.harness.wait_for_session(conversation.name)

    def read_all(self) -> None:
        """Scroll to the start of the conversation, and check that all messages appear in order."""
        current = self.shown
        if current is None or current.status != "idle" or current.queued:
            return
        marks = [
            mark
            for message in current.kept_messages
            for block in message["content"]
            if block["type"] == "text"
            for mark in MARK.findall(block["text"])
        ]
        pages = [self.harness.view.conversation]
        end = time.monotonic() + self.harness.patience
        while missing := _first_missing(marks, pages):
            if time.monotonic() > end:
                raise InvariantError(
                    f"scrolled to the start, and {missing} of {marks} was not drawn"
                )
            self.press(PAGES[-1])
            self.harness.scrolled.add(current.id)
            if page := self._await_next_page(pages[0]):
                pages.insert(0, page)
            else:  # This is the start. A page was skipped: scroll again from the end.
                self.press(PAGES[1] * (len(pages) + 1))
                pages = [self._await_next_page(pages[0]) or pages[0]]

    def _await_next_page(self, before: str) -> str:
        """Return the page drawn after this one, once it is stable; empty if there is none."""
        if not self.harness.screen_shows(lambda view: view.conversation != before, READING_SECONDS):
            return ""
        page = self.harness.view.conversation
        while self.harness.screen_shows(lambda view: view.conversation != page, KEY_PAUSE):  # noqa: B023
            page = self.harness.view.conversation
        return page

    def scroll(self, pages: int) -> None:
        """Scroll up if `pages` is negative, else down."""
        if self.shown is not None:
            self.press(PAGES[1 if pages > 0 else -1] * abs(pages))
            self.harness.scrolled.add(self.shown.id)

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal, and wait until the footer reaches its new edge."""
        self.harness.size = (columns, rows)
        self.harness.terminal.resize(columns, rows)
        self.harness.wait_for(
            lambda view: view.rows[-1][:-1].endswith("f1 help"), "the frame of the new size"
        )

    # Writing ------------------------------------------------------------------------------------

    def send(self, kind: str, burst: bool) -> None:
        """Send a directive to the demo agent."""
        current = self.shown
        if current is None:
            return
        text = DIRECTIVES[kind].format(mark=self.harness.ledger.new_mark())
        text = f"\n{text}" if self.box_texts.get(current.id) else text
        self.type_into_box(current, text, burst, ENTER)
        self.await_sent(current)

    def write(self, words: str, burst: bool) -> None:
        """Type a sentence without sending it."""
        if self.shown is not None:
            self.type_into_box(self.shown, f"{words} {self.harness.ledger.new_mark()}", burst)

    def submit(self, column: int | None = None) -> None:
        """Send the text in the box; with `column`, after a click there."""
        current = self.shown
        if current is not None and self.box_texts.get(current.id):
            if column is None:
                self.focus_box()
            else:
                self.click_into_box(column)
            self.press(ENTER)
            self.await_sent(current)

    # Sessions -----------------------------------------------------------------------------------

    def decide(self, number: int) -> None:
        """Decide the request of the open session by keys."""
        current = self.shown
        if current is None or current.request is None or self.box_texts.get(current.id):
            return
        request = current.request
        outcomes = sorted(DECISIONS[request["kind"]].items())
        outcome, choice = outcomes[number % len(outcomes)]
        self.harness.ledger.record_decision(request["message_id"], outcome)
        self.focus_box()
        end = time.monotonic() + self.harness.patience
        while self.current_request_id(current) == request["id"]:
            if time.monotonic() > end:
                raise InvariantError(f"cannot choose {choice}")
            time.sleep(KEY_PAUSE)
            self.press(ENTER if self.harness.view.selected_choice.startswith(choice) else DOWN)

    def watch(self) -> None:
        """Wait briefly for the agent to finish or ask something."""
        self.harness.poll_until(
            lambda: (current := self.shown) is None or current.status != "running"
        )
        time.sleep(READING_SECONDS)

    def stop(self) -> None:
        """Press Escape."""
        self.harness.ledger.expect(STOPPED)
        self.press(ESCAPE)
        time.sleep(0.3)  # Otherwise the terminal reads Escape and the next key as one.

    def switch_mode(self) -> None:
        """Switch to the next mode."""
        if self.shown is not None:
            self.harness.ledger.expect(MODE_CHANGED)
            self.press(MODE)

    def choose_mode(self, mode: str) -> None:
        """Switch modes until this one is active."""
        current = self.shown
        if current is None or current.is_archived:
            return
        mode_of = lambda: self.harness.world.conversations[current.id].session["execution_mode"]  # noqa: E731
        while (before := mode_of()) != mode:
            self.switch_mode()
            self.harness.settle(lambda: "" if mode_of() != before else "the mode has not changed")

    def new_session(self, words: str = "") -> None:
        """Create another session in the worktree, and type `words` for it in the same write."""
        before = set(self.harness.world.conversations)
        if self.shown is None or len(before) >= MAX_SESSIONS:
            return
        ledger = self.harness.ledger
        text = f"{words} {ledger.new_mark()}" if words else ""
        ledger.expect("session-created")
        self.press(NEW_SESSION + text)
        session_id = self.await_new_session(before)
        ledger.record_typed(text, session_id)
        self.rename_new_session(before)
        if text and self.find_draft(text) != session_id:
            raise InvariantError(f"{text} was typed for a new session")
        self.box_texts[session_id] = text

    def archive(self) -> None:
        """Archive the open session by the palette's command."""
        current = self.shown
        if current is None or len(self.harness.world.open_sessions) < 3 or current.status != "idle":
            return
        self.press(PALETTE)
        self.harness.wait_for(lambda view: view.has_palette, "the palette")
        self.harness.ledger.expect("session-archived")
        self.press("Archive the session" + ENTER)
        self.harness.wait_for(lambda view: "Archive the session" in view.overlays, "the question")
        self.press("y")
        conversations = lambda: self.harness.world.conversations  # noqa: E731
        self.harness.settle(
            lambda: "" if conversations()[current.id].is_archived else "not archived"
        )
        self.harness.wait_for(lambda view: not view.has_palette, "the palette to close")

    def restore(self) -> None:
        """Restore a session from the archive."""
        archived = [each for each in self.harness.world.conversations.values() if each.is_archived]
        if not archived:
            return
        self.press(ARCHIVE)
        self.harness.wait_for(lambda view: "Archive" in view.overlays, "the archive")
        self.press(archived[0].name + ENTER)
        self.harness.wait_for_session(archived[0].name, at_end=False)

    def restart(self, method: str) -> None:
        """Kill the program, or quit it with or without its agents, and start it again."""
        current, project = self.shown, self.harness.view.project
        self.harness.settle(lambda: self.harness.check_lost_texts(on_disk=method == "kill"))
        if method == "kill":
            if current is not None and self.harness.session_was_opened:
                self.harness.settle(
                    lambda: (
                        ""
                        if self.harness.is_saved_as_open(current.id)
                        else "the open session is not saved"
                    )
                )
            self.harness.program.kill()
        else:
            if method == "quit":
                for _ in self.harness.world.conversations:
                    self.harness.ledger.expect(STOPPED)
            self.press(QUIT)
            if not self.harness.wait_for_exit_or(lambda view: "Quit Spinney" in view.overlays):
                time.sleep(READING_SECONDS)  # The dialog ignores keys right after it appears.
                self.press("q" if method == "quit" else ENTER)
            if not self.harness.wait_for_exit_or(lambda _: False):
                raise InvariantError("the program does not quit")
        self.harness.restart()
        # It starts in a directory of the first project, and opens only a session of that one.
        if current is not None and not current.is_archived and project == "alpha":
            self.harness.wait_for(
                lambda view: view.session == current.name, f"{current.name} after the restart"
            )

    def elsewhere(self, action: str, number: int) -> None:
        """Have the second client perform an action on a session."""
        self.harness.second.perform(action, self.harness.client, self.harness.world, number)

    def decide_as_guest(self, number: int) -> None:
        """Have the guest answer a session's request."""
        self.harness.guest.decide(self.harness.second, self.harness.world, number)
