"""The commit dialog: scope and message, which an agent can write."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label, Static

from model.base.plural import count
from tui.composer.message_area import MessageArea
from tui.screens.working import Cancel, Working
from tui.widgets.key_line import keys_line


@dataclass
class CommitDraft:
    """The dialog's input, kept until the commit is made."""

    message: str = ""
    stage_all: bool | None = None
    """All changes, or only the staged ones; `None` until chosen."""


class Commit(Working[str]):
    """The commit dialog. Returns the commit's id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "toggle_all", "All or staged", priority=True, show=False),
        Binding("ctrl+g", "write", "Write it for me", priority=True, show=False),
    ]
    title_of_dialog: ClassVar = "Commit"
    verb: ClassVar = "commit"

    def __init__(
        self,
        draft: CommitDraft,
        counts: tuple[int, int, int],
        commit: Callable[[str, bool], Coroutine[Any, Any, str]],
        write: Callable[[bool], Coroutine[Any, Any, str]] | None,
        cancel: Cancel,
    ) -> None:
        """`counts`: unstaged files, staged files, and files in either. `write`: asks an agent."""
        super().__init__(self.title_of_dialog, cancel)
        self._draft = draft
        self._unstaged, self._staged, self._all = counts
        if draft.stage_all is None or not self._staged:
            draft.stage_all = not self._staged
        self._commit = commit
        self._write = write

    def body(self) -> list[Widget]:
        """Scope, message and keys."""
        keys = [("enter", self.verb), ("^j", "line")]
        written = [("^g", "write with agent")] if self._write is not None else []
        chosen = [("^t", "all / staged")] if self._has_choice else []
        last = [*chosen, ("esc", "cancel")]
        rows = [keys_line(*keys, *written, *last)]
        if written and chosen:  # all in one row would be too long
            rows = [keys_line(*keys, *written), keys_line(*last)]
        return [
            Label(self._scope(), id="what"),
            MessageArea(id="message", placeholder="Commit message", can_submit_empty=True),
            self.status(),
            Static(Content("\n").join(rows), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Restore the draft and focus its end."""
        area = self.query_one("#message", MessageArea)
        area.text = self._draft.message
        area.move_cursor(area.document.end)
        area.focus()

    def _scope(self) -> Content:
        if self._draft.stage_all:
            return Content(f"All changes: {count(self._all, 'file')}")
        rest = f"; {count(self._unstaged, 'file')} not staged" if self._unstaged else ""
        return Content(f"Staged changes: {count(self._staged, 'file')}{rest}")

    @property
    def _has_choice(self) -> bool:
        return bool(self._staged and self._unstaged)

    @property
    def _message(self) -> str:
        return self.query_one("#message", MessageArea).draft.text_to_send().strip()

    @on(MessageArea.Changed)
    def _keep(self) -> None:
        self._draft.message = self._message

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        if not self._message:
            agent = ", or let the agent write one (ctrl+g)" if self._write is not None else ""
            self.say(f"Enter a commit message{agent}.")
            return
        self.work("Committing …", self._commit(self._message, bool(self._draft.stage_all)))

    def action_toggle_all(self) -> None:
        """Switch between all changes and the staged ones."""
        if self._has_choice and not self.is_busy:
            self._draft.stage_all = not self._draft.stage_all
            self.query_one("#what", Label).update(self._scope())

    def action_write(self) -> None:
        """Let the agent write the message."""
        if self._write is not None:
            self.work("Writing a commit message …", self._fill_in(self._write))

    async def _fill_in(self, write: Callable[[bool], Coroutine[Any, Any, str]]) -> None:
        message = await write(bool(self._draft.stage_all))
        area = self.query_one("#message", MessageArea)
        area.text = message
        area.move_cursor(area.document.end)
        self.say("")
