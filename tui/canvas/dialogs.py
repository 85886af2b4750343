"""The canvas's dialogs: answering a session, and writing to several."""

from typing import TYPE_CHECKING, Final

from textual import on
from textual.widget import Widget
from textual.widgets import Static

from model.base.text import clean_line
from model.richtext.markdown import parse_markdown
from tui.composer.draft import Draft
from tui.composer.message_area import MessageArea
from tui.composer.widget import Composer
from tui.draw.markdown import render_blocks
from tui.draw.rich_text import to_text
from tui.screens.dialog import Dialog
from tui.widgets.chat_texts import HELD_NOTICE
from tui.widgets.key_line import keys_line
from tui.widgets.request_panel import RequestPanel

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from tui.desk import Desk


_PLAN_WIDTH: Final = 70
"""Columns of a plan that was not laid out yet."""


class AskMessage(Dialog[str]):
    """Asks for a message of several lines."""

    def __init__(self, title: str, sentence: str) -> None:
        super().__init__(title)
        self._sentence = sentence

    def body(self) -> list[Widget]:
        """Sentence, message box and keys."""
        keys = (("enter", "send"), ("^j", "line"), ("esc", "cancel"))
        return [
            Static(self._sentence, markup=False, classes="words"),
            MessageArea(placeholder="What should be done?"),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Focus the message box."""
        self.query_one(MessageArea).focus()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.dismiss(event.text)


class Answer(Dialog[None]):
    """A session's full request, with the keys that answer it.

    Closes when the session has no request any more, whichever client answered.
    """

    def __init__(self, session: "Session", desk: "Desk") -> None:
        super().__init__(clean_line(session.name) or "(no name)")
        self._session = session
        self._desk = desk

    def body(self) -> list[Widget]:
        """The request over a message box, as in the conversation itself."""
        panel = RequestPanel(id="request")
        panel.add_class("hidden")
        composer = Composer(id="answer")
        panel.connect(composer)
        composer.placeholder = "or type your answer"
        plan = Static(id="asked-plan", markup=False)
        plan.display = bool(self._plan)
        return [
            plan,
            panel,
            composer,
            Static(keys_line(("esc", "keep waiting")), classes="keys"),
        ]

    @property
    def _plan(self) -> str:
        request = self._session.request
        return request.plan or "" if request is not None else ""

    def on_resize(self) -> None:
        """Draw the plan as wide as there is room."""
        self.call_after_refresh(self._draw_plan)

    def _draw_plan(self) -> None:
        plan, palette = self.query_one("#asked-plan", Static), self._desk.palette
        width = plan.content_size.width or _PLAN_WIDTH
        plan.update(to_text(render_blocks(parse_markdown(self._plan), width, palette)))

    def on_mount(self) -> None:
        """Show the request, and focus the message box."""
        self._ask()
        self.query_one(Composer).focus()

    def follow(self, session: "Session | None") -> None:
        """Follow a change of the session."""
        if session is None or session.status != "waiting" or session.request is None:
            if self.is_current:
                self.action_leave()
            return
        self._session = session
        self._draw_plan()
        self._ask()

    def _ask(self) -> None:
        self.query_one(RequestPanel).ask(self._session.id, self._session.request)

    @on(RequestPanel.Chosen)
    def _chosen(self, event: RequestPanel.Chosen) -> None:
        self._desk.start(self._desk.outbox.decide(event))

    @on(RequestPanel.Answered)
    def _answered(self, event: RequestPanel.Answered) -> None:
        self._desk.start(self._desk.outbox.answer(event))

    def action_leave(self) -> None:
        """Close without answering; typed text moves to the session's message box."""
        self._desk.outbox.return_text(
            self._session.id, self.query_one(Composer).draft.text_to_send()
        )
        self.dismiss(None)

    @on(RequestPanel.Typed)
    def _typed_beside(self, event: RequestPanel.Typed) -> None:
        """Type a letter that is no choice into the message box."""
        event.stop()
        self.query_one(Composer).focus()
        self.query_one(Composer).write(event.character)

    @on(RequestPanel.Dropped)
    def _on_answers_dropped(self, event: RequestPanel.Dropped) -> None:
        event.stop()
        self._desk.outbox.return_text(event.session_id, "\n".join(event.words))

    @on(Composer.SubmissionHeld)
    def _held(self, event: Composer.SubmissionHeld) -> None:
        event.stop()
        self._hold()

    def _hold(self) -> None:
        panel = self.query_one(RequestPanel)
        self.query_one(Composer).written_for = panel.subject
        panel.rearm()
        self.notify(HELD_NOTICE, severity="warning", markup=False)

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        event.stop()
        panel, composer = self.query_one(RequestPanel), self.query_one(Composer)
        if event.written_for != panel.subject:
            composer.replace_draft(Draft.from_text(event.text, event.images).join(composer.draft))
            self._hold()
        elif not panel.submit_text(event.text, event.images):
            send = self._desk.outbox.send_draft(self._session.id, event.text, event.images)
            self._desk.start(send)
