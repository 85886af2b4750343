"""The state machine that walks the page: which step comes next, and with what."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.journeys.ledger import FoundError
from tests.journeys.page_journey import PageJourney
from tests.journeys.page_place import SCREENS
from tests.journeys.speech import DIRECTIVES, OPENINGS
from tests.patience import PATIENCE

NUMBERS = st.integers(0, 5)


class PageMachine(RuleBasedStateMachine):
    """Any step at any time; those for which a session waits come more often where one does."""

    journey: PageJourney | None = None
    patience = PATIENCE
    screen = ""
    found: FoundError | None = None
    """What the first journey of a run found. Hypothesis would walk it again, to no end."""

    def perform(self, name: str, **values: object) -> None:
        if self.found is not None:
            raise self.found
        try:
            if self.journey is None:
                self.journey = PageJourney(self.patience)
                self.journey.perform("sit_down", screen=self.screen)
            self.journey.perform(name, **values)
        except FoundError as error:
            type(self).found = error
            raise

    def teardown(self) -> None:
        if self.journey is not None:
            self.journey.close()

    @property
    def is_open(self) -> bool:
        return self.journey is not None and self.journey.shown is not None

    @property
    def waits(self) -> bool:
        here = self.journey.shown if self.journey is not None else None
        return here is not None and here.request is not None

    @property
    def has_tabs(self) -> bool:
        return self.journey is not None and len(self.journey.at.tabs) > 1

    @property
    def is_offline(self) -> bool:
        return self.journey is not None and not self.journey.at.is_online

    @initialize(screen=st.sampled_from(sorted(SCREENS)))
    def choose_screen(self, screen: str) -> None:
        self.screen = screen

    @rule()
    def a_rest(self) -> None:
        """Nothing; first by name, as hypothesis tries the first rule alone before all others."""

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
    def travel(self, step: int) -> None:
        self.perform("travel", step=step)

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
    @rule(is_loaded_anew=st.booleans())
    def run(self, is_loaded_anew: bool) -> None:
        self.perform("run", is_loaded_anew=is_loaded_anew)

    @precondition(lambda self: self.is_open)
    @rule()
    def clear(self) -> None:
        self.perform("clear")

    @rule(end=st.sampled_from(("well", "failed", "anyway")))
    def begin_in_setup(self, end: str) -> None:
        self.perform("begin_in_setup", end=end)

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

    @rule(do=st.sampled_from(("send", "stop", "decide", "archive", "rename")), number=NUMBERS)
    def elsewhere(self, do: str, number: int) -> None:
        self.perform("elsewhere", do=do, number=number)
