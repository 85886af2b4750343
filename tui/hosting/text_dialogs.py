"""Dialogs that write to a pull request: a reply to comments, title and description."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Label, Static, TextArea

from model.base.text import make_visible
from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.hosting.pull_request_rows import place_of
from tui.screens.working import Working
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from model.domain.hosting import PullRequestDetails, ReviewThread

    Reply = Callable[[str, bool], Coroutine[Any, Any, PullRequestDetails]]
    Save = Callable[[str | None, str | None], Coroutine[Any, Any, PullRequestDetails]]

_MAX_QUOTE = 400
"""Characters of the comment that is answered; the page behind shows the whole."""


@dataclass
class ReplyDraft:
    """A reply that was written and not sent yet."""

    text: str = ""
    resolve: bool = False


class ReplyToThread(Working["PullRequestDetails"]):
    """The last comment of a thread, and the reply; `^t` also resolves it, if that is possible."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "toggle_resolve", priority=True, show=False)
    ]

    def __init__(self, thread: "ReviewThread", draft: ReplyDraft, send: "Reply") -> None:
        place = f"at {place_of(thread)}" if thread.path else "to the pull request"
        super().__init__(f"Reply {place}")
        self._thread = thread
        self._draft = draft
        self._send = send

    def body(self) -> list[Widget]:
        """Comment, reply and keys."""
        comments = self._thread.comments
        last = f"{comments[-1].author}: {comments[-1].body[:_MAX_QUOTE]}" if comments else ""
        resolving = [] if self._thread.resolve_note else [("^t", "resolve or not")]
        keys = [("enter", "send"), ("^j", "line"), *resolving, ("esc", "cancel")]
        return [
            Static(make_visible(last), markup=False, classes="words quoted"),
            MessageArea(id="message", placeholder="Reply, which everybody there can read"),
            *(Label(self._describe(), id="resolve", markup=False) for _ in resolving),
            self.status(),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Focus the reply."""
        area = self.query_one(MessageArea)
        area.draft = Draft(self._draft.text)
        area.focus()

    def _describe(self) -> str:
        return "Also resolve the thread: " + ("yes" if self._draft.resolve else "no")

    def action_toggle_resolve(self) -> None:
        """Switch whether the thread is resolved, too."""
        if self._thread.resolve_note:
            return
        self._draft.resolve = not self._draft.resolve
        self.query_one("#resolve", Label).update(self._describe())

    @on(MessageArea.Changed)
    def _keep(self) -> None:
        self._draft.text = self.query_one(MessageArea).draft.text_to_send()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.work("Sending the reply …", self._send(event.text, self._draft.resolve))


class EditPullRequest(Working["PullRequestDetails"]):
    """Title and description, as they are at the service."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "save", priority=True, show=False),
    ]

    def __init__(self, details: "PullRequestDetails", save: "Save") -> None:
        super().__init__(f"Edit pull request #{details.number}")
        self._details = details
        self._save = save

    def body(self) -> list[Widget]:
        """The fields and the keys."""
        keys = (("^g", "save"), ("tab", "next field"), ("esc", "cancel"))
        return [
            Label("Title"),
            TextField(self._details.title, id="title", select_on_focus=False, compact=True),
            Label("Description"),
            TextArea(self._details.body, id="plan", compact=True, highlight_cursor_line=False),
            self.status(),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Focus the title."""
        self.query_one("#title", Input).focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Save what was changed, so that what others changed meanwhile is kept."""
        title = self.query_one("#title", Input).value.strip()
        body = self.query_one("#plan", TextArea).text.strip()
        details = self._details
        if not title:
            self.say("A pull request needs a title.", bad=True)
            return
        new_title = title if title != details.title.strip() else None
        new_body = body if body != details.body.replace("\r\n", "\n").strip() else None
        if new_title is None and new_body is None:
            self.dismiss(None)
        else:
            self.work("Saving …", self._save(new_title, new_body))
