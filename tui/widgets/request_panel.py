"""What a waiting session asks, and how a person answers: a plan, questions, a permission."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import Static

from tui.keys.names import spoken
from tui.widgets.question_form import QuestionForm
from tui.widgets.request_card import card
from tui.widgets.request_choices import Choice, ChoiceList, choices_of

if TYPE_CHECKING:
    from model.domain.resources import Request
    from tui.composer.widget import Composer

TITLES = {"plan": "Plan", "permission": "Permission", "question": "Question"}
WORDS_ARE = {
    "plan": "asks for this change",
    "permission": "denies with this reason",
    "question": "answers with these words",
}
"""What enter does once something stands in the message box."""
HELD = "The agent asked something else meanwhile. Enter again answers it with this."
"""Said where a text was written before what it would answer was asked."""
CURSOR_KEYS = frozenset({"up", "down", "left"})


@dataclass
class _Asked:
    """A request with what a person did about it so far."""

    session_id: str
    request: "Request"
    form: QuestionForm | ChoiceList
    is_sent: bool = False
    """Whether an answer is on its way."""


class RequestPanel(Vertical, can_focus=True):
    """The box over the composer while the session waits for a person.

    From the composer it takes only keys that write nothing, and only while that is empty: up and
    down move its cursor, enter takes what is under it. Letters and digits act while the panel
    itself has the focus. For `ARMED_AFTER` seconds a new request takes nothing: it may appear
    under a typing hand.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_text(-1)", show=False),
        Binding("pagedown", "scroll_text(1)", show=False),
    ]

    FOCUS_ON_CLICK = False  # who clicks, to read on, goes on typing into the message box
    ARMED_AFTER: ClassVar[float] = 0.8
    """Seconds from the appearance of a request, or of yolo's confirmation, until enter counts."""
    QUIET: ClassVar[float] = 0.3
    """Seconds without a key before an enter counts: one of a burst or of a held key does not."""
    clock: ClassVar[Callable[[], float]] = time.monotonic

    class Chosen(Message):
        """A plan or a permission was decided on."""

        def __init__(
            self, panel: "RequestPanel", asked: "_Asked", choice: Choice, reason: str = ""
        ) -> None:
            super().__init__()
            self.panel = panel
            self.session_id = asked.session_id
            self.request = asked.request
            self.choice = choice
            self.reason = reason
            """Why a permission is denied, for the agent to read."""

    class Answered(Message):
        """Every question has its answer."""

        def __init__(self, panel: "RequestPanel", asked: "_Asked", form: QuestionForm) -> None:
            super().__init__()
            self.panel = panel
            self.session_id = asked.session_id
            self.request = asked.request
            self.answers = form.answers
            self.written = form.written
            """Those of the answers that are a person's own words."""

    class Dropped(Message):
        """A request is gone, and these words, which answered a part of it, were not sent."""

        def __init__(self, session_id: str, words: list[str]) -> None:
            super().__init__()
            self.session_id = session_id
            self.words = words

    class Typed(Message):
        """A printable key was pressed that chooses nothing."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session_id = ""
        """Whose request is shown."""
        self._asked: _Asked | None = None
        self._elsewhere: dict[str, _Asked] = {}
        """Requests of sessions that are not shown, each with its half-given answer."""
        self._is_leaving = False
        """Whether escape was pressed once on a plan; only a second one sets it aside."""
        self._expects_words = False
        """Whether words have left the message box for the panel, and did not reach it yet."""
        self._has_words = False
        """Whether something stands in the message box, which enter would send."""
        self._written_for: Callable[[], str | None] = lambda: ""
        """What the text in the message box was begun for."""
        self._since = 0.0
        self._last_key = 0.0
        self._arming: Timer | None = None

    def compose(self) -> ComposeResult:
        """What is asked; the choices and the keys, which never scroll out of sight."""
        with VerticalScroll(id="request-scroll", can_focus=False):
            yield Static(id="request-text", markup=False)
        yield Static(id="request-choices", markup=False)
        yield Static(id="request-keys", markup=False)

    def connect(self, composer: "Composer") -> None:
        """Answer with the keys of an empty message box, and with the words written for it."""
        composer.offer = self.offer
        composer.sending = self._expect_words
        composer.addressee = lambda: self.subject if self._is_settled else None
        self._written_for = lambda: composer.written_for

    def follow_box(self, has_words: bool) -> None:
        """Say what enter does: take the highlighted choice, or answer with what is in the box."""
        if has_words != self._has_words:
            self._has_words = has_words
            self._draw()

    @property
    def request(self) -> "Request | None":
        """What is asked now."""
        return self._asked.request if self._asked is not None else None

    @property
    def subject(self) -> str:
        """What a text that is written now is about: the request's id, or nothing."""
        return self.request.id if self.request is not None else ""

    def ask(self, session_id: str, request: "Request | None") -> None:
        """Show what a session asks (`None`: nothing)."""
        if (session_id, request) == (self.session_id, self.request):
            return
        if self._asked is not None and session_id != self.session_id:
            self._elsewhere[self.session_id] = self._asked
            self._asked = self._elsewhere.pop(session_id, None)
        self.session_id = session_id
        if self._asked is not None and self._asked.request != request:
            self._drop(self._asked)
        self.set_class(request is None, "hidden")
        if request is None:
            return
        if self._asked is None:
            is_question = request.kind == "question"
            form = QuestionForm(request.questions) if is_question else choices_of(request)
            self._asked = _Asked(session_id, request, form)
        self._is_leaving = False
        self._scroll.scroll_home(animate=False)
        self.rearm()
        self._draw()

    def _drop(self, asked: _Asked) -> None:
        self._asked = None
        if isinstance(asked.form, QuestionForm) and asked.form.written and not asked.is_sent:
            words = asked.form.written
            self._post(lambda: self.Dropped(asked.session_id, words))

    def reopen(self, session_id: str) -> None:
        """Ask again what this session asks, if its answer did not arrive."""
        is_here = session_id == self.session_id
        asked = self._asked if is_here else self._elsewhere.get(session_id)
        if asked is None or not asked.is_sent:
            return
        asked.is_sent = False
        if isinstance(asked.form, QuestionForm):
            asked.form.reopen()
        self.rearm()
        self._draw()

    # Whether it takes keys ----------------------------------------------------------------------

    def _expect_words(self) -> None:
        self._expects_words = self._asked is not None

    def rearm(self) -> None:
        """Take no answer for a while."""
        self._expects_words = False
        self._since = self._now()
        if self._arming is not None:
            self._arming.stop()
        self._arming = self.set_timer(self.ARMED_AFTER, self._draw) if self.ARMED_AFTER else None

    @property
    def _is_settled(self) -> bool:
        return self._asked is None or self._now() - self._since >= self.ARMED_AFTER

    def _now(self) -> float:
        return type(self).clock()

    # Keys ---------------------------------------------------------------------------------------

    def offer(self, event: events.Key, is_empty: bool) -> bool:
        """A key of the message box; whether it was for the request."""
        if event.key != "escape" and self._is_leaving:
            self._is_leaving = False
            self._draw()
        pressed_at = self._time_of(event)
        return self._press(event.key, pressed_at) if is_empty else self._note(event.key, pressed_at)

    def _time_of(self, event: events.Event) -> float:
        """When a key was pressed: on a busy machine well before it is looked at."""
        return self._now() - (time.monotonic() - event.time)

    def _press(self, key: str, pressed_at: float) -> bool:
        """A key that writes nothing."""
        is_quiet = key in CURSOR_KEYS or pressed_at - self._last_key >= self.QUIET
        self._note(key, pressed_at)
        if self._asked is None or (key not in CURSOR_KEYS and key != "enter"):
            self._withdraw_yolo()
            return False
        if self._asked.is_sent or self._expects_words:
            return True
        match key, self._asked.form:
            case "up", form:
                taken = form.move(-1)
            case "down", form:
                taken = form.move(1)
            case "left", QuestionForm() as form:
                taken = form.back()
            case "enter", form:
                taken = isinstance(form, ChoiceList) or form.has_rows
                if taken and is_quiet:
                    self._take(self._asked, pressed_at)
            case _:
                taken = False
        self._draw()
        return taken

    def _note(self, key: str, pressed_at: float) -> bool:
        if key not in CURSOR_KEYS:
            self._last_key = pressed_at
        return False

    def on_key(self, event: events.Key) -> None:
        """The same keys while the panel has the focus; letters and digits as well."""
        character = event.character if event.is_printable else None
        if self._asked is None or (character is None and event.key not in {*CURSOR_KEYS, "enter"}):
            return
        event.stop()
        event.prevent_default()
        if character is None:
            self._press(event.key, self._time_of(event))
        elif not self._choose(character, self._time_of(event)):
            self.post_message(self.Typed(character))

    def _choose(self, key: str, pressed_at: float) -> bool:
        """Take the choice with this letter or number; whether there is one."""
        asked = self._asked
        if asked is None or asked.is_sent:
            return False
        is_tick = key == " " and isinstance(asked.form, QuestionForm)
        if not is_tick and not asked.form.pick(key):
            return False
        self._take(asked, pressed_at)
        self._draw()
        return True

    def on_click(self, event: events.Click) -> None:
        """A choice, or a key that is shown, was clicked."""
        row, key = event.style.meta.get("row"), event.style.meta.get("key")
        if isinstance(row, str):
            self._choose(row, self._time_of(event))
        elif key == "tab":
            self.focus()
        elif isinstance(key, str):
            self._press({"←": "left"}.get(key, key), self._time_of(event))

    def _take(self, asked: _Asked, pressed_at: float) -> None:
        """Take what is under the cursor, unless it was not in sight long when this was pressed."""
        if pressed_at - self._since < self.ARMED_AFTER:
            return
        form = asked.form
        if isinstance(form, QuestionForm):
            if form.take():
                self._follow_form(asked, form)
        elif (choice := form.take()) is None:
            self.rearm()
        else:
            asked.is_sent = True
            self._post(lambda: self.Chosen(self, asked, choice))

    def step_back(self) -> bool:
        """What escape does before it stops anything; whether there was something."""
        if self._asked is None or self._asked.is_sent:
            return False
        is_plan = self._asked.request.kind == "plan"
        taken = self._withdraw_yolo() or (is_plan and not self._is_leaving)
        self._is_leaving = taken and is_plan
        self._draw()
        return taken

    def _withdraw_yolo(self) -> bool:
        form = self._asked.form if self._asked is not None else None
        if not isinstance(form, ChoiceList) or not form.is_confirming:
            return False
        form.is_confirming = False
        self._draw()
        return True

    def action_scroll_text(self, direction: int) -> None:
        """Read on in a long text."""
        scroll = self._scroll
        scroll.scroll_page_up() if direction < 0 else scroll.scroll_page_down()

    # Words --------------------------------------------------------------------------------------

    def say(self, text: str, images: Sequence[str] = ()) -> bool:
        """Words that were written for what is asked; whether the panel sends them.

        On a plan they are a message, with which the discussion goes on.
        """
        asked, self._expects_words = self._asked, False
        if asked is None or asked.is_sent:
            return False
        is_message = asked.request.kind == "plan"
        if asked.request.kind == "permission":
            # The reason of a denial is nothing but text: the agent opens images by their paths.
            reason = "\n".join([text, *images]).strip()
            self._post(lambda: self.Chosen(self, asked, "deny", reason))
            asked.is_sent = True
        elif isinstance(asked.form, QuestionForm) and not images:
            asked.form.answer(text, is_written=True)
            self._follow_form(asked, asked.form)
        else:
            asked.is_sent = is_message = True
        self._draw()
        return not is_message

    def _follow_form(self, asked: _Asked, form: QuestionForm) -> None:
        if form.question is None:
            asked.is_sent = True
            self._post(lambda: self.Answered(self, asked, form))

    def _post(self, made: Callable[[], Message]) -> None:
        # In the panel's own turn: a message that its parent caused does not reach the parent.
        self.call_next(lambda: self.post_message(made()))

    # What is drawn ------------------------------------------------------------------------------

    def on_focus(self) -> None:
        """Show the letters that act now."""
        self.call_next(self._draw)  # Textual notes the focus after this

    def on_blur(self) -> None:
        """They do not any more."""
        self.call_next(self._draw)

    def on_resize(self) -> None:
        """Lines wrap in other places: the option under the cursor may have left the sight."""
        if self.request is not None and self.request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one("#request-scroll", VerticalScroll)

    def _draw(self) -> None:
        if self._asked is None:
            return
        request, form = self._asked.request, self._asked.form
        look = {"is_armed": self._is_settled, "with_keys": self.has_focus}
        choices: list[Content] = []
        if isinstance(form, QuestionForm):
            text = Content("\n").join(form.rows(**look))
        else:
            text = card(request)
            choices = [] if self._asked.is_sent else list(form.rows(**look))
        self.border_title = Content(TITLES[request.kind])
        self.query_one("#request-text", Static).update(text)
        self.query_one("#request-choices", Static).update(Content("\n").join(choices))
        self.query_one("#request-choices").display = bool(choices)
        self.query_one("#request-keys", Static).update(self._keys(self._asked))
        if request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        scroll, form = self._scroll, self._asked.form if self._asked is not None else None
        width, height = scroll.scrollable_content_region.size
        if not width or not isinstance(form, QuestionForm):
            return  # not laid out yet, or in no terminal that could show it; it is, once it grows
        top, above = round(scroll.scroll_y), form.height_above_cursor(width)
        if not top <= above < top + height:
            scroll.scroll_to(y=max(0, above - height // 2), animate=False)

    def _keys(self, asked: _Asked) -> Content:
        if asked.is_sent:
            return Content.styled("Your answer is on its way …", "$text-muted")
        if self._is_leaving:
            return Content.assemble(
                "The plan goes on waiting.  ", _key("esc", "again: set it aside, to approve later")
            )
        if self._has_words and not self.has_focus:
            is_for_this = self._written_for() == self.subject
            enter = "enter" if is_for_this else "enter twice"
            words = _hint(enter, WORDS_ARE[asked.request.kind])
            return Content.assemble(words, "   ", _key("tab", "choose above"))
        has_rows = not isinstance(asked.form, QuestionForm) or asked.form.has_rows
        keys = [_key("↑ ↓", "move"), _key("enter", "choose")] if has_rows else []
        if isinstance(asked.form, QuestionForm) and asked.form.has_one_before:
            keys.append(_key("←", "the question before"))
        if self.has_focus:
            return Content.assemble(*keys, ("letters and digits choose", "$text-muted"))
        if has_rows:
            keys.append(_key("tab", "by letter"))
        return Content.assemble(*keys, ("or write your answer below", "$text-muted"))


def _key(key: str, words: str) -> Content:
    """A key and what it does, which a click does too."""
    return Content.assemble(_hint(key, words).stylize(Style.from_meta({"key": key})), "   ")


def _hint(key: str, words: str) -> Content:
    return Content.assemble((spoken(key), "bold $accent"), (f" {words}", "$text-muted"))
