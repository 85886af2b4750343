"""Steps on the terminal that get about: next, previous and last session, new task, archive."""

import re
from typing import Any, Final

from tests.journeys.ledger import Conversation
from tests.journeys.prompts import DIRECTIVES
from tests.journeys.second_client import MAX_SESSIONS
from tests.journeys.terminal_git import GitSteps
from tests.journeys.terminal_input import ENTER, ESCAPE

NEXT, PREVIOUS, LAST = "\x1b[1;3C", "\x1b[1;3D", "\x1e"
ARCHIVE, ARCHIVE_HERE = "\x1b[19~", "\x1b[19;2~"
NEW_WORKTREE, MODE = "\x0e", "\x1b[Z"
SIDE, WIDE = "\x1b[1;2Q", 160
SIDE_TITLES: Final = tuple(
    map(re.compile, (r"│ (Changes|Steps)\b", r"\^6 open *$|│ Open a second session"))
)
MODES: Final = ("plan", "build", "yolo")


class PlaceSteps(GitSteps):
    """Steps from one session to another."""

    def switch_session(self, step: int) -> None:
        """Go to the next or previous session in the order of the tree, in whatever worktree."""
        current = self.shown
        if current is None or current.is_archived:
            return
        self.harness.refresh()
        every = [each.name for each in self.harness.world.open_sessions]
        if len(every) > 1:
            wanted = every[(every.index(current.name) + step) % len(every)]
            self.press(NEXT if step > 0 else PREVIOUS)
            self.harness.wait_for_session(wanted)

    def last_session(self, number: int) -> None:
        """Open another session, go back to the one before, and back again."""
        current, other = self.shown, self.harness.world.nth(number)
        if current is None or {current.is_archived, other.is_archived} != {False}:
            return
        if other.id != current.id:
            self.open_by_name(other)
            for wanted in (current, other):
                self.press(LAST)
                self.harness.wait_for_session(wanted.name)

    def look_beside(self) -> None:
        """On a wide terminal, show changes and another session beside the open one, and hide it."""
        current, size = self.shown, self.harness.size
        if current is None or current.is_archived:
            return
        self.resize(WIDE, size[1])
        is_wide = lambda view: len(view.rows[-1].rstrip()) > WIDE - 5  # noqa: E731
        self.harness.wait_for(is_wide, "the wide screen")
        for title in SIDE_TITLES:
            self.press(SIDE)
            self.harness.wait_for(
                lambda view, title=title: title.search(view.rows[1]), title.pattern
            )  # type: ignore[misc]
        self.press(SIDE)
        is_hidden = lambda view: not any(each.search(view.rows[1]) for each in SIDE_TITLES)  # noqa: E731
        self.harness.wait_for(is_hidden, "the end of the side pane")
        self.resize(*size)
        self.harness.wait_for_session(current.name, at_end=False)

    def archive_here(self) -> None:
        """Archive the worktree of the open session by one key, and restore it."""
        current = self.shown
        if current is None:
            return
        worktree_id = current.session["worktree_id"]
        own = [each for each in self.harness.world.open_sessions if _is_in(each, worktree_id)]
        others = [each for each in self.harness.world.open_sessions if each not in own]
        if not others or any(each.status != "idle" or each.queued for each in own):
            return
        name = self._read_worktree(current)["name"]
        self.harness.ledger.expect("worktree:archived")
        self.press(ARCHIVE_HERE)
        self.harness.settle(
            lambda: "" if self._read_worktree(current)["archived_at"] else "not archived"
        )
        is_next = lambda view: view.session in {each.name for each in others}  # noqa: E731
        self.harness.wait_for(is_next, "the next session")
        self.press(ARCHIVE)
        self.harness.wait_for(lambda view: "Archive" in view.overlays, "the archive")
        self.press(name + ENTER)
        is_back = lambda view: view.session in {each.name for each in own}  # noqa: E731
        self.harness.wait_for(is_back, "a session of the restored worktree")
        self.harness.settle(
            lambda: "still archived" if self._read_worktree(current)["archived_at"] else ""
        )

    def new_task(self, mode: str) -> None:
        """Begin a task in a new worktree in this mode, which the next dialog begins with.

        What is typed behind its message in the same write is in the box of its session.
        """
        before = set(self.harness.world.conversations)
        if len(before) >= MAX_SESSIONS:
            return
        ledger = self.harness.ledger
        self._open_dialog()
        while not self._shows_mode(mode):
            shown = next(name for name in MODES if self._shows_mode(name))
            self.press(MODE)
            self.harness.wait_for(
                lambda view, was=shown: not _has_mode(view, was),  # type: ignore[misc]
                "another mode",
            )
        text = DIRECTIVES["say"].format(mark=ledger.new_mark())
        ledger.expect("worktree:creating")
        ledger.expect("session-created")
        ledger.record_sent(text, "")
        ledger.record_typed(text)
        later = f"later {ledger.new_mark()}"
        ledger.record_typed(later)
        self.press(text + ENTER + later)
        conversations = lambda: self.harness.world.conversations  # noqa: E731
        session_id = self.await_new_session(before)
        ledger.record_typed(text, session_id)
        ledger.record_typed(later, session_id)
        self.rename_new_session(before)
        self._await_box(session_id, later)
        self.harness.settle(
            lambda: "" if conversations()[session_id].messages else "the message is not sent"
        )
        assert conversations()[session_id].session["execution_mode"] == mode
        self._open_dialog()
        assert self._shows_mode(mode)
        self.press(ESCAPE)
        self.harness.wait_for(lambda view: not view.overlays, "the dialog to close")

    # Implementation -----------------------------------------------------------------------------

    def _await_box(self, session_id: str, text: str) -> None:
        self.box_texts[session_id] = text
        self.harness.settle(
            lambda: "" if self.harness.read_drafts().get(session_id) == text else f"lost: {text}"
        )

    def _open_dialog(self) -> None:
        self.press(NEW_WORKTREE)
        is_drawn = lambda view: any(_has_mode(view, mode) for mode in MODES)  # noqa: E731
        self.harness.wait_for(is_drawn, "the dialog")

    def _shows_mode(self, mode: str) -> bool:
        return _has_mode(self.harness.view, mode)

    def _read_worktree(self, conversation: Conversation) -> dict[str, Any]:
        worktree_id = conversation.session["worktree_id"]
        found: dict[str, Any] = self.harness.client.call("get_worktree", worktreeId=worktree_id)
        return found


def _is_in(conversation: Conversation, worktree_id: str) -> bool:
    return bool(conversation.session["worktree_id"] == worktree_id)


def _has_mode(view: Any, mode: str) -> bool:
    return any(f"Mode          {mode} ▾" in row for row in view.rows)
