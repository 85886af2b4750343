"""The panel for a session's request: a plan, questions or a permission, and its answer."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from tui.widgets.pending_request import TITLES, PendingRequest
from tui.widgets.question_form import QuestionForm
from tui.widgets.request_choices import Choice, ChoiceList

if TYPE_CHECKING:
    from model.domain.requests import Request
    from tui.composer.widget import Composer

CURSOR_KEYS = frozenset({"up", "down", "left"})


class RequestPanel(Vertical, can_focus=True):
    """The panel above the composer while the session waits for the user.

    From an empty composer it handles only keys that type nothing: up and down move its cursor,
    enter accepts the selected row. Letters and digits choose while the panel has focus. For
    `ARMED_AFTER` seconds a new request accepts nothing, as it may appear while the user is typing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_text(-1)", show=False),
        Binding("pagedown", "scroll_text(1)", show=False),
    ]

    FOCUS_ON_CLICK = False  # after a click, typing continues in the message box
    ARMED_AFTER: ClassVar[float] = 0.8
    """Seconds after a request, or the warning about yolo, appears before enter is accepted."""
    QUIET: ClassVar[float] = 0.3
    """Seconds without a key before enter is accepted: excludes bursts and held keys."""
    clock: ClassVar[Callable[[], float]] = time.monotonic

    class Chosen(Message):
        """A choice for a plan or a permission was made."""

        def __init__(
            self, panel: "RequestPanel", pending: PendingRequest, choice: Choice, reason: str = ""
        ) -> None:
            super().__init__()
            self.panel = panel
            self.session_id = pending.session_id
            self.request = pending.request
            self.choice = choice
            self.reason = reason
            """The reason of a denial, for the agent."""

    class Answered(Message):
        """All questions are answered."""

        def __init__(
            self, panel: "RequestPanel", pending: PendingRequest, form: QuestionForm
        ) -> None:
            super().__init__()
            self.panel = panel
            self.session_id = pending.session_id
            self.request = pending.request
            self.answers = form.answers
            self.written = form.written
            """The answers that were written by the user."""

    class Dropped(Message):
        """A request was withdrawn, and these written answers were not sent."""

        def __init__(self, session_id: str, words: list[str]) -> None:
            super().__init__()
            self.session_id = session_id
            self.words = words

    class Typed(Message):
        """A printable key was pressed that does not choose anything."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session_id = ""
        """The session whose request is shown."""
        self._pending: PendingRequest | None = None
        self._elsewhere: dict[str, PendingRequest] = {}
        """Requests of other sessions, with the input so far."""
        self._is_escaping = False
        """Whether escape was pressed once on a plan; only a second one sets it aside."""
        self._expects_text = False
        """Whether a text was submitted in the message box, and has not reached the panel yet."""
        self._has_text = False
        """Whether the message box has text, which enter would send."""
        self._written_for: Callable[[], str | None] = lambda: ""
        """Returns the request id that the text in the message box was written for."""
        self._shown_at = self._warned_at = 0.0
        self._last_key = 0.0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Compose the text, which scrolls, and the choices and keys, which do not."""
        with VerticalScroll(id="request-scroll", can_focus=False):
            yield Static(id="request-text", markup=False)
        yield Static(id="request-choices", markup=False)
        yield Static(id="request-keys", markup=False)

    def connect(self, composer: "Composer") -> None:
        """Connect the message box: its keys while it is empty, and the texts written in it."""
        composer.offer = self.offer
        composer.on_sending = self._expect_text
        composer.current_request_id = lambda: self.subject if self._is_settled else None
        self._written_for = lambda: composer.written_for

    def follow_box(self, has_text: bool) -> None:
        """Update the keys: enter accepts the selected row, or sends the text in the message box."""
        if has_text != self._has_text:
            self._has_text = has_text
            self._redraw()

    @property
    def request(self) -> "Request | None":
        """The current request."""
        return self._pending.request if self._pending is not None else None

    @property
    def subject(self) -> str:
        """The id of the current request, or ''."""
        return self.request.id if self.request is not None else ""

    def ask(self, session_id: str, request: "Request | None") -> None:
        """Show the request of a session, or none."""
        if (session_id, request) == (self.session_id, self.request):
            return
        if self._pending is not None and session_id != self.session_id:
            self._elsewhere[self.session_id] = self._pending
            self._pending = self._elsewhere.pop(session_id, None)
        self.session_id = session_id
        if self._pending is not None and self._pending.request != request:
            self._discard(self._pending)
        self.set_class(request is None, "hidden")
        if request is None:
            return
        if self._pending is None:
            self._pending = PendingRequest.create(session_id, request)
        self._is_escaping = False
        self._scroll.scroll_home(animate=False)
        self.rearm()
        self._redraw()

    def _discard(self, pending: PendingRequest) -> None:
        self._pending = None
        if answers := pending.unsent_answers:
            self._post(lambda: self.Dropped(pending.session_id, answers))

    def reopen(self, session_id: str) -> None:
        """Reopen the request of a session, if its answer was not accepted."""
        is_here = session_id == self.session_id
        pending = self._pending if is_here else self._elsewhere.get(session_id)
        if pending is None or not pending.is_sent:
            return
        pending.is_sent = False
        if isinstance(pending.form, QuestionForm):
            pending.form.reopen()
        self.rearm()
        self._redraw()

    # Arming -------------------------------------------------------------------------------------

    def _expect_text(self) -> None:
        self._expects_text = self._pending is not None

    def rearm(self) -> None:
        """Accept no answer for `ARMED_AFTER` seconds."""
        self._expects_text = False
        self._shown_at = self._now()
        self._redraw_when_armed()

    def _warn(self) -> None:
        """Accept yolo only after its warning was shown for `ARMED_AFTER` seconds."""
        self._warned_at = self._now()
        self._redraw_when_armed()

    def _redraw_when_armed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.ARMED_AFTER, self._redraw) if self.ARMED_AFTER else None

    @property
    def _armed_from(self) -> float:
        """When answers are accepted. A cursor that only passes yolo delays no other choice."""
        is_confirming = self._pending is not None and self._pending.is_confirming
        return max(self._shown_at, self._warned_at if is_confirming else 0.0) + self.ARMED_AFTER

    @property
    def _is_settled(self) -> bool:
        return self._pending is None or self._now() - self._shown_at >= self.ARMED_AFTER

    def _now(self) -> float:
        return type(self).clock()

    # Keys ---------------------------------------------------------------------------------------

    def offer(self, event: events.Key, is_empty: bool) -> bool:
        """Handle a key of the message box; whether it was for the request."""
        if event.key not in ("escape", "ctrl+c") and self._is_escaping:
            self._is_escaping = False
            self._redraw()
        handle = self._handle_key if is_empty else self._note_key
        return handle(event.key, self._time_of(event))

    def _time_of(self, event: events.Event) -> float:
        """When a key was pressed: on a busy machine well before it is handled."""
        return self._now() - (time.monotonic() - event.time)

    def _handle_key(self, key: str, pressed_at: float) -> bool:
        """Handle a key that types nothing; whether it was for the request."""
        is_quiet = key in CURSOR_KEYS or pressed_at - self._last_key >= self.QUIET
        self._note_key(key, pressed_at)
        if self._pending is None or key not in (*CURSOR_KEYS, "enter"):
            if self._pending is not None and self._pending.cancel_yolo():
                self._redraw()
            return False
        if self._pending.is_sent or self._expects_text:
            return True
        match key, self._pending.form:
            case "up", form:
                was_handled = form.move(-1)
            case "down", form:
                was_handled = form.move(1)
            case "left", QuestionForm() as form:
                was_handled = form.back()
            case "enter", form:
                was_handled = isinstance(form, ChoiceList) or form.has_rows
                if was_handled and is_quiet:
                    self._accept(self._pending, pressed_at)
            case _:
                was_handled = False
        if self._pending.is_confirming and key != "enter":
            self._warn()
        self._redraw()
        return was_handled

    def _note_key(self, key: str, pressed_at: float) -> bool:
        if key not in CURSOR_KEYS:
            self._last_key = pressed_at
        return False

    def on_key(self, event: events.Key) -> None:
        """Handle the same keys while the panel has focus, and letters and digits."""
        character = event.character if event.is_printable else None
        is_known = character is not None or event.key in CURSOR_KEYS or event.key == "enter"
        if self._pending is None or not is_known:
            return
        event.stop()
        event.prevent_default()
        if character is None:
            self._handle_key(event.key, self._time_of(event))
        elif not self._choose_row(character, self._time_of(event)):
            self.post_message(self.Typed(character))

    def _choose_row(self, key: str, pressed_at: float) -> bool:
        """Accept the row with this letter or number; whether there is one."""
        pending = self._pending
        if pending is None or pending.is_sent:
            return False
        is_tick = key == " " and isinstance(pending.form, QuestionForm)
        if not is_tick and not pending.form.pick(key):
            return False
        self._accept(pending, pressed_at)
        self._redraw()
        return True

    def on_click(self, event: events.Click) -> None:
        """Handle a click on a choice or a key."""
        row, key = event.style.meta.get("row"), event.style.meta.get("key")
        if isinstance(row, str):
            self._choose_row(row, self._time_of(event))
        elif key == "tab":
            self.focus()
        elif isinstance(key, str):
            self._handle_key({"←": "left"}.get(key, key), self._time_of(event))

    def _accept(self, pending: PendingRequest, pressed_at: float) -> None:
        """Accept the selected row, unless the request appeared too recently."""
        if pressed_at < self._armed_from:
            return
        form = pending.form
        if isinstance(form, QuestionForm):
            if form.take():
                self._send_if_complete(pending, form)
        elif (choice := form.take()) is None:
            self._warn()
        else:
            pending.is_sent = True
            self._post(lambda: self.Chosen(self, pending, choice))

    def step_back(self) -> bool:
        """Handle escape before it stops the run; whether there was something to cancel."""
        if self._pending is None or self._pending.is_sent:
            return False
        is_plan = self._pending.request.kind == "plan"
        was_handled = self._pending.cancel_yolo() or (is_plan and not self._is_escaping)
        self._is_escaping = was_handled and is_plan
        self._redraw()
        return was_handled

    def action_scroll_text(self, direction: int) -> None:
        """Scroll a long text."""
        self._scroll.scroll_page_up() if direction < 0 else self._scroll.scroll_page_down()

    # Written answers ----------------------------------------------------------------------------

    def submit_text(self, text: str, images: Sequence[str] = ()) -> bool:
        """Answer the request with a text; whether the panel sends it.

        For a plan the text is a message that continues the discussion.
        """
        pending, self._expects_text = self._pending, False
        if pending is None or pending.is_sent:
            return False
        is_message = pending.request.kind == "plan"
        if pending.request.kind == "permission":
            # The reason of a denial is only text: the agent opens images by their paths.
            reason = "\n".join([text, *images]).strip()
            self._post(lambda: self.Chosen(self, pending, "deny", reason))
            pending.is_sent = True
        elif isinstance(pending.form, QuestionForm) and not images:
            pending.form.answer(text, is_written=True)
            self._send_if_complete(pending, pending.form)
        else:
            pending.is_sent = is_message = True
        self._redraw()
        return not is_message

    def _send_if_complete(self, pending: PendingRequest, form: QuestionForm) -> None:
        if form.question is None:
            pending.is_sent = True
            self._post(lambda: self.Answered(self, pending, form))

    def _post(self, make_message: Callable[[], Message]) -> None:
        # In the panel's own message loop: a message caused by its parent does not bubble to it.
        self.call_next(lambda: self.post_message(make_message()))

    # Rendering ----------------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Show the letters that choose."""
        self.call_next(self._redraw)  # Textual updates `has_focus` after this

    def on_blur(self) -> None:
        """Hide the letters that choose."""
        self.call_next(self._redraw)

    def on_resize(self) -> None:
        """Scroll to the selected option after lines wrapped differently."""
        if self.request is not None and self.request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one("#request-scroll", VerticalScroll)

    def _redraw(self) -> None:
        if self._pending is None:
            return
        request, is_armed = self._pending.request, self._now() >= self._armed_from
        text, choices = self._pending.render(is_armed=is_armed, with_keys=self.has_focus)
        self.border_title = Content(TITLES[request.kind])
        self.query_one("#request-text", Static).update(text)
        self.query_one("#request-choices", Static).update(Content("\n").join(choices))
        self.query_one("#request-choices").display = bool(choices)
        keys = self._pending.render_keys(
            is_escaping=self._is_escaping,
            has_text=self._has_text,
            is_for_this=self._written_for() == self.subject,
            has_focus=self.has_focus,
        )
        self.query_one("#request-keys", Static).update(keys)
        if request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        scroll, form = self._scroll, self._pending.form if self._pending is not None else None
        width, height = scroll.scrollable_content_region.size
        if not width or not isinstance(form, QuestionForm):
            return  # not laid out yet, or the terminal is too small
        top, above = round(scroll.scroll_y), form.height_above_cursor(width)
        if not top <= above < top + height:
            scroll.scroll_to(y=max(0, above - height // 2), animate=False)
