"""The state machine that chooses the steps of a journey on the page."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.journeys.branch_work import BRANCH_ACTIONS, METHODS
from tests.journeys.ledger import InvariantError
from tests.journeys.page_harness import SCREENS
from tests.journeys.page_journey import PageJourney
from tests.journeys.page_landing import PLACES
from tests.journeys.prompts import DIRECTIVES, OPENINGS
from tests.patience import PATIENCE

NUMBERS = st.integers(0, 5)


class PageMachine(RuleBasedStateMachine):
    """Takes any possible step, more often a reaction while a session waits for one."""

    journey: PageJourney | None = None
    patience = PATIENCE
    screen = ""
    failure: InvariantError | None = None
    """The failure of the first journey; raised again where hypothesis tries to repeat it."""

    def perform(self, name: str, **values: object) -> None:
        if self.failure is not None:
            raise self.failure
        try:
            if self.journey is None:
                self.journey = PageJourney(self.patience)
                self.journey.perform("open_page", screen=self.screen)
            self.journey.perform(name, **values)
        except InvariantError as error:
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

    @initialize(screen=st.sampled_from(sorted(SCREENS)))
    def choose_screen(self, screen: str) -> None:
        self.screen = screen

    @rule()
    def a_rest(self) -> None:
        """Do nothing. This rule must sort first: hypothesis tries the first rule alone."""

    @rule(number=NUMBERS)
    def open_by_tree(self, number: int) -> None:
        self.perform("open_by_tree", number=number)

    @rule(number=NUMBERS, kind=st.sampled_from(sorted(DIRECTIVES)), burst=st.booleans())
    def go_and_send(self, number: int, kind: str, burst: bool) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind=kind, burst=burst)

    @rule(number=NUMBERS, kind=st.sampled_from(("markdown", "stream", "say")))
    def go_and_read(self, number: int, kind: str) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind=kind, burst=True)
        self.perform("watch")

    @rule(number=NUMBERS)
    def open_by_needs(self, number: int) -> None:
        self.perform("open_by_needs", number=number)

    @rule(number=NUMBERS)
    def open_by_address(self, number: int) -> None:
        self.perform("open_by_address", number=number)

    @rule(number=NUMBERS)
    def open_by_palette(self, number: int) -> None:
        self.perform("open_by_palette", number=number)

    @precondition(lambda self: self.is_open)
    @rule(step=st.sampled_from((-1, 1)))
    def traverse_history(self, step: int) -> None:
        self.perform("traverse_history", step=step)

    @precondition(lambda self: self.is_open)
    @rule(kind=st.sampled_from(sorted(DIRECTIVES)), burst=st.booleans())
    def send(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @precondition(lambda self: self.is_open)
    @rule(kind=st.sampled_from(("ask", "permission", "plan")), burst=st.booleans())
    def send_request(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @rule(number=NUMBERS, is_kept=st.booleans())
    def go_and_queue(self, number: int, is_kept: bool) -> None:
        self.perform("open_by_tree", number=number)
        for kind in ("stream", "say", "permission"):
            self.perform("send", kind=kind, burst=True)
        self.perform("edit_waiting" if is_kept else "remove_waiting", number=number)

    @precondition(lambda self: self.is_open)
    @rule(number=NUMBERS)
    def edit_waiting(self, number: int) -> None:
        self.perform("edit_waiting", number=number)

    @precondition(lambda self: self.is_open)
    @rule(number=NUMBERS)
    def remove_waiting(self, number: int) -> None:
        self.perform("remove_waiting", number=number)

    @precondition(lambda self: self.is_open)
    @rule()
    def steer_waiting(self) -> None:
        self.perform("steer_waiting")

    @rule(number=NUMBERS)
    def go_and_steer(self, number: int) -> None:
        self.perform("open_by_tree", number=number)
        for kind in ("stream", "say"):
            self.perform("send", kind=kind, burst=True)
        self.perform("steer_waiting")

    @precondition(lambda self: self.is_open)
    @rule(words=st.sampled_from(OPENINGS), burst=st.booleans())
    def write(self, words: str, burst: bool) -> None:
        self.perform("write", words=words, burst=burst)

    @precondition(lambda self: self.waits)
    @rule(words=st.sampled_from(OPENINGS), burst=st.booleans())
    def answer_in_words(self, words: str, burst: bool) -> None:
        self.perform("write", words=words, burst=burst)
        self.perform("submit")

    @precondition(lambda self: self.is_open)
    @rule()
    def submit(self) -> None:
        self.perform("submit")

    @precondition(lambda self: self.waits)
    @rule(number=NUMBERS)
    def decide(self, number: int) -> None:
        self.perform("decide", number=number, in_list=False)

    @rule(number=NUMBERS)
    def decide_in_list(self, number: int) -> None:
        self.perform("decide", number=number, in_list=True)

    @precondition(lambda self: self.is_open)
    @rule(is_reloaded=st.booleans())
    def run_command(self, is_reloaded: bool) -> None:
        self.perform("run_command", is_reloaded=is_reloaded)

    @precondition(lambda self: self.is_open)
    @rule(what=st.sampled_from(("both", "files")), is_reloaded=st.booleans())
    def undo(self, what: str, is_reloaded: bool) -> None:
        self.perform("undo", what=what, is_reloaded=is_reloaded)

    @rule(number=NUMBERS, what=st.sampled_from(("both", "files")))
    def change_and_undo(self, number: int, what: str) -> None:
        self.perform("open_by_tree", number=number)
        self.perform("send", kind="write", burst=True)
        self.perform("watch")
        self.perform("undo", what=what, is_reloaded=False)

    @precondition(lambda self: self.is_open)
    @rule()
    def clear(self) -> None:
        self.perform("clear")

    @rule()
    def start_task(self) -> None:
        self.perform("start_task")

    @rule(number=NUMBERS)
    def stop_in_list(self, number: int) -> None:
        self.perform("stop_in_list", number=number)

    @rule(outcome=st.sampled_from(("success", "failure", "anyway")))
    def begin_in_setup(self, outcome: str) -> None:
        self.perform("begin_in_setup", outcome=outcome)

    @rule(place=st.sampled_from(PLACES), number=NUMBERS)
    def look_at_landing(self, place: str, number: int) -> None:
        self.perform("look_at_landing", place=place, number=number)

    @rule(
        outcome=st.sampled_from(("cancel", "keep", "twice", "undo", "race", "dirty", "red")),
        method=st.sampled_from(METHODS),
        number=NUMBERS,
        clashes=st.booleans(),
    )
    def land(self, outcome: str, method: str, number: int, clashes: bool) -> None:
        self.perform("land", outcome=outcome, method=method, number=number, clashes=clashes)

    @rule(number=NUMBERS)
    def take_landing_back(self, number: int) -> None:
        self.perform("take_landing_back", number=number)

    @rule(ending=st.sampled_from(("land", "reload", "stop", "red")), number=NUMBERS)
    def ride_train(self, ending: str, number: int) -> None:
        self.perform("ride_train", ending=ending, number=number)

    @rule(ending=st.sampled_from(("archive", "cancel")), number=NUMBERS)
    def sweep(self, ending: str, number: int) -> None:
        self.perform("sweep", ending=ending, number=number)

    @rule(action=st.sampled_from(BRANCH_ACTIONS), number=NUMBERS)
    def branches_elsewhere(self, action: str, number: int) -> None:
        self.perform("branches_elsewhere", action=action, number=number)

    @precondition(lambda self: self.is_open)
    @rule()
    def watch(self) -> None:
        self.perform("watch")

    @precondition(lambda self: self.is_open)
    @rule()
    def stop(self) -> None:
        self.perform("stop")

    @precondition(lambda self: self.is_open)
    @rule(mode=st.sampled_from(("plan", "build", "yolo")))
    def switch_mode(self, mode: str) -> None:
        self.perform("switch_mode", mode=mode)

    @precondition(lambda self: self.is_open)
    @rule(turns=st.sampled_from((-3, -1, 1, 3)))
    def scroll(self, turns: int) -> None:
        self.perform("scroll", turns=turns)

    @rule(is_small=st.booleans())
    def resize(self, is_small: bool) -> None:
        self.perform("resize", is_small=is_small)

    @precondition(lambda self: self.is_open)
    @rule()
    def archive(self) -> None:
        self.perform("archive")

    @precondition(lambda self: self.is_open)
    @rule()
    def reload(self) -> None:
        self.perform("reload")

    @precondition(lambda self: self.is_open)
    @rule()
    def go_offline(self) -> None:
        self.perform("go_offline")

    @precondition(lambda self: self.is_offline)
    @rule()
    def reload_offline(self) -> None:
        self.perform("reload_offline")

    @precondition(lambda self: self.is_open and not self.has_tabs)
    @rule(number=NUMBERS)
    def open_tab(self, number: int) -> None:
        self.perform("open_tab", number=number)

    @precondition(lambda self: self.has_tabs)
    @rule()
    def switch_tab(self) -> None:
        self.perform("switch_tab")

    @precondition(lambda self: self.has_tabs)
    @rule()
    def close_tab(self) -> None:
        self.perform("close_tab")

    @precondition(lambda self: self.is_offline)
    @rule()
    def come_back(self) -> None:
        self.perform("come_back")

    @precondition(lambda self: self.is_offline)
    @rule()
    def come_back_soon(self) -> None:
        self.perform("come_back")

    @rule(action=st.sampled_from(("send", "stop", "decide", "archive", "rename")), number=NUMBERS)
    def elsewhere(self, action: str, number: int) -> None:
        self.perform("elsewhere", action=action, number=number)

    @rule(number=NUMBERS)
    def decide_as_guest(self, number: int) -> None:
        self.perform("decide_as_guest", number=number)
