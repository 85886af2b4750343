"""What a waiting session asks, and the keys that answer: a plan, questions, a permission."""

import time
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

if TYPE_CHECKING:
    from model.resources import Question, Request

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
        Binding("up,pageup", "scroll_text(-1)", show=False),
        Binding("down,pagedown", "scroll_text(1)", show=False),
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
        self._answers: dict[str, str] = {}
        self._position = 0
        self._ticked: set[int] = set()
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
            self._answers, self._ticked, self._position = {}, set(), 0
            self._yolo_asked = self._explains = False
            self.is_armed = True
            self._since = time.monotonic()
            self._scroll.scroll_home(animate=False)
        self._draw()

    @property
    def question(self) -> "Question | None":
        """The question that is being asked."""
        if self.request is None or self.request.kind != "question":
            return None
        questions = self.request.questions
        return questions[self._position] if self._position < len(questions) else None

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
        if self.question is not None:
            return "" if self._press_option(key, self.question) else None
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
        if self.question is not None:
            self.call_next(self._answer, self.question, text)
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

    def _press_option(self, key: str, question: "Question") -> bool:
        if key == "enter" and question.multi_select and self._ticked:
            labels = [question.options[number].label for number in sorted(self._ticked)]
            self._answer(question, ", ".join(labels))
            return True
        if not (key.isascii() and key.isdigit() and 0 < int(key) <= len(question.options)):
            return False
        number = int(key) - 1
        if question.multi_select:
            self._ticked ^= {number}
            self._draw()
        else:
            self._answer(question, question.options[number].label)
        return True

    def _answer(self, question: "Question", text: str) -> None:
        assert self.request is not None
        self._answers[question.question] = text
        self._position += 1
        self._ticked = set()
        self._since = 0.0
        if self._position < len(self.request.questions):
            self._draw()
            return
        self.is_armed = False
        self.post_message(self.Answered(self.request, dict(self._answers)))

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
                title, parts = "Question", self._question()
        self.border_title = Content(title)
        self.query_one("#request-text", Static).update(Content.assemble(*parts))
        self.query_one("#request-keys", Static).update(Content.assemble(*self._keys()))

    def _keys(self) -> list[Part]:
        assert self.request is not None
        if self.request.kind == "question":
            done = _key("enter", "done") if self.question and self.question.multi_select else []
            return [*done, ("or write your own answer below", "$text-muted")]
        if not self.is_armed:
            words = "why not, and what to do instead" if self._explains else "what should change"
            return [
                (f"Write below {words};  ", "$text-muted"),
                *_key("esc", "the choices"),
            ]
        if self._yolo_asked:
            return [
                *_key("y", "again: yolo, nothing will be asked"),
                ("any key: back", "$text-muted"),
            ]
        parts: list[Part] = []
        for key, (_, words) in KEYS[self.request.kind].items():
            parts += _key(key, words)
        return [*parts, *_key("enter", "talk on")]

    def _permission(self, request: "Request") -> list[Part]:
        parts: list[Part] = [("May I use ", ""), (request.tool_name or "a tool", "bold"), "?"]
        if request.description:
            parts += ["  ", (request.description, "$text-muted")]
        return [*parts, "\n", (_shown_input(request), "$warning")]

    def _question(self) -> list[Part]:
        request, question = self.request, self.question
        if request is None or question is None:
            return [("Answered.", "$text-muted")]
        parts: list[Part] = []
        if len(request.questions) > 1:
            place = f"{self._position + 1} of {len(request.questions)}  "
            parts.append((place, "$text-muted"))
        if question.header:
            parts += [(question.header, "bold $accent"), "  "]
        parts += [(question.question, "bold"), "\n" if question.options else ""]
        for number, option in enumerate(question.options):
            tick = ("[x] " if number in self._ticked else "[ ] ") if question.multi_select else ""
            parts += ["\n" if number else "", (f" {number + 1} ", "$on-accent on $accent")]
            parts.append(f" {tick}{option.label}")
            if option.description:
                parts.append((f"  {option.description}", "$text-muted"))
        return parts


def _key(key: str, words: str) -> list[Part]:
    return [(f"[{key}]", "bold $accent"), f" {words}   "]


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
