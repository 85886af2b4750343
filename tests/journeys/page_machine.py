"""The state machine that chooses the steps of a journey on the page."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.journeys.branch_work import BRANCH_ACTIONS, METHODS
from tests.journeys.page_harness import SCREENS
from tests.journeys.page_journey import PageJourney
from tests.journeys.page_landing import PLACES
from tests.journeys.prompts import DIRECTIVES, OPENINGS
from tests.patience import PATIENCE

NUMBERS = st.integers(0, 5)

Take = Callable[..., None]


class When(Enum):
    """The precondition of a step."""

    ALWAYS = "nothing"
    OPEN = "an open session"
    WAITING = "an open session that waits for the user"
    ONE_TAB = "an open session in the only tab"
    TABS = "several tabs"
    OFFLINE = "no connection"


@dataclass(frozen=True)
class Step:
    """A step of the journey, with strategies for its arguments."""

    name: str
    when: When
    values: "dict[str, st.SearchStrategy[Any]]"


STEPS: list[Step] = []
"""All steps, in the order in which they are declared below."""


def step(when: When, **values: "st.SearchStrategy[Any]") -> Callable[[Take], Take]:
    """Declare a method as a step."""

    def declare(take: Take) -> Take:
        STEPS.append(Step(take.__name__, when, values))
        declared: Take = precondition(lambda machine: machine.is_possible(when))(
            rule(**values)(take)
        )
        return declared

    return declare


class PageMachine(RuleBasedStateMachine):
    """Takes any possible step, more often a reaction while a session waits for one."""

    journey: PageJourney | None = None
    patience = PATIENCE
    screen = ""
    failure: Exception | None = None
    """The failure of the first journey; raised again where hypothesis tries to repeat it."""

    def perform(self, name: str, **values: object) -> None:
        if self.failure is not None:
            raise self.failure
        try:
            if self.journey is None:
                self.journey = PageJourney(self.patience)
                self.journey.perform("open_page", screen=self.screen)
            self.journey.perform(name, **values)
        except Exception as error:
            type(self).failure = error
            raise

    def teardown(self) -> None:
        if self.journey is not None:
            self.journey.close()

    @property
    def is_open(self) -> bool:
        return self.journey is not None and self.journey.shown is not None

    @property
    def waits(self) -> bool:
        current = self.journey.shown if self.journey is not None else None
        return current is not None and current.request is not None

    @property
    def has_tabs(self) -> bool:
        return self.journey is not None and len(self.journey.harness.tabs) > 1

    @property
    def is_offline(self) -> bool:
        return self.journey is not None and not self.journey.harness.is_online

    def is_possible(self, when: When) -> bool:
        match when:
            case When.OPEN:
                return self.is_open
            case When.WAITING:
                return self.waits
            case When.ONE_TAB:
                return self.is_open and not self.has_tabs
            case When.TABS:
                return self.has_tabs
            case When.OFFLINE:
                return self.is_offline
        return True

    def enable(self, when: When) -> None:
        """Do what makes a step possible, if it is not, in one session after another."""
        for number in range(6):
            if self.is_possible(when):
                return
            self.perform("open_by_tree", number=number)
            match when:
                case When.WAITING:
                    self.perform("send", kind="ask", burst=True)
                    self.perform("watch")
                case When.ONE_TAB if self.has_tabs:
                    self.perform("close_tab")
                case When.TABS:
                    self.perform("open_tab", number=number)
                case When.OFFLINE:
                    self.perform("go_offline")

    def take(self, step: Step, values: dict[str, Any]) -> None:
        getattr(self, step.name)(**values)

    @initialize(screen=st.sampled_from(sorted(SCREENS)))
    def choose_screen(self, screen: str) -> None:
        self.screen = screen

    @rule()
    def a_rest(self) -> None:
        """Do nothing. This rule must sort first: hypothesis tries the first rule alone."""

    @step(When.ALWAYS, number=NUMBERS)
    def open_by_tree(self, number: int) -> None:
        self.perform("open_by_tree", number=number)

    @step(
        When.ALWAYS, number=NUMBERS, kind=st.sampled_from(sorted(DIRECTIVES)), burst=st.booleans()
    )
    def go_and_send(self, number: int, kind: str, burst: bool) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind=kind, burst=burst)

    @step(When.ALWAYS, number=NUMBERS, kind=st.sampled_from(("markdown", "stream", "say")))
    def go_and_read(self, number: int, kind: str) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind=kind, burst=True)
        self.perform("watch")

    @step(When.ALWAYS, number=NUMBERS)
    def open_by_needs(self, number: int) -> None:
        self.perform("open_by_needs", number=number)

    @step(When.ALWAYS, number=NUMBERS)
    def open_by_address(self, number: int) -> None:
        self.perform("open_by_address", number=number)

    @step(When.ALWAYS, number=NUMBERS)
    def open_by_palette(self, number: int) -> None:
        self.perform("open_by_palette", number=number)

    @step(When.OPEN, step=st.sampled_from((-1, 1)))
    def traverse_history(self, step: int) -> None:
        self.perform("traverse_history", step=step)

    @step(When.OPEN, kind=st.sampled_from(sorted(DIRECTIVES)), burst=st.booleans())
    def send(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @step(When.OPEN, kind=st.sampled_from(("ask", "permission", "plan")), burst=st.booleans())
    def send_request(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @step(When.ALWAYS, number=NUMBERS, is_kept=st.booleans())
    def go_and_queue(self, number: int, is_kept: bool) -> None:
        self.perform("open_by_tree", number=number)
        for kind in ("stream", "say", "permission"):
            self.perform("send", kind=kind, burst=True)
        self.perform("edit_waiting" if is_kept else "remove_waiting", number=number)

    @step(When.OPEN, number=NUMBERS)
    def edit_waiting(self, number: int) -> None:
        self.perform("edit_waiting", number=number)

    @step(When.OPEN, number=NUMBERS)
    def remove_waiting(self, number: int) -> None:
        self.perform("remove_waiting", number=number)

    @step(When.OPEN)
    def steer_waiting(self) -> None:
        self.perform("steer_waiting")

    @step(When.ALWAYS, number=NUMBERS)
    def go_and_steer(self, number: int) -> None:
        self.perform("open_by_tree", number=number)
        for kind in ("stream", "say"):
            self.perform("send", kind=kind, burst=True)
        self.perform("steer_waiting")

    @step(When.OPEN, words=st.sampled_from(OPENINGS), burst=st.booleans())
    def write(self, words: str, burst: bool) -> None:
        self.perform("write", words=words, burst=burst)

    @step(When.WAITING, words=st.sampled_from(OPENINGS), burst=st.booleans())
    def answer_in_words(self, words: str, burst: bool) -> None:
        self.perform("write", words=words, burst=burst)
        self.perform("submit")

    @step(When.OPEN)
    def submit(self) -> None:
        self.perform("submit")

    @step(When.WAITING, number=NUMBERS)
    def decide(self, number: int) -> None:
        self.perform("decide", number=number, in_list=False)

    @step(When.ALWAYS, number=NUMBERS)
    def decide_in_list(self, number: int) -> None:
        self.perform("decide", number=number, in_list=True)

    @step(When.OPEN, is_reloaded=st.booleans())
    def run_command(self, is_reloaded: bool) -> None:
        self.perform("run_command", is_reloaded=is_reloaded)

    @step(When.OPEN, what=st.sampled_from(("both", "files")), is_reloaded=st.booleans())
    def undo(self, what: str, is_reloaded: bool) -> None:
        self.perform("undo", what=what, is_reloaded=is_reloaded)

    @step(When.ALWAYS, number=NUMBERS, what=st.sampled_from(("both", "files")))
    def change_and_undo(self, number: int, what: str) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind="write", burst=True)
        self.perform("watch")
        self.perform("undo", what=what, is_reloaded=False)

    @step(When.OPEN)
    def clear(self) -> None:
        self.perform("clear")

    @step(When.ALWAYS)
    def start_task(self) -> None:
        self.perform("start_task")

    @step(When.ALWAYS, number=NUMBERS)
    def stop_in_list(self, number: int) -> None:
        self.perform("stop_in_list", number=number)

    @step(When.ALWAYS, outcome=st.sampled_from(("success", "failure", "anyway")))
    def begin_in_setup(self, outcome: str) -> None:
        self.perform("begin_in_setup", outcome=outcome)

    @step(When.ALWAYS, place=st.sampled_from(PLACES), number=NUMBERS)
    def look_at_landing(self, place: str, number: int) -> None:
        self.perform("look_at_landing", place=place, number=number)

    @step(
        When.ALWAYS,
        outcome=st.sampled_from(("cancel", "keep", "twice", "undo", "race", "dirty", "red")),
        method=st.sampled_from(METHODS),
        number=NUMBERS,
        clashes=st.booleans(),
    )
    def land(self, outcome: str, method: str, number: int, clashes: bool) -> None:
        self.perform("land", outcome=outcome, method=method, number=number, clashes=clashes)

    @step(When.ALWAYS, number=NUMBERS)
    def take_landing_back(self, number: int) -> None:
        self.perform("take_landing_back", number=number)

    @step(When.ALWAYS, ending=st.sampled_from(("land", "reload", "stop", "red")), number=NUMBERS)
    def ride_train(self, ending: str, number: int) -> None:
        self.perform("ride_train", ending=ending, number=number)

    @step(When.ALWAYS, ending=st.sampled_from(("archive", "cancel")), number=NUMBERS)
    def sweep(self, ending: str, number: int) -> None:
        self.perform("sweep", ending=ending, number=number)

    @step(When.ALWAYS, action=st.sampled_from(BRANCH_ACTIONS), number=NUMBERS)
    def branches_elsewhere(self, action: str, number: int) -> None:
        self.perform("branches_elsewhere", action=action, number=number)

    @step(When.OPEN)
    def watch(self) -> None:
        self.perform("watch")

    @step(When.OPEN)
    def stop(self) -> None:
        self.perform("stop")

    @step(When.OPEN, mode=st.sampled_from(("plan", "build", "yolo")))
    def switch_mode(self, mode: str) -> None:
        self.perform("switch_mode", mode=mode)

    @step(When.OPEN, turns=st.sampled_from((-3, -1, 1, 3)))
    def scroll(self, turns: int) -> None:
        self.perform("scroll", turns=turns)

    @step(When.ALWAYS, is_small=st.booleans())
    def resize(self, is_small: bool) -> None:
        self.perform("resize", is_small=is_small)

    @step(When.OPEN)
    def archive(self) -> None:
        self.perform("archive")

    @step(When.OPEN)
    def reload(self) -> None:
        self.perform("reload")

    @step(When.ONE_TAB, number=NUMBERS)
    def open_tab(self, number: int) -> None:
        self.perform("open_tab", number=number)

    @step(When.TABS)
    def switch_tab(self) -> None:
        self.perform("switch_tab")

    @step(When.TABS)
    def close_tab(self) -> None:
        self.perform("close_tab")

    @step(When.OPEN)
    def go_offline(self) -> None:
        self.perform("go_offline")

    @step(When.OFFLINE)
    def reload_offline(self) -> None:
        self.perform("reload_offline")

    @step(When.OFFLINE)
    def come_back(self) -> None:
        self.perform("come_back")

    @step(When.OFFLINE)
    def come_back_soon(self) -> None:
        self.perform("come_back")

    @step(
        When.ALWAYS,
        action=st.sampled_from(("send", "stop", "decide", "archive", "rename")),
        number=NUMBERS,
    )
    def elsewhere(self, action: str, number: int) -> None:
        self.perform("elsewhere", action=action, number=number)

    @step(When.ALWAYS, number=NUMBERS)
    def decide_as_guest(self, number: int) -> None:
        self.perform("decide_as_guest", number=number)
