"""What the canvas asks over its cells: an answer to a session, or a message for several."""

from typing import TYPE_CHECKING

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.text import clean_line
from tui.screens.dialog import Dialog, keys_line
from tui.widgets.composer import Composer, MessageArea
from tui.widgets.request_panel import RequestPanel

if TYPE_CHECKING:
    from model.resources import Session
    from tui.link import Link


class AskMessage(Dialog[str]):
    """A message of several lines."""

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
        """Write at once."""
        self.query_one(MessageArea).focus()

    @on(MessageArea.Submitted)
    def _submitted(self, event: MessageArea.Submitted) -> None:
        event.stop()
        self.dismiss(event.text)


class Answer(Dialog[None]):
    """What a session asks, whole, with the keys that answer it.

    It closes once the session asks for nothing more, whoever answered.
    """

    def __init__(self, session: "Session", link: "Link") -> None:
        super().__init__(clean_line(session.name) or "(no name)")
        self._session = session
        self._link = link

    def body(self) -> list[Widget]:
        """The request over a message box, as in the conversation itself."""
        panel = RequestPanel(id="request")
        panel.add_class("hidden")
        composer = Composer(id="answer")
        composer.first_refusal = panel.press
        composer.placeholder = "or write what should happen"
        plan = Static(self._plan(), id="asked-plan", markup=False)
        plan.display = bool(self._plan())
        return [
            plan,
            panel,
            composer,
            Static(keys_line(("esc", "leave it waiting")), classes="keys"),
        ]

    def _plan(self) -> Content:
        request = self._session.request
        return Content(request.plan if request is not None else "")

    def on_mount(self) -> None:
        """Ask, and take the keys."""
        self.query_one(RequestPanel).ask(self._session.request)
        self.query_one(Composer).focus()

    def follow(self, session: "Session | None") -> None:
        """Take up what became of the session."""
        if session is None or session.status != "waiting" or session.request is None:
            if self.is_current:
                self.dismiss(None)
            return
        self._session = session
        self.query_one("#asked-plan", Static).update(self._plan())
        self.query_one(RequestPanel).ask(session.request)

    def action_leave(self) -> None:
        """Back to the choices, or else to the canvas."""
        if not self.query_one(RequestPanel).rearm():
            self.dismiss(None)

    @on(RequestPanel.Chosen)
    def _chosen(self, event: RequestPanel.Chosen) -> None:
        decided = (event.request, event.choice, event.reason)
        self._link.start(self._link.decide(self._session, *decided))

    @on(RequestPanel.Answered)
    def _answered(self, event: RequestPanel.Answered) -> None:
        self._link.start(self._link.answer(self._session.id, event.answers))

    @on(MessageArea.Submitted)
    def _said(self, event: MessageArea.Submitted) -> None:
        event.stop()
        if not self.query_one(RequestPanel).say(event.text):
            self._link.start(self._link.send(self._session.id, event.text))
