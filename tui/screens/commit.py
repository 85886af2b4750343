"""The dialog that commits: the message, what goes in, and an agent that writes it if one likes."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label, Static

from tui.composer.widget import MessageArea
from tui.screens.working import Cancel, Working
from tui.widgets.key_line import keys_line


@dataclass
class CommitDraft:
    """What was filled in; it outlives the dialog until the commit is made."""

    message: str = ""
    stage_all: bool | None = None
    """Everything, or only what is staged; None: nobody chose yet."""


class Commit(Working[str]):
    """Gives the commit's id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "toggle_all", "All or staged", priority=True, show=False),
        Binding("ctrl+g", "write", "Write it for me", priority=True, show=False),
    ]

    def __init__(
        self,
        draft: CommitDraft,
        counts: tuple[int, int, int],
        commit: Callable[[str, bool], Coroutine[Any, Any, str]],
        write: Callable[[bool], Coroutine[Any, Any, str]],
        cancel: Cancel,
    ) -> None:
        """`counts`: files that are not staged, that are, and that are either."""
        super().__init__("Commit", cancel)
        self._draft = draft
        self._unstaged, self._staged, self._every = counts
        if draft.stage_all is None or not self._staged:
            draft.stage_all = not self._staged
        self._commit = commit
        self._write = write

    def body(self) -> list[Widget]:
        """What goes in, the message, and the keys."""
        keys = [("enter", "commit"), ("^j", "line"), ("^g", "let the agent write")]
        if self._staged and self._unstaged:
            keys.append(("^t", "all / staged"))
        return [
            Label(self._what(), id="what"),
            MessageArea(id="message", placeholder="What the commit does", sends_nothing=True),
            self.status(),
            Static(keys_line(*keys, ("esc", "cancel")), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Write on where it was left."""
        area = self.query_one("#message", MessageArea)
        area.text = self._draft.message
        area.move_cursor(area.document.end)
        area.focus()

    def _what(self) -> Content:
        if self._draft.stage_all:
            return Content(f"All changes: {_files(self._every)}")
        rest = f"; {_files(self._unstaged)} not staged" if self._unstaged else ""
        return Content(f"What is staged: {_files(self._staged)}{rest}")

    @property
    def _message(self) -> str:
        return self.query_one("#message", MessageArea).draft.full().strip()

    @on(MessageArea.Changed)
    def _keep(self) -> None:
        self._draft.message = self._message

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        if not self._message:
            self.say("Write what the commit does first, or let the agent write it (ctrl+g).")
            return
        self.work("Committing …", self._commit(self._message, bool(self._draft.stage_all)))

    def action_toggle_all(self) -> None:
        """All changes, or only what is staged."""
        if self._staged and self._unstaged and not self.is_busy:
            self._draft.stage_all = not self._draft.stage_all
            self.query_one("#what", Label).update(self._what())

    def action_write(self) -> None:
        """Let the agent write the message."""
        self.work("The agent reads the changes and writes …", self._written())

    async def _written(self) -> None:
        message = await self._write(bool(self._draft.stage_all))
        area = self.query_one("#message", MessageArea)
        area.text = message
        area.move_cursor(area.document.end)
        self.say("")


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"
