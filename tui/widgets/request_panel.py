"""What a waiting session asks, and the keys that answer: a plan, questions, a permission."""

import time
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from tui.widgets.question_form import QuestionForm

if TYPE_CHECKING:
    from model.resources import Request

Choice = Literal["build", "yolo", "edit", "allow", "allow_session", "deny", "explain"]
Part = str | tuple[str, str] | Content

KEYS: dict[str, dict[str, tuple[Choice, str]]] = {
    "plan": {"b": ("build", "build"), "y": ("yolo", "yolo"), "e": ("edit", "edit")},
    "permission": {
        "a": ("allow", "allow"),
        "s": ("allow_session", "allow for this session"),
        "d": ("deny", "deny"),
        "r": ("explain", "deny and say why"),
    },
}


class RequestPanel(Vertical, can_focus=True):
    """The box over the composer while the session waits for a person.

    Its keys also work from the composer while that is empty. Enter there hands all keys back to
    the composer (talk on), so that a message may begin with any letter.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_text(-1)", show=False),
        Binding("pagedown", "scroll_text(1)", show=False),
    ]

    GRACE: ClassVar[float] = 0.4
    """Seconds in which a new request takes no key: it may appear under a typing hand."""

    class Chosen(Message):
        """A plan or a permission was decided on."""

        def __init__(self, request: "Request", choice: Choice, reason: str = "") -> None:
            super().__init__()
            self.request = request
            self.choice = choice
            self.reason = reason
            """Why a permission is denied, for the agent to read."""

    class Answered(Message):
        """Every question has its answer."""

        def __init__(self, request: "Request", answers: dict[str, str]) -> None:
            super().__init__()
            self.request = request
            self.answers = answers

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.request: Request | None = None
        self.is_armed = False
        """Whether keys are taken as answers."""
        self._form = QuestionForm(())
        self._since = 0.0
        self._yolo_asked = False
        """Whether `y` was pressed once; only a second one lets the agent do everything."""
        self._explains = False
        """Whether what is written next is the reason of a denial."""

    def compose(self) -> ComposeResult:
        """What is asked, and the keys, which never scroll out of sight."""
        with VerticalScroll(id="request-scroll", can_focus=False):
            yield Static(id="request-text", markup=False)
        yield Static(id="request-keys", markup=False)

    def ask(self, request: "Request | None") -> None:
        """Show this request; `None` hides the panel."""
        if request == self.request:
            return
        known = self.request is not None and request is not None and self.request.id == request.id
        self.request = request
        self.set_class(request is None, "hidden")
        if request is None:
            return
        if not known:
            self._form = QuestionForm(request.questions if request.kind == "question" else ())
            self._yolo_asked = self._explains = False
            self.is_armed = True
            self._since = time.monotonic()
            self._scroll.scroll_home(animate=False)
        self._draw()

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one("#request-scroll", VerticalScroll)

    def action_scroll_text(self, direction: int) -> None:
        """Read on in a long text."""
        scroll = self._scroll
        scroll.scroll_page_up() if direction < 0 else scroll.scroll_page_down()

    # Keys ---------------------------------------------------------------------------------------

    def press(self, key: str | None) -> str | None:
        """Take a key as an answer; the rest, which is to be written instead (`None`: the key)."""
        if self.request is None or not self.is_armed or key is None:
            return None
        if time.monotonic() - self._since < self.GRACE:
            return None
        if self._form.question is not None:
            if not self._form.press(key):
                return None
            self._follow_form(self.request)
            return ""
        if self._yolo_asked and key != "y":
            return self._withdraw_yolo(key)
        if key == "enter":
            self._talk_on()
            return ""
        entry = KEYS.get(self.request.kind, {}).get(key)
        if entry is None:
            return None
        if entry[0] == "yolo" and not self._yolo_asked:
            self._yolo_asked = True
            self._draw()
        elif entry[0] == "explain":
            self._explains = True
            self._talk_on()
        else:
            self.post_message(self.Chosen(self.request, entry[0]))
        return ""

    def on_key(self, event: events.Key) -> None:
        """The same keys while the panel has the focus."""
        if self.press(event.character if event.is_printable else event.key) is not None:
            event.stop()
            event.prevent_default()

    def on_resize(self) -> None:
        """Lines wrap in other places: the option under the cursor may have left the sight."""
        if self.request is not None and self.request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    def on_click(self, event: events.Click) -> None:
        """A key that is shown, or an option, was clicked."""
        key = event.style.meta.get("key")
        if key == "esc":
            self.rearm()
        elif isinstance(key, str):
            self._since = 0.0
            self.press("left" if key == "←" else key)

    def _withdraw_yolo(self, key: str) -> str:
        """Who goes on writing after `y` meant a word, as “yes, but”: it goes to the message box."""
        self._yolo_asked = False
        if len(key) == 1:
            self._talk_on()
            return f"y{key}"
        self._draw()
        return ""

    def rearm(self) -> bool:
        """Take keys again, after talking on; whether that changes anything."""
        if self.request is None or (self.is_armed and not self._yolo_asked):
            return False
        self._yolo_asked = self._explains = False
        self.is_armed = True
        self._draw()
        return True

    def say(self, text: str) -> bool:
        """A free text as the answer to what is asked; whether it is one."""
        # In the panel's own turn: a message that its parent caused does not reach the parent.
        if self._form.question is not None:
            self.call_next(self._answer, self.request, text)
        elif self.request is not None and self._explains:
            self._explains = False
            self.call_next(self._deny, self.request, text)
        else:
            return False
        return True

    def _deny(self, request: "Request", reason: str) -> None:
        self.post_message(self.Chosen(request, "deny", reason))

    def _talk_on(self) -> None:
        self.is_armed = False
        self._draw()

    def _answer(self, request: "Request", text: str) -> None:
        self._form.answer(text)
        self._follow_form(request)

    def _follow_form(self, request: "Request") -> None:
        self._since = 0.0
        if self._form.question is None:
            self.is_armed = False
            self.post_message(self.Answered(request, self._form.answers))
        self._draw()

    # What is drawn ------------------------------------------------------------------------------

    def _draw(self) -> None:
        assert self.request is not None
        parts: list[Part] = ["The plan above is ready."]
        match self.request.kind:
            case "plan":
                title = "Plan"
            case "permission":
                title, parts = "Permission", self._permission(self.request)
            case "question":
                title, parts = "Question", [Content("\n").join(self._form.rows())]
        self.border_title = Content(title)
        self.query_one("#request-text", Static).update(Content.assemble(*parts))
        self.query_one("#request-keys", Static).update(Content.assemble(*self._keys()))
        if self.request.kind == "question":
            self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        scroll = self._scroll
        width, height = scroll.scrollable_content_region.size
        if not width:
            return  # not laid out yet, or in no terminal that could show it; it is, once it grows
        top, above = round(scroll.scroll_y), self._form.height_above_cursor(width)
        if not top <= above < top + height:
            scroll.scroll_to(y=max(0, above - height // 2), animate=False)

    def _keys(self) -> list[Part]:
        assert self.request is not None
        if self.request.kind == "question":
            keys = [_key(key, words) for key, words in self._form.offered_keys()]
            return [*keys, ("or write your own answer below", "$text-muted")]
        if not self.is_armed:
            words = "why not, and what to do instead" if self._explains else "what should change"
            return [
                (f"Write below {words};  ", "$text-muted"),
                _key("esc", "the choices"),
            ]
        if self._yolo_asked:
            return [
                _key("y", "again: yolo, nothing will be asked"),
                ("any key: back", "$text-muted"),
            ]
        choices = [_key(key, words) for key, (_, words) in KEYS[self.request.kind].items()]
        return [*choices, _key("enter", "talk on")]

    def _permission(self, request: "Request") -> list[Part]:
        parts: list[Part] = [("May I use ", ""), (request.tool_name or "a tool", "bold"), "?"]
        if request.description:
            parts += ["  ", (request.description, "$text-muted")]
        return [*parts, "\n", (_shown_input(request), "$warning")]


def _key(key: str, words: str) -> Content:
    """A key and what it does, which a click does too."""
    told = Content.assemble((f"[{key}]", "bold $accent"), f" {words}")
    return Content.assemble(told.stylize(Style.from_meta({"key": key})), "   ")


def _shown_input(request: "Request") -> str:
    """What would be run or touched, whole: nobody should allow what they cannot see."""
    given = request.tool_input
    if isinstance(command := given.get("command"), str):
        rest = {key: value for key, value in given.items() if key not in ("command", "description")}
        return command if not rest else f"{command}\n{_json(rest)}"
    return _json(given) if given else ""


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
