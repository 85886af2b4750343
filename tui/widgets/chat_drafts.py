"""Drafts of the chat: switching between them, sending and returning messages, saving."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer

from model.base.errors import SpinneyError
from tui.composer.draft import Draft

if TYPE_CHECKING:
    from textual.widgets import TextArea

    from tui.composer.completion import Completion
    from tui.composer.draft_store import DraftStore
    from tui.composer.widget import Composer
    from tui.widgets.request_panel import RequestPanel
    from tui.widgets.status_line import StatusLine

SAVE_DELAY: Final = 0.3
"""Seconds until a changed draft is saved: what a crash can lose."""


class ChatDrafts(Vertical):
    """The base of the chat that manages the draft in its message box."""

    class ShellChanged(Message):
        """The message box contains a command for the shell now, or no longer."""

    # Set when the chat is complete, after the first frame.
    composer: "Composer"
    """The message box."""
    completion: "Completion"
    request: "RequestPanel"
    status: "StatusLine"
    drafts: "DraftStore"
    """Set with the client, before the message box is used."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.key = ""
        """The draft in the message box: the id of a session or a worktree, or ''."""
        self._project_id = ""
        self._save_timer: Timer | None = None
        self._has_reported = False
        """Whether an error about saving was shown."""
        self._written_for: dict[str, str | None] = {}
        """`Composer.written_for` of drafts that are not shown, by draft key."""

    def _switch_draft(self, key: str, project_id: str, subject: str) -> None:
        if key == self.key:
            return
        self.save_draft()
        self._written_for[self.key] = self.composer.written_for
        self.key, self._project_id = key, project_id
        if key:
            self.completion.reset_commands()
            draft, earlier = self.drafts.get(key), self.drafts.sent_messages(project_id)
            written_for = self._written_for.pop(key, subject) if draft else subject
            self.composer.begin(draft, earlier, written_for)

    def on_composer_cleared(self, event: "Composer.Cleared") -> None:
        """Add removed text to the earlier messages."""
        event.stop()
        self.remember(event.text)

    def remember(self, text: str) -> None:
        """Add a text to the earlier messages, from which it can be recalled."""
        if text.strip() and text not in self.drafts.sent_messages(self._project_id):
            self.drafts.add_sent(self._project_id, text)
            self.save_draft()

    def start_sending(self, key: str, text: str) -> None:
        """Mark a message from elsewhere as being sent; a crash keeps it in this draft."""
        if text:
            self.drafts.start_sending(key, Draft.from_text(text))
            self.save_draft()

    def confirm_sent(self, key: str, text: str, images: tuple[str, ...] = ()) -> None:
        """Remove an accepted message from its draft."""
        self.drafts.finish_sending(key, Draft.from_text(text, images))
        self.save_draft()

    def return_message(
        self, key: str, text: str, images: Iterable[str] = (), *, to: str = ""
    ) -> None:
        """Return a message to its draft, before the text written since.

        `to` is the session that was created for it in the meantime.
        """
        draft = Draft.from_text(text, images)
        if not draft:
            return
        self.drafts.finish_sending(key, draft)
        self.request.reopen(key)
        key = to or key
        if key == self.key:
            self.composer.replace_draft(draft.join(self.composer.draft))
        else:
            self.drafts.set(key, draft.join(self.drafts.get(key)))
        self.save_draft()

    def move_draft(self, key: str, to: str) -> None:
        """Move what is written in a worktree's box to the box of the session created in it."""
        self.update_draft()
        draft = self.drafts.get(key).join(self.drafts.get(to))
        self.drafts.set(key, Draft())
        self.drafts.set(to, draft)
        if self.key == key:  # the box itself, with its cursor
            self.key = to
        self.save_draft()

    def on_text_area_changed(self, event: "TextArea.Changed") -> None:
        """Save the draft after a short pause."""
        if event.text_area is not self.composer:
            return
        is_shell = self.composer.is_shell
        if is_shell != self.composer.has_class("shell"):
            self.composer.set_class(is_shell, "shell")
            self.status.follow_box(is_shell)
            self.post_message(self.ShellChanged())
        self.request.follow_box(bool(self.composer.text.strip()) and not is_shell)
        if self._save_timer is None:
            self._save_timer = self.set_timer(SAVE_DELAY, self.save_draft)

    def save_draft(self) -> None:
        """Save changed drafts in the background."""
        self.update_draft()
        if self.drafts.has_unsaved:
            self.run_worker(self._flush(), group="drafts", exit_on_error=False)

    def update_draft(self) -> None:
        """Store the content of the message box in its draft."""
        if self._save_timer is not None:
            self._save_timer.stop()
            self._save_timer = None
        if self.key:
            self.drafts.set(self.key, self.composer.draft)

    def save_drafts(self) -> None:
        """Save all drafts synchronously, on exit."""
        self.update_draft()
        with suppress(SpinneyError):
            self.drafts.flush()

    async def _flush(self) -> None:
        try:
            await asyncio.to_thread(self.drafts.flush)
        except SpinneyError as error:
            # Once, not for every word.
            if not self._has_reported:
                self.notify(error.message, severity="warning", markup=False)
            self._has_reported = True
