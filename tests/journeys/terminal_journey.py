"""A person's way through Spinney on a terminal: its steps, each by its name.

A step takes plain values, so that a journey can be written down and walked again. One that is not
possible where it comes (nothing waits, nothing is open) does nothing.
"""

import json
import time
from typing import Any, Final

from tests.journeys.elsewhere import MOST
from tests.journeys.ledger import MARK, MODE_CHANGED, STOPPED, FoundError, strings
from tests.journeys.place import ATTENTION
from tests.journeys.screen import FIRST_ROW
from tests.journeys.speech import DIRECTIVES
from tests.journeys.terminal_hand import CALM, DOWN, ENTER, ESCAPE, PALETTE, PRESS, READING, TAB, UP
from tests.journeys.terminal_work import WorkSteps
from tests.patience import PATIENCE

NEXT_WAITING, NEXT_TAB, PREVIOUS_TAB = "\x00", "\x1b[1;3C", "\x1b[1;3D"
MODE, SEARCH, QUIT, NEW_SESSION = "\x1b[Z", "\x06", "\x11", "\x14"
ARCHIVE: Final = "\x1b[19~"
PAGES: Final = {-1: "\x1b[5~", 1: "\x1b[6~"}
DECISIONS: Final = {
    "plan": {"approved build": "Build", "approved yolo": "Yolo"},
    "permission": {"allowed": "Allow once", "denied": "Deny"},
    "question": {"answered red": "red", "answered blue": "blue"},
}
"""What becomes of each kind of request by which of its choices."""


def _first_missing(marks: list[str], pages: list[str]) -> str:
    """The first of these that does not come, in their order, in what was read."""
    text, place = "\n".join(pages), 0
    for mark in marks:
        place = text.find(mark, place)
        if place < 0:
            return mark
        place += len(mark)
    return ""


class TerminalJourney(WorkSteps):
    """Steps through one Spinney, and what holds after each of them."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self.steps: list[tuple[str, dict[str, Any]]] = []

    def perform(self, name: str, **values: Any) -> None:
        """Take a step, and see that all holds."""
        self.steps.append((name, values))
        try:
            getattr(self, name)(**values)
            self.place.check()
        except Exception as error:
            steps = "\n".join(f"    {json.dumps(step)}" for step in self.steps)
            told = f"{error}\nafter {len(self.steps)} steps:\n{steps}\n"
            found = FoundError(told + self.place.draw_report())
            found.steps = self.steps
            raise found from error

    def close(self) -> None:
        """End everything."""
        self.place.close()

    # Going about --------------------------------------------------------------------------------

    def click_row(self, number: int) -> None:
        """Open a session by a click on its row of the tree."""
        name = self.place.world.at(number).name
        if (row := self.place.view.row_of(name)) is not None:
            self.click(12, row)
            self.place.wait_for_session(name)

    def step_tab(self, step: int) -> None:
        """Go to the next or previous session of the worktree."""
        here = self.shown
        if here is None or here.is_archived:
            return
        tree = here.session["worktree_id"]
        beside = [made for made in self.place.world.open if made.session["worktree_id"] == tree]
        if len(beside) == 1:
            return  # Nothing would tell when the key was taken.
        beside.sort(key=lambda made: made.session["order"])
        wanted = beside[(beside.index(here) + step) % len(beside)]
        self.press(NEXT_TAB if step > 0 else PREVIOUS_TAB)
        self.place.wait_for_session(wanted.name)

    def next_waiting(self, words: str = "") -> None:
        """Go to a session that needs somebody, and write on in the same burst."""
        nobody = ("No session needs you", "Only this session")
        says_so = lambda view: any(said in "\n".join(view.rows) for said in nobody)  # noqa: E731
        before, here = self.place.view, self.shown
        if says_so(before):
            return  # It could not be told from what it says next.
        self.place.read()
        open_ones = self.place.world.open
        others = [made for made in open_ones if made.needs_somebody and made.name != before.session]
        text = f"{words} {self.place.ledger.mark()}" if words and here else ""
        self.place.ledger.type(text, *(made.id for made in open_ones))
        self.press(NEXT_WAITING + text)
        if others:
            is_next = lambda view: view.session != before.session  # noqa: E731
            self.place.wait_for(is_next, "the next session that needs somebody")
        else:  # The word that there is none passes, on a busy machine before it was drawn.
            self.place.comes(
                lambda view: view.session != before.session or says_so(view), ATTENTION
            )
        if text:
            self.boxes[self.find_draft(text)] += text

    def search(self, number: int) -> None:
        """Open a session by a hit of the search."""
        conversation = self.place.world.at(number)
        marks = sorted(MARK.findall(" ".join(strings(conversation.messages))))
        if not marks or conversation.is_archived:
            return
        self.press(SEARCH)
        self.place.wait_for(lambda view: "Search" in view.over, "the search")
        self.press(marks[0])
        self.place.wait_for(lambda view: "found in" in "\n".join(view.rows), "a hit")
        self.press(ENTER)
        self.place.wait_for_session(conversation.name, at_end=False)

    def open_by_palette(self, number: int) -> None:
        """Open a session by its name on the screen with all of them, which the palette opens."""
        conversation = self.place.world.at(number)
        if not conversation.is_archived:
            self.open_by_name(conversation)

    def open_by_keys(self, number: int) -> None:
        """Go to the tree by tab, to a session's row by arrows, and open it by enter."""
        conversation, here = self.place.world.at(number), self.shown
        row = self.place.view.row_of(conversation.name)
        if here is None or here.request is not None or row is None:
            return
        self.go_to_box()
        for keys in (TAB, UP * len(self.place.view.rows), DOWN * (row - FIRST_ROW), ENTER):
            self.press(keys)
            time.sleep(PRESS)
        is_there = self.place.comes(lambda view: view.session == conversation.name, ATTENTION)
        if not is_there and self.now(here).request is not None:
            self.go_to_box()  # What the agent asked meanwhile took the keys, and did nothing.
        else:
            self.place.wait_for_session(conversation.name)

    def read_all(self) -> None:
        """Scroll up to the start of the conversation; all that was said comes by, in its order."""
        here = self.shown
        if here is None or here.status != "idle" or here.queued:
            return
        said = [
            mark
            for message in here.messages
            for block in message["content"]
            if block["type"] == "text"
            for mark in MARK.findall(block["text"])
        ]
        pages = [self.place.view.conversation]
        end = time.monotonic() + self.place.patience
        while missing := _first_missing(said, pages):
            if time.monotonic() > end:
                raise FoundError(f"scrolled to the start, and did not come by {missing} of {said}")
            self.press(PAGES[-1])
            self.place.scrolled.add(here.id)
            if page := self._next_page(pages[0]):
                pages.insert(0, page)
            else:  # It is the start: once more from the end, if a page was not seen.
                self.press(PAGES[1] * (len(pages) + 1))
                pages = [self._next_page(pages[0]) or pages[0]]

    def _next_page(self, before: str) -> str:
        """What is drawn in place of this page, once it stands; empty if nothing is."""
        if not self.place.comes(lambda view: view.conversation != before, READING):
            return ""
        page = self.place.view.conversation
        while self.place.comes(lambda view: view.conversation != page, CALM):  # noqa: B023
            page = self.place.view.conversation
        return page

    def scroll(self, pages: int) -> None:
        """Look at older messages, or come back."""
        if self.shown is not None:
            self.press(PAGES[1 if pages > 0 else -1] * abs(pages))
            self.place.scrolled.add(self.shown.id)

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        self.place.size = (columns, rows)
        self.place.terminal.resize(columns, rows)

    # Writing ------------------------------------------------------------------------------------

    def send(self, kind: str, burst: bool) -> None:
        """Give the demo agent something to do."""
        here = self.shown
        if here is None:
            return
        text = DIRECTIVES[kind].format(mark=self.place.ledger.mark())
        text = f"\n{text}" if self.boxes.get(here.id) else text
        self.write_in(here, text, burst, ENTER)
        self.await_sent(here)

    def write(self, words: str, burst: bool) -> None:
        """Write a sentence, and send nothing."""
        if self.shown is not None:
            self.write_in(self.shown, f"{words} {self.place.ledger.mark()}", burst)

    def submit(self, column: int | None = None) -> None:
        """Send what stands in the box; `column`: after a click on this character of it."""
        here = self.shown
        if here is not None and self.boxes.get(here.id):
            if column is None:
                self.go_to_box()
            else:
                self.click_into_box(column)
            self.press(ENTER)
            self.await_sent(here)

    # Sessions -----------------------------------------------------------------------------------

    def decide(self, number: int) -> None:
        """Decide what the open session asks, by the keys for it."""
        here = self.shown
        if here is None or here.request is None or self.boxes.get(here.id):
            return
        request = here.request
        outcomes = sorted(DECISIONS[request["kind"]].items())
        outcome, choice = outcomes[number % len(outcomes)]
        self.place.ledger.act(request["message_id"], outcome)
        self.go_to_box()
        end = time.monotonic() + self.place.patience
        while self.request_of(here) == request["id"]:
            if time.monotonic() > end:
                raise FoundError(f"it could not be chosen: {choice}")
            time.sleep(CALM)
            self.press(ENTER if self.place.view.chosen.startswith(choice) else DOWN)

    def watch(self) -> None:
        """Look on until the agent rests or asks something, if it does soon."""
        self.place.look_on(lambda: (here := self.shown) is None or here.status != "running")
        time.sleep(READING)

    def stop(self) -> None:
        """Press escape."""
        self.place.ledger.want(STOPPED)
        self.press(ESCAPE)
        time.sleep(0.3)  # Else it would be one key with what is typed next.

    def switch_mode(self) -> None:
        """Go to the next mode."""
        if self.shown is not None:
            self.place.ledger.want(MODE_CHANGED)
            self.press(MODE)

    def choose_mode(self, mode: str) -> None:
        """Go on to this mode."""
        here = self.shown
        if here is None or here.is_archived:
            return
        mode_of = lambda: self.place.world.conversations[here.id].session["execution_mode"]  # noqa: E731
        while (before := mode_of()) != mode:
            self.switch_mode()
            self.place.settle(lambda: "" if mode_of() != before else "the mode stays")

    def new_session(self) -> None:
        """Begin another session in the worktree."""
        before = set(self.place.world.conversations)
        if self.shown is None or len(before) >= MOST:
            return
        self.place.ledger.want("session-created")
        self.press(NEW_SESSION)
        self.name_what_is_new(before)

    def archive(self) -> None:
        """Archive the open session by its name in the palette."""
        here = self.shown
        if here is None or len(self.place.world.open) < 3 or here.status != "idle":
            return
        self.press(PALETTE)
        self.place.wait_for(lambda view: view.has_palette, "the palette")
        self.place.ledger.want("session-archived")
        self.press("Archive the session" + ENTER)
        self.place.wait_for(lambda view: "Archive the session" in view.over, "the question")
        self.press("y")
        conversations = lambda: self.place.world.conversations  # noqa: E731
        self.place.settle(lambda: "" if conversations()[here.id].is_archived else "not archived")
        self.place.wait_for(lambda view: not view.has_palette, "the end of the palette")

    def restore(self) -> None:
        """Bring a session back from the archive."""
        archived = [made for made in self.place.world.conversations.values() if made.is_archived]
        if not archived:
            return
        self.press(ARCHIVE)
        self.place.wait_for(lambda view: "Archive" in view.over, "the archive")
        self.press(archived[0].name + ENTER)
        self.place.wait_for_session(archived[0].name, at_end=False)

    def restart(self, how: str) -> None:
        """Kill the program, or quit by the key for it with or without its agents; start again."""
        here, project = self.shown, self.place.view.project
        self.place.settle(lambda: self.place.complain_of_lost(on_disk=how == "kill"))
        if how == "kill":
            if here is not None and self.place.was_opened:
                self.place.settle(
                    lambda: "" if self.place.keeps_open(here.id) else "it is not kept what is open"
                )
            self.place.program.kill()
        else:
            if how == "quit":
                for _ in self.place.world.conversations:
                    self.place.ledger.want(STOPPED)
            self.press(QUIT)
            if not self.place.wait_for_end_or(lambda view: "Quit Spinney" in view.over):
                time.sleep(READING)  # A key that came before the question was seen counts not.
                self.press("q" if how == "quit" else ENTER)
            if not self.place.wait_for_end_or(lambda _: False):
                raise FoundError("it does not quit")
        self.place.begin_again()
        # It is started in a folder of the first project, and opens no session of another.
        if here is not None and not here.is_archived and project == "alpha":
            self.place.wait_for(lambda view: view.session == here.name, f"{here.name}, as before")

    def elsewhere(self, do: str, number: int) -> None:
        """The second person does something to a session."""
        self.place.second.do(do, self.place.client, self.place.world, number)
