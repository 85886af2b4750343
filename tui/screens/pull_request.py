"""The dialog that opens a pull request; an agent writes title and description if empty."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from tui.composer.message_area import MessageArea
from tui.screens.working import Working
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from model.api.pull_requests import OpenedPullRequest


@dataclass
class PullRequestDraft:
    """The dialog's input; an agent writes empty parts."""

    title: str = ""
    body: str = ""
    is_draft: bool = False


class PullRequest(Working["OpenedPullRequest"]):
    """The pull request dialog. Returns the opened pull request."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "toggle_draft", "Draft or ready", priority=True, show=False),
    ]

    def __init__(
        self,
        draft: PullRequestDraft,
        branches: tuple[str, str],
        open_request: Callable[[PullRequestDraft], "Coroutine[Any, Any, OpenedPullRequest]"],
    ) -> None:
        super().__init__("Pull request")
        self._draft = draft
        self._branch, self._base = branches
        self._open_request = open_request

    def body(self) -> list[Widget]:
        """The branches, the fields and the keys."""
        return [
            Label(self._summary(), id="what", markup=False),
            TextField(
                self._draft.title,
                id="title",
                placeholder="Title; generated if empty",
                compact=True,
            ),
            MessageArea(
                id="message",
                placeholder="Description; generated if empty",
                can_submit_empty=True,
            ),
            self.status(),
            Static(
                keys_line(
                    ("enter", "push and open"), ("tab", "next field"), ("^j", "line"),
                    ("^t", "draft / ready"), ("esc", "cancel"),
                ),
                classes="keys",
            ),
        ]  # fmt: skip

    def on_mount(self) -> None:
        """Focus the title."""
        self.query_one("#message", MessageArea).text = self._draft.body
        self.query_one("#title", Input).focus()

    def _summary(self) -> str:
        state = "as a draft" if self._draft.is_draft else "ready for review"
        return f"{self._branch} → {self._base}, {state}"

    @on(Input.Changed)
    @on(MessageArea.Changed)
    def _keep(self) -> None:
        self._draft.title = self.query_one("#title", Input).value.strip()
        self._draft.body = self.query_one("#message", MessageArea).draft.text_to_send().strip()

    @on(Input.Submitted)
    @on(MessageArea.Submitted)
    def _submitted(self, event: Input.Submitted | MessageArea.Submitted) -> None:
        event.stop()
        self._keep()
        self.work(
            "Pushing the branch and opening the pull request …", self._open_request(self._draft)
        )

    def action_toggle_draft(self) -> None:
        """Switch between draft and ready for review."""
        if not self.is_busy:
            self._draft.is_draft = not self._draft.is_draft
            self.query_one("#what", Label).update(self._summary())
