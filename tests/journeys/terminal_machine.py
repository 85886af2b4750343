"""The state machine that walks the terminal: which step comes next, and with what."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.journeys.ledger import FoundError
from tests.journeys.speech import DIRECTIVES, OPENINGS
from tests.journeys.terminal_journey import TerminalJourney

NUMBERS = st.integers(0, 5)


class TerminalMachine(RuleBasedStateMachine):
    """Any step at any time; those for which a session waits come more often where one does."""

    journey: TerminalJourney | None = None
    found: FoundError | None = None
    """What the first journey of a run found. Hypothesis would walk it again, to no end."""

    def perform(self, name: str, **values: object) -> None:
        if self.found is not None:
            raise self.found
        if self.journey is None:
            self.journey = TerminalJourney()
        try:
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

    @rule()
    def a_rest(self) -> None:
        """Nothing; first by name, as hypothesis tries the first rule alone before all others."""

    @rule(number=NUMBERS)
    def click_row(self, number: int) -> None:
        self.perform("click_row", number=number)

    @precondition(lambda self: self.is_open)
    @rule(step=st.sampled_from((-1, 1)))
    def step_tab(self, step: int) -> None:
        self.perform("step_tab", step=step)

    @rule(words=st.just("") | st.sampled_from(OPENINGS))
    def next_waiting(self, words: str) -> None:
        self.perform("next_waiting", words=words)

    @precondition(lambda self: self.is_open)
    @rule(number=NUMBERS)
    def search(self, number: int) -> None:
        self.perform("search", number=number)

    @precondition(lambda self: self.is_open)
    @rule(kind=st.sampled_from(sorted(DIRECTIVES)), burst=st.booleans())
    def send(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @precondition(lambda self: self.is_open)
    @rule(kind=st.sampled_from(("ask", "permission", "plan")), burst=st.booleans())
    def send_request(self, kind: str, burst: bool) -> None:
        self.perform("send", kind=kind, burst=burst)

    @precondition(lambda self: self.is_open)
    @rule(words=st.sampled_from(OPENINGS), burst=st.booleans())
    def write(self, words: str, burst: bool) -> None:
        self.perform("write", words=words, burst=burst)

    @precondition(lambda self: self.waits)
    @rule(words=st.sampled_from(OPENINGS), burst=st.booleans())
    def write_while_it_waits(self, words: str, burst: bool) -> None:
        self.perform("watch")
        self.perform("write", words=words, burst=burst)

    @precondition(lambda self: self.is_open)
    @rule()
    def submit(self) -> None:
        self.perform("submit")

    @precondition(lambda self: self.waits)
    @rule(number=NUMBERS)
    def decide(self, number: int) -> None:
        self.perform("decide", number=number)

    @precondition(lambda self: self.is_open)
    @rule()
    def watch(self) -> None:
        self.perform("watch")

    @precondition(lambda self: self.is_open)
    @rule()
    def stop(self) -> None:
        self.perform("stop")

    @precondition(lambda self: self.is_open)
    @rule()
    def switch_mode(self) -> None:
        self.perform("switch_mode")

    @precondition(lambda self: self.is_open)
    @rule(pages=st.sampled_from((-3, -1, 1, 3)))
    def scroll(self, pages: int) -> None:
        self.perform("scroll", pages=pages)

    @rule(columns=st.sampled_from((80, 120, 160)), rows=st.sampled_from((24, 40)))
    def resize(self, columns: int, rows: int) -> None:
        self.perform("resize", columns=columns, rows=rows)

    @precondition(lambda self: self.is_open)
    @rule()
    def new_session(self) -> None:
        self.perform("new_session")

    @precondition(lambda self: self.is_open)
    @rule()
    def archive(self) -> None:
        self.perform("archive")

    @precondition(lambda self: self.is_open)
    @rule(how=st.sampled_from(("kill", "quit", "leave")))
    def restart(self, how: str) -> None:
        self.perform("restart", how=how)

    @rule(do=st.sampled_from(("send", "stop", "decide", "archive", "rename")), number=NUMBERS)
    def elsewhere(self, do: str, number: int) -> None:
        self.perform("elsewhere", do=do, number=number)
