"""The state machine that chooses the steps of a journey on the terminal."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.journeys.branch_work import BRANCH_ACTIONS, METHODS
from tests.journeys.prompts import DIRECTIVES, OPENINGS
from tests.journeys.terminal_journey import TerminalJourney
from tests.journeys.terminal_landing import WAYS
from tests.patience import PATIENCE

NUMBERS = st.integers(0, 5)
SENTENCES = st.lists(st.sampled_from(OPENINGS), min_size=1, max_size=3)
QUEUED_KINDS = ("say", "think", "write", "ask", "permission", "plan")
"""Kinds of messages to queue."""
REACTIONS = ("talk", "talk", "talk", "stop", "decide", "leave")
"""Reactions to a request of the agent."""
REQUEST_MODES = {"plan": "plan", "permission": "build"}
"""The mode in which the agent makes this kind of request; questions are possible in any mode."""


DESK_KEYS = ("", "jk", "j j kG g", " \x1b[15~j ", "\x1b[15~\x1b[15~j k", " j \x1b")
"""Keys on the landing desk that only move, mark and read again."""


class When(Enum):
    """The precondition of a step."""

    ALWAYS = "nothing"
    OPEN = "an open session"
    QUEUED = "an open session with a queued message"
    LONG = "a long open session, if no conversation was read completely yet"
    WAITING = "an open session that waits for the user"


@dataclass(frozen=True)
class Step:
    """A step of the journey or of this machine, with strategies for its arguments."""

    name: str
    when: When
    weight: int
    values: "dict[str, st.SearchStrategy[Any]]"


STEPS = (
    Step("click_row", When.ALWAYS, 4, {"number": NUMBERS}),
    Step("click_and_type", When.ALWAYS, 2, {
        "number": NUMBERS, "words": st.sampled_from(OPENINGS),
    }),
    Step("open_next_waiting", When.ALWAYS, 2, {"words": st.just("") | st.sampled_from(OPENINGS)}),
    Step("restore", When.ALWAYS, 1, {}),
    Step("resize", When.ALWAYS, 1, {
        "columns": st.sampled_from((80, 120, 160)), "rows": st.sampled_from((24, 40)),
    }),
    Step("elsewhere", When.ALWAYS, 2, {
        "action": st.sampled_from(("send", "stop", "decide", "archive", "rename")),
        "number": NUMBERS,
    }),
    Step("elsewhere", When.QUEUED, 4, {
        "action": st.sampled_from(("remove", "change")), "number": NUMBERS,
    }),
    Step("decide_as_guest", When.ALWAYS, 2, {"number": NUMBERS}),
    Step("begin_in_setup", When.ALWAYS, 1, {
        "outcome": st.sampled_from(("success", "failure", "stopped")),
    }),
    Step("run_command", When.OPEN, 2, {}),
    Step("clear", When.OPEN, 1, {}),
    Step("switch_session", When.OPEN, 2, {"step": st.sampled_from((-1, 1))}),
    Step("last_session", When.OPEN, 2, {"number": NUMBERS}),
    Step("look_beside", When.OPEN, 1, {}),
    Step("archive_here", When.OPEN, 1, {}),
    Step("new_task", When.ALWAYS, 1, {"mode": st.sampled_from(("plan", "build", "yolo"))}),
    Step("search", When.OPEN, 1, {"number": NUMBERS}),
    Step("open_by_palette", When.OPEN, 1, {"number": NUMBERS}),
    Step("open_by_keys", When.OPEN, 1, {"number": NUMBERS}),
    Step("read_all", When.LONG, 4, {}),
    Step("take_back", When.QUEUED, 8, {"words": st.sampled_from(OPENINGS)}),
    Step("edit_queued", When.QUEUED, 8, {"number": NUMBERS, "by_keys": st.booleans()}),
    Step("remove_queued", When.QUEUED, 8, {"number": NUMBERS, "by_keys": st.booleans()}),
    Step("send_queued", When.QUEUED, 6, {}),
    Step("send_now", When.QUEUED, 6, {}),
    Step("queue_up", When.OPEN, 3, {
        "kinds": st.lists(st.sampled_from(QUEUED_KINDS), min_size=1, max_size=4),
    }),
    Step("resume_at_limit", When.OPEN, 2, {"by_command": st.booleans()}),
    Step("send", When.OPEN, 3, {
        "kind": st.sampled_from(sorted(DIRECTIVES)), "burst": st.booleans(),
    }),
    Step("ask", When.OPEN, 8, {
        "kind": st.sampled_from(("ask", "permission", "plan")), "burst": st.booleans(),
        "reaction": st.sampled_from(REACTIONS), "sentences": SENTENCES, "number": NUMBERS,
    }),
    Step("write", When.OPEN, 2, {"words": st.sampled_from(OPENINGS), "burst": st.booleans()}),
    Step("submit", When.OPEN, 1, {"column": st.none() | NUMBERS}),
    Step("clear_and_recall", When.OPEN, 2, {"words": st.sampled_from(OPENINGS)}),
    Step("interrupt", When.OPEN, 1, {}),
    Step("escape_twice", When.OPEN, 2, {}),
    Step("search_history", When.OPEN, 1, {}),
    Step("run_in_shell", When.OPEN, 2, {"sends": st.booleans()}),
    Step("look_at_commits", When.OPEN, 1, {}),
    Step("stash", When.OPEN, 1, {}),
    Step("undo", When.OPEN, 2, {}),
    Step("undo_all", When.OPEN, 2, {"sends": st.booleans()}),
    Step("fork", When.OPEN, 1, {}),
    Step("name_mode", When.OPEN, 1, {"mode": st.sampled_from(("plan", "build", "yolo"))}),
    Step("mistype_command", When.OPEN, 1, {}),
    Step("type_in_conversation", When.OPEN, 2, {
        "words": st.sampled_from(OPENINGS), "burst": st.booleans(),
    }),
    Step("look_at_landing", When.OPEN, 2, {
        "way": st.sampled_from(WAYS), "keys": st.sampled_from(DESK_KEYS),
    }),
    Step("land", When.OPEN, 3, {
        "outcome": st.sampled_from(("cancel", "burst", "keep", "undo", "race", "dirty", "red")),
        "method": st.sampled_from(METHODS), "clashes": st.booleans(),
    }),
    Step("take_landing_back", When.OPEN, 1, {}),
    Step("ride_train", When.OPEN, 1, {
        "ending": st.sampled_from(("land", "leave", "stop", "red")), "clashes": st.booleans(),
    }),
    Step("sweep", When.OPEN, 1, {"ending": st.sampled_from(("archive", "refuse", "cancel"))}),
    Step("branches_elsewhere", When.ALWAYS, 2, {
        "action": st.sampled_from(BRANCH_ACTIONS), "number": NUMBERS,
    }),
    Step("give_verdicts", When.OPEN, 1, {"is_rejected": st.booleans()}),
    Step("review_by_agent", When.OPEN, 1, {}),
    Step("compare", When.OPEN, 1, {"number": NUMBERS}),
    Step("ask_for_hosting", When.OPEN, 1, {"what": st.sampled_from(("work", "pull request"))}),
    Step("watch", When.OPEN, 1, {}),
    Step("stop", When.OPEN, 2, {}),
    Step("switch_mode", When.OPEN, 1, {}),
    Step("scroll", When.OPEN, 1, {"pages": st.sampled_from((-3, -1, 1, 3))}),
    Step("new_session", When.OPEN, 1, {"words": st.just("") | st.sampled_from(OPENINGS)}),
    Step("archive", When.OPEN, 1, {}),
    Step("restart", When.OPEN, 1, {"method": st.sampled_from(("kill", "quit", "leave"))}),
    Step("talk", When.WAITING, 12, {"sentences": SENTENCES, "burst": st.booleans()}),
    Step("decide", When.WAITING, 5, {"number": NUMBERS}),
    Step("stop", When.WAITING, 6, {}),
)  # fmt: skip
"""The weights favor reactions to requests, where unintended decisions can occur."""


class TerminalMachine(RuleBasedStateMachine):
    """Takes any possible step.

    A single rule chooses the step, because hypothesis disables most of several rules for a whole
    example.
    """

    journey: TerminalJourney | None = None
    has_read = False
    """Whether a conversation was read up to its start."""
    patience = PATIENCE
    slow: "list[tuple[str, float]]" = []  # noqa: RUF012
    """The sessions that opened slowly in the last journey."""
    failure: Exception | None = None
    """The failure of the first journey; raised again where hypothesis tries to repeat it."""

    @rule(data=st.data())
    def take_a_step(self, data: st.DataObject) -> None:
        current = self.shown  # Once: each time, the whole screen is parsed.
        possible = [
            step for step in STEPS if self._allows(step.when, current) for _ in range(step.weight)
        ]
        step = data.draw(st.sampled_from(possible))
        self.take(step, data.draw(st.fixed_dictionaries(step.values)))

    def take(self, step: Step, values: dict[str, Any]) -> None:
        match step.name:
            case "talk":
                self.talk(**values)
            case "ask":
                self.ask(**values)
            case name:
                self.has_read |= name == "read_all"
                self.perform(name, **values)

    def is_possible(self, when: When) -> bool:
        return self._allows(when, self.shown)

    def enable(self, when: When) -> None:
        """Do what makes a step possible, if it is not, in one session after another."""
        for number in range(6):
            if self.is_possible(when):
                return
            self.perform("click_row", number=number)
            if self.waits:
                self.perform("stop")
            self.perform("submit")  # what the box still holds
            match when:
                case When.QUEUED:
                    self.perform("queue_up", kinds=["say", "say"])
                case When.WAITING:
                    self.perform("send", kind="ask", burst=True)
                    self.perform("watch")
                case When.LONG:
                    for _ in range(5):
                        self.perform("send", kind="say", burst=True)
                        self.perform("watch")

    def _allows(self, when: When, current: Any) -> bool:
        match when:
            case When.OPEN:
                return current is not None
            case When.WAITING:
                return current is not None and current.request is not None
            case When.QUEUED:
                return current is not None and bool(current.queued)
            case When.LONG:
                return current is not None and not self.has_read and current.is_long
        return True

    @property
    def shown(self) -> Any:
        return self.journey.shown if self.journey is not None else None

    @property
    def waits(self) -> bool:
        return self.shown is not None and self.shown.request is not None

    def perform(self, name: str, **values: object) -> None:
        if self.failure is not None:
            raise self.failure
        try:
            if self.journey is None:
                self.journey = TerminalJourney(self.patience)
            self.journey.perform(name, **values)
        except Exception as error:
            type(self).failure = error
            raise

    def ask(self, kind: str, burst: bool, reaction: str, sentences: list[str], number: int) -> None:
        """Make the agent send a request, and react to it."""
        if kind in REQUEST_MODES:
            self.perform("choose_mode", mode=REQUEST_MODES[kind])
        self.perform("send", kind=kind, burst=burst)
        self.perform("watch")
        if not self.waits:
            return
        match reaction:
            case "talk":
                self.talk(sentences, burst)
            case "stop":
                self.perform("stop")
                self.perform("write", words=sentences[0], burst=burst)
                self.perform("submit")
            case "decide":
                self.perform("decide", number=number)

    def talk(self, sentences: list[str], burst: bool) -> None:
        """Answer the agent's requests in words while it makes any."""
        for words in sentences:
            self.perform("watch")
            if not self.waits:
                return
            self.perform("write", words=words, burst=burst)
            self.perform("submit")

    def teardown(self) -> None:
        if self.journey is not None:
            type(self).slow = self.journey.harness.slow
            self.journey.close()
