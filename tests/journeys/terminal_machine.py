"""The state machine that walks the terminal: which step comes next, and with what."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.journeys.ledger import FoundError
from tests.journeys.speech import DIRECTIVES, OPENINGS
from tests.journeys.terminal_journey import TerminalJourney
from tests.patience import PATIENCE

NUMBERS = st.integers(0, 5)
SENTENCES = st.lists(st.sampled_from(OPENINGS), min_size=1, max_size=3)
SHORT = ("say", "think", "write", "ask", "permission", "plan")
"""Kinds of messages that wait well."""
REACTIONS = ("talk", "talk", "talk", "stop", "decide", "leave")
"""What somebody does about what the agent asks."""
MODES = {"plan": "plan", "permission": "build"}
"""The mode in which the agent asks for it; a question it asks in any."""


class When(Enum):
    """What there must be for a step."""

    ALWAYS = "nothing"
    OPEN = "an open session"
    QUEUED = "an open session with a queued message"
    LONG = "an open session in which much was said, and none that was read whole"
    WAITING = "an open session that waits for somebody"


@dataclass(frozen=True)
class Step:
    """A step of the journey, or one of several, and what it takes."""

    name: str
    when: When
    weight: int
    values: "dict[str, st.SearchStrategy[Any]]"


STEPS = (
    Step("click_row", When.ALWAYS, 4, {"number": NUMBERS}),
    Step("next_waiting", When.ALWAYS, 2, {"words": st.just("") | st.sampled_from(OPENINGS)}),
    Step("restore", When.ALWAYS, 1, {}),
    Step("resize", When.ALWAYS, 1, {
        "columns": st.sampled_from((80, 120, 160)), "rows": st.sampled_from((24, 40)),
    }),
    Step("elsewhere", When.ALWAYS, 2, {
        "do": st.sampled_from(("send", "stop", "decide", "archive", "rename")), "number": NUMBERS,
    }),
    Step("elsewhere", When.QUEUED, 4, {
        "do": st.sampled_from(("remove", "change")), "number": NUMBERS,
    }),
    Step("begin_in_setup", When.ALWAYS, 1, {"end": st.sampled_from(("well", "failed", "stopped"))}),
    Step("run", When.OPEN, 2, {}),
    Step("clear", When.OPEN, 1, {}),
    Step("step_tab", When.OPEN, 2, {"step": st.sampled_from((-1, 1))}),
    Step("search", When.OPEN, 1, {"number": NUMBERS}),
    Step("open_by_palette", When.OPEN, 1, {"number": NUMBERS}),
    Step("open_by_keys", When.OPEN, 1, {"number": NUMBERS}),
    Step("read_all", When.LONG, 4, {}),
    Step("take_back", When.QUEUED, 8, {"words": st.sampled_from(OPENINGS)}),
    Step("change_queued", When.QUEUED, 8, {"number": NUMBERS, "by_keys": st.booleans()}),
    Step("remove_queued", When.QUEUED, 8, {"number": NUMBERS, "by_keys": st.booleans()}),
    Step("send_queued", When.QUEUED, 6, {}),
    Step("queue_up", When.OPEN, 3, {
        "kinds": st.lists(st.sampled_from(SHORT), min_size=1, max_size=4),
    }),
    Step("send", When.OPEN, 3, {
        "kind": st.sampled_from(sorted(DIRECTIVES)), "burst": st.booleans(),
    }),
    Step("ask", When.OPEN, 8, {
        "kind": st.sampled_from(("ask", "permission", "plan")), "burst": st.booleans(),
        "reaction": st.sampled_from(REACTIONS), "sentences": SENTENCES, "number": NUMBERS,
    }),
    Step("write", When.OPEN, 2, {"words": st.sampled_from(OPENINGS), "burst": st.booleans()}),
    Step("submit", When.OPEN, 1, {"column": st.none() | NUMBERS}),
    Step("watch", When.OPEN, 1, {}),
    Step("stop", When.OPEN, 2, {}),
    Step("switch_mode", When.OPEN, 1, {}),
    Step("scroll", When.OPEN, 1, {"pages": st.sampled_from((-3, -1, 1, 3))}),
    Step("new_session", When.OPEN, 1, {}),
    Step("archive", When.OPEN, 1, {}),
    Step("restart", When.OPEN, 1, {"how": st.sampled_from(("kill", "quit", "leave"))}),
    Step("talk", When.WAITING, 12, {"sentences": SENTENCES, "burst": st.booleans()}),
    Step("decide", When.WAITING, 5, {"number": NUMBERS}),
    Step("stop", When.WAITING, 6, {}),
)  # fmt: skip
"""Where a session waits, most of them answer it, in words or otherwise: a decision that nobody
meant is found only there."""


class TerminalMachine(RuleBasedStateMachine):
    """Any step that is possible. One rule chooses among them: of several, hypothesis leaves out
    most for a whole journey, which then goes nowhere."""

    journey: TerminalJourney | None = None
    has_read = False
    """Whether a conversation was read to its start."""
    patience = PATIENCE
    slow: "list[tuple[str, float]]" = []  # noqa: RUF012
    """What was opened slowly, as the last journey has it."""
    found: FoundError | None = None
    """What the first journey of a run found. Hypothesis would walk it again, to no end."""

    @rule(data=st.data())
    def take_a_step(self, data: st.DataObject) -> None:
        possible = [step for step in STEPS for _ in range(step.weight) if self.is_possible(step)]
        step = data.draw(st.sampled_from(possible))
        values = data.draw(st.fixed_dictionaries(step.values))
        match step.name:
            case "talk":
                self.talk(**values)
            case "ask":
                self.ask(**values)
            case name:
                self.has_read |= name == "read_all"
                self.perform(name, **values)

    def is_possible(self, step: Step) -> bool:
        match step.when:
            case When.OPEN:
                return self.shown is not None
            case When.WAITING:
                return self.waits
            case When.QUEUED:
                return self.shown is not None and bool(self.shown.queued)
            case When.LONG:
                return self.shown is not None and not self.has_read and self.shown.is_long
        return True

    @property
    def shown(self) -> Any:
        return self.journey.shown if self.journey is not None else None

    @property
    def waits(self) -> bool:
        return self.shown is not None and self.shown.request is not None

    def perform(self, name: str, **values: object) -> None:
        if self.found is not None:
            raise self.found
        if self.journey is None:
            self.journey = TerminalJourney(self.patience)
        try:
            self.journey.perform(name, **values)
        except FoundError as error:
            type(self).found = error
            raise

    def ask(self, kind: str, burst: bool, reaction: str, sentences: list[str], number: int) -> None:
        """Have the agent ask something, and react to it."""
        if kind in MODES:
            self.perform("choose_mode", mode=MODES[kind])
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
        """Look at what the agent asks, and answer in words as long as it asks."""
        for words in sentences:
            self.perform("watch")
            if not self.waits:
                return
            self.perform("write", words=words, burst=burst)
            self.perform("submit")

    def teardown(self) -> None:
        if self.journey is not None:
            type(self).slow = self.journey.place.slow
            self.journey.close()
