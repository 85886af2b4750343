"""Steps on the terminal that people know from shells and other agents: ctrl+c, ctrl+r, `!`, `/`."""

import time
from typing import Final

from tests.journeys.ledger import MARK, MODE_CHANGED, STOPPED, Conversation
from tests.journeys.terminal_input import (
    ENTER,
    ESCAPE,
    KEY_INTERVAL,
    PALETTE,
    READING_SECONDS,
    TAB,
    UP,
)
from tests.journeys.terminal_work import WorkSteps

INTERRUPT, HISTORY = "\x03", "\x12"
QUIT_SECONDS: Final = 2.5
"""Seconds after which ctrl+c no longer is the second one, which quits."""
MAX_TABS: Final = 6
"""Most panes of the main screen."""


class ReflexSteps(WorkSteps):
    """Steps with keys and commands of the message box."""

    def clear_and_recall(self, words: str) -> None:
        """Clear a text by ctrl+c, which stops nothing, and recall it by Up."""
        current = self.shown
        if current is None or not self._has_empty_box(current) or current.queued:
            return
        text = f"{words} {self.harness.ledger.new_mark()}"
        self.harness.ledger.record_typed(text, current.id)
        self.focus_box()
        self.press(text)
        self.find_draft(text)
        self.press(INTERRUPT)
        self._await_draft(current, text, is_there=False)
        if self.reread(current).request is not None or self.reread(current).queued:
            return  # Up is for the request or the queue now; the text is an earlier message.
        self.press(UP)
        if self.reread(current).request is None:
            self._await_draft(current, text, is_there=True)
            self.box_texts[current.id] = text

    def interrupt(self) -> None:
        """Press ctrl+c in the empty box: it stops the run, or warns that the next one quits."""
        current = self.shown
        if current is None or not self._has_empty_box(current):
            return
        self.harness.ledger.expect(STOPPED)
        self.focus_box()
        self.press(INTERRUPT)
        time.sleep(QUIT_SECONDS)

    def escape_twice(self) -> None:
        """Close the palette by the first of two escapes; the second stops nothing."""
        current = self.shown
        if current is None or current.request is not None:
            return
        self.focus_box()
        self.press(PALETTE)
        self.harness.wait_for(lambda view: view.has_palette, "the palette")
        self.press(2 * ESCAPE)
        self.harness.wait_for(lambda view: not view.has_palette, "the palette to close")
        time.sleep(READING_SECONDS)

    def search_history(self) -> None:
        """Find a text that was sent before by ctrl+r, look at it in the box, and clear it."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        ledger = self.harness.ledger
        texts = [text.strip() for text in ledger.sent_texts.get(current.id, ())]
        # The second client's messages are not in the history.
        texts = [text for text in texts if MARK.findall(text)[0] in ledger.typed]
        if not texts:
            return
        text = texts[0]
        mark = MARK.findall(text)[0]
        self.focus_box()
        self.press(HISTORY)
        self.harness.wait_for(lambda view: "Earlier messages" in view.overlays, "the search")
        self.press(mark)
        # The row with the mark, besides the one that is being typed.
        is_found = lambda view: "\n".join(view.rows).count(mark) > 1  # noqa: E731
        self.harness.wait_for(is_found, "the earlier message")
        self.press(ENTER)
        self._await_draft(current, text, is_there=True)
        self.clear_box(current, text)

    def run_in_shell(self, sends: bool) -> None:
        """Run a command in the worktree; send its output to the agent, or close it."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        mark = self.harness.ledger.new_mark()
        self.focus_box()
        self.type_into_box(current, f"!echo ran {mark}", True, ENTER)
        self.box_texts.pop(current.id)
        is_over = lambda view: "Exit code 0" in "\n".join(view.rows)  # noqa: E731
        self.harness.wait_for(is_over, "the end of the command")
        if sends:
            self.harness.ledger.record_sent(f"ran {mark}", current.id)
            self.press("s")
            self.harness.settle(
                lambda: "" if f"ran {mark}" in "".join(self.harness.world.texts) else "not sent"
            )
            self.harness.scrolled.discard(current.id)
        else:
            self.press(ESCAPE)
            time.sleep(READING_SECONDS)

    def name_mode(self, mode: str) -> None:
        """Switch to a mode by `/mode name`."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        self.harness.ledger.expect(MODE_CHANGED)
        self.focus_box()
        self.press(f"/mode {mode}{ENTER}")
        sessions = lambda: self.harness.world.conversations  # noqa: E731
        self.harness.settle(
            lambda: (
                ""
                if sessions()[current.id].session["execution_mode"] == mode
                else f"the mode is not {mode}"
            )
        )

    def mistype_command(self) -> None:
        """Enter a mistyped command: it stays in the box and is sent by the second enter only."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        text = f"/comit {self.harness.ledger.new_mark()}"
        self.focus_box()
        self.type_into_box(current, text, True, ENTER)
        self.harness.wait_for(
            lambda view: "Did you mean" in "\n".join(view.rows), "the suggested command"
        )
        self.find_draft(text)
        self.press(ENTER)
        self.await_sent(current)

    def type_in_conversation(self, words: str, burst: bool) -> None:
        """Type a sentence while the conversation has the focus: all of it reaches the box."""
        current = self.shown
        if current is None or current.request is not None or not self._has_empty_box(current):
            return
        self.focus_box()
        if not self._focus_conversation():
            return
        text = f"{words} {self.harness.ledger.new_mark()}"
        self.harness.ledger.record_typed(text, current.id)
        for keys in [text] if burst else text:
            self.press(keys)
            time.sleep(KEY_INTERVAL)
        self.find_draft(text)
        self.harness.scrolled.add(current.id)  # its first letter may have been a command
        self.box_texts[current.id] = text

    # Implementation -----------------------------------------------------------------------------

    def _focus_conversation(self) -> bool:
        """Move the focus by tab. Return whether the conversation got it."""
        for _ in range(MAX_TABS):
            self.press(TAB)
            if self.harness.screen_shows(lambda view: "j k scroll" in view.rows[-1], 1.0):
                return True
        self.focus_box()
        return False

    def _has_empty_box(self, current: Conversation) -> bool:
        is_written = self.box_texts.get(current.id) or self.harness.read_drafts().get(current.id)
        return current.request is None and not current.is_archived and not is_written

    def _await_draft(self, current: Conversation, text: str, *, is_there: bool) -> None:
        def find_problem() -> str:
            found = text in self.harness.read_drafts().get(current.id, "")
            return "" if found is is_there else f"in the box: {found}, text: {text}"

        self.harness.settle(find_problem)
