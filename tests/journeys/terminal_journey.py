"""A person's way through Spinney on a terminal: steps by their names, and what holds after each.

A step takes plain values, so that a journey can be written down and walked again. One that is not
possible where it comes (nothing waits, nothing is open) does nothing.
"""

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from model.client.here import found_door
from model.errors import SpinneyError
from model.paths import Directories
from model.running import running_here, wait_for_end
from tests.journeys.ledger import MARK, Conversation, Ledger, World, strings
from tests.journeys.screen import View
from tests.journeys.served import Client, RefusedError, prepare_repositories
from tests.journeys.speech import DIRECTIVES
from tests.journeys.terminal import Terminal
from tests.patience import PATIENCE
from tests.program import Program

Step = tuple[str, dict[str, Any]]

ESCAPE, ENTER, NEW_LINE, UP, DOWN = "\x1b", "\r", "\n", "\x1b[A", "\x1b[B"
NEXT_WAITING, NEXT_TAB, PREVIOUS_TAB = "\x00", "\x1b[1;3C", "\x1b[1;3D"
MODE, SEARCH, PALETTE, QUIT, NEW_SESSION = "\x1b[Z", "\x06", "\x10", "\x11", "\x14"
PAGES = {-1: "\x1b[5~", 1: "\x1b[6~"}
DECISIONS: Final = {
    "plan": {"approved build": "b", "approved yolo": "yy"},
    "permission": {"allowed": "a", "denied": "d"},
    "question": {"answered red": "1", "answered blue": "2"},
}
"""The keys that decide, by the kind of request and by what becomes of it."""


class FoundError(AssertionError):
    """Something that must hold did not."""


class TerminalJourney:
    """One Spinney on a terminal, a second client, and the account of what both did."""

    def __init__(self, *, patience: float = PATIENCE) -> None:
        self.patience = patience
        self.steps: list[Step] = []
        self.slowest = 0.0
        """Seconds that the slowest change of session took to be drawn."""
        self.place = Path(tempfile.mkdtemp(prefix="journey-"))
        self.program = Program(self.place)
        self.ledger = Ledger()
        self.boxes: dict[str, str] = {}
        """What stands in the message box of each session."""
        self._is_scrolled = False
        self._names = 0
        self._observed = 0
        repositories = prepare_repositories(self.program, ("alpha", "beta"))
        self.size = (120, 40)
        self._begin()
        for repository, trees in zip(repositories, (("oak", "elm"), ("ash",)), strict=True):
            project = self.client.call("add_project", path=str(repository))
            for tree in trees:
                named = {"projectId": project["id"], "customName": tree}
                worktree = self.client.call("create_worktree", **named)
                for _ in range(2 if tree == "oak" else 1):
                    self._create_session(worktree["id"])
        self.world = World.read(self.client)

    # Steps --------------------------------------------------------------------------------------

    def perform(self, name: str, **values: Any) -> None:
        """Take a step, and see that all holds."""
        self.steps.append((name, values))
        try:
            getattr(self, name)(**values)
            self.check()
        except Exception as error:
            raise FoundError(f"{error}\n{self.report()}") from error

    def click_row(self, number: int) -> None:
        """Open a session by a click on its row of the tree."""
        name = self._session_at(number).session["name"]
        row = self.view.row_of(name)
        if row is not None:
            for end in "Mm":
                self.terminal.write(f"\x1b[<0;12;{row}{end}")
            self._await_session(name)

    def step_tab(self, step: int) -> None:
        """Go to the next or previous session of the worktree."""
        here = self.shown
        if here is None:
            return
        beside = [
            made
            for made in self.world.conversations.values()
            if made.session["worktree_id"] == here.session["worktree_id"] and not made.is_archived
        ]
        beside.sort(key=lambda made: made.session["order"])
        wanted = beside[(beside.index(here) + step) % len(beside)]
        self.terminal.write(NEXT_TAB if step > 0 else PREVIOUS_TAB)
        self._await_session(wanted.session["name"])

    def next_waiting(self, words: str = "") -> None:
        """Go to a session that needs somebody, and write on in the same burst."""
        here = self.shown
        if here is None:
            self.terminal.write(NEXT_WAITING)
            return
        text = f"{words} {self.ledger.mark()}" if words else ""
        homes = [made.session["id"] for made in self._open_sessions]
        self.ledger.type(text, *homes)
        self.terminal.write(NEXT_WAITING + text)
        self._is_scrolled = False
        if text:
            self._settle(self._complaint_of_lost)
            self._find_box(text)

    def search(self, number: int) -> None:
        """Open a session by a hit of the search."""
        conversation = self._session_at(number)
        marks = sorted(MARK.findall(" ".join(strings(conversation.messages))))
        if not marks or conversation.is_archived:
            return
        self.terminal.write(SEARCH)
        self._await_box("Search")
        self.terminal.write(marks[0])
        self._await(lambda view: "found in" in "\n".join(view.rows), "the search finds")
        self.terminal.write(ENTER)
        self._await_session(conversation.session["name"])
        self._is_scrolled = True

    def send(self, kind: str, burst: bool) -> None:
        """Give the demo agent something to do."""
        here = self.shown
        if here is None:
            return
        text = DIRECTIVES[kind].format(mark=self.ledger.mark())
        before = self.boxes.get(here.session["id"], "")
        self._type(here, ("\n" if before else "") + text, burst, ENTER if burst else "")
        if not burst:
            self.terminal.write(ENTER)
        self._sent(here)

    def write(self, words: str, burst: bool) -> None:
        """Write a sentence, and send nothing."""
        if self.shown is not None:
            self._type(self.shown, f"{words} {self.ledger.mark()}", burst)

    def submit(self) -> None:
        """Send what stands in the box."""
        here = self.shown
        if here is not None and self.boxes.get(here.session["id"]):
            self.terminal.write(ENTER)
            self._sent(here)

    def decide(self, number: int) -> None:
        """Decide what the open session asks, by the keys for it."""
        here = self.shown
        if here is None or here.request is None or self.boxes.get(here.session["id"]):
            return
        request = here.request
        outcomes = sorted(DECISIONS[request["kind"]].items())
        outcome, keys = outcomes[number % len(outcomes)]
        self.ledger.act(request["message_id"], outcome)
        end = time.monotonic() + self.patience
        while self._requests().get(here.session["id"]) == request["id"]:
            if time.monotonic() > end:
                raise FoundError(f"{keys} did not decide: {outcome}")
            for key in keys:
                self.terminal.write(key)
            time.sleep(1.0)  # A request that has just come takes no keys yet.

    def stop(self) -> None:
        """Press escape."""
        self._escape()

    def switch_mode(self) -> None:
        """Go to the next mode."""
        if self.shown is not None:
            self.terminal.write(MODE)

    def scroll(self, pages: int) -> None:
        """Look at older messages, or come back."""
        if self.shown is not None:
            self.terminal.write(PAGES[1 if pages > 0 else -1] * abs(pages))
            self._is_scrolled = True

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller."""
        self.size = (columns, rows)
        self.terminal.resize(columns, rows)
        self._is_scrolled = True

    def new_session(self) -> None:
        """Begin another session in the worktree."""
        here = self.shown
        if here is None or len(self._open_sessions) > 7:
            return
        before = set(self.world.conversations)
        self.terminal.write(NEW_SESSION)
        made: list[str] = []

        def complaint() -> str:
            made[:] = set(self.world.conversations) - before
            return "" if made else "no session was made"

        self._settle(complaint)
        if len(made) > 1:
            raise FoundError(f"one key made {len(made)} sessions")
        name = self._name()
        self.client.call("update_session", sessionId=made[0], name=name, executionMode="build")
        self._await_session(name)

    def archive(self) -> None:
        """Archive the open session by its name in the palette."""
        here = self.shown
        if here is None or len(self._open_sessions) < 3 or here.session["status"] != "idle":
            return
        self.terminal.write(PALETTE)
        self._await(lambda view: "Search for commands" in "\n".join(view.rows), "a palette")
        self.terminal.write("Archive the session" + ENTER)
        self._settle(
            lambda: (
                "" if self.world.conversations[here.session["id"]].is_archived else "not archived"
            )
        )

    def quit(self, interrupt: bool) -> None:
        """Leave by the key for it, agents running or not, and come back."""
        self._settle(self._complaint_of_lost)
        self.terminal.write(QUIT)
        self._await(lambda view: "Quit Spinney" in view.over, "the question or the end", ends=True)
        if self.terminal.is_alive:
            self.terminal.write("q" if interrupt else ENTER)
        self._await(lambda _: False, "the end", ends=True)
        self._begin_again()

    def kill(self) -> None:
        """Kill the program, and start it again."""
        self._settle(self._complaint_of_lost_on_disk)
        running = running_here(self.program.data / "spinney.lock")
        if running is not None:
            os.kill(running.pid, signal.SIGKILL)
            wait_for_end(self.program.data / "spinney.lock", running.pid, PATIENCE)
        self._begin_again()

    def elsewhere(self, do: str, number: int) -> None:
        """The second client does something to a session."""
        conversation = self._session_at(number)
        try:
            getattr(self, f"_{do}_elsewhere")(
                conversation, {"sessionId": conversation.session["id"]}
            )
        except RefusedError:
            pass  # The server may refuse what is not possible now.

    # What the second client does ----------------------------------------------------------------

    def _send_elsewhere(self, conversation: Conversation, named: dict[str, Any]) -> None:
        kind = list(DIRECTIVES)[len(self.steps) % len(DIRECTIVES)]
        text = DIRECTIVES[kind].format(mark=self.ledger.mark())
        self.ledger.send(text, conversation.session["id"])
        self.client.call("send_chat_message", **named, message=text)

    def _stop_elsewhere(self, _: Conversation, named: dict[str, Any]) -> None:
        self.client.call("stop_generation", **named)

    def _decide_elsewhere(self, conversation: Conversation, named: dict[str, Any]) -> None:
        request = conversation.request
        match request:
            case {"kind": "plan"}:
                self.ledger.act(request["message_id"], "approved build")
                self.client.call("approve_plan", **named, mode="build")
            case {"kind": "question"}:
                self.ledger.act(request["message_id"], "answered blue")
                self.client.call("answer_question", **named, answer="blue")
            case {"kind": "permission"}:
                self.ledger.act(request["message_id"], "denied")
                answer = {"requestId": request["id"], "decision": "deny"}
                self.client.call("answer_permission", **named, **answer)

    def _archive_elsewhere(self, conversation: Conversation, named: dict[str, Any]) -> None:
        if conversation.is_archived:
            self.client.call("unarchive_session", **named)
        elif len(self._open_sessions) > 2:
            self.client.call("archive_session", **named)

    def _rename_elsewhere(self, _: Conversation, named: dict[str, Any]) -> None:
        self.client.call("update_session", **named, name=self._name())

    # What must hold -----------------------------------------------------------------------------

    def check(self) -> None:
        """Everything that must hold after each step."""
        if not self.terminal.is_alive:
            raise FoundError("the terminal's program has ended")
        self._settle(
            lambda: (
                self._complaint_of_the_screen()
                or self._complaint_of_the_conversation()
                or self._complaint_of_lost()
            )
        )
        self._observe()
        for complaint in self.ledger.complaints(self.world):
            raise FoundError(complaint)
        log = self.program.data / "spinney.log"
        if log.exists() and "Traceback" in (text := log.read_text()):
            raise FoundError(f"a traceback in the log:\n{text[-3000:]}")

    def _complaint_of_the_screen(self) -> str:
        view = self.view
        if view.over:
            return f"boxes lie over the main screen: {view.over}"
        return f"something is drawn over the frame: {view.holes}" if view.holes else ""

    def _complaint_of_the_conversation(self) -> str:
        view, here = self.view, self.shown
        if not view.session:
            return ""
        if here is None:
            return f"“{view.session}” is shown, and no session has this name"
        session_id = here.session["id"]
        own = here.marks | {mark for mark, ids in self.ledger.homes.items() if session_id in ids}
        if view.marks - own:
            return f"{sorted(view.marks - own)} are shown in {view.session}, and not its own"
        is_still = here.session["status"] != "running" and not self._is_scrolled
        if is_still and here.tail not in view.conversation:
            return f"the end of the conversation ({here.tail}) is not shown"
        return ""

    def _complaint_of_lost(self) -> str:
        lost = self.ledger.lost([*self.world.texts, *self._kept_texts(), *self._drawn_texts()])
        return f"typed and lost: {lost}" if lost else ""

    def _complaint_of_lost_on_disk(self) -> str:
        lost = self.ledger.lost([*self.world.texts, *self._kept_texts()])
        return f"typed and not on the disk: {lost}" if lost else ""

    def _drawn_texts(self) -> list[str]:
        return ["".join(row.strip(" │") for row in self.view.conversation.splitlines())]

    def _kept_texts(self) -> list[str]:
        folder = self.program.data / "terminal"
        texts = []
        for path in [*folder.glob("drafts/*.json"), *folder.glob("sent/*.jsonl")]:
            try:
                texts += [json.loads(line)["text"] for line in path.read_text().splitlines()]
            except OSError:
                pass  # It was removed meanwhile.
        return texts

    # Waiting ------------------------------------------------------------------------------------

    def _settle(self, complaint: Callable[[], str]) -> None:
        """Wait until there is nothing to complain of."""
        end = time.monotonic() + self.patience
        self.world = World.read(self.client)
        while found := complaint():
            if time.monotonic() > end or not self.terminal.is_alive:
                raise FoundError(found)
            with self.terminal.drawn:
                self.terminal.drawn.wait(0.1)
            self.world = World.read(self.client)

    def _await(self, condition: Callable[[View], bool], what: str, *, ends: bool = False) -> None:
        came = self.terminal.wait(lambda rows: condition(View(rows)), self.patience)
        if not came and not (ends and not self.terminal.is_alive):
            raise FoundError(f"waited in vain for {what}")

    def _await_session(self, name: str) -> None:
        began = time.monotonic()
        self._await(lambda view: view.session == name, f"the session {name}")
        self._is_scrolled = False
        self._settle(self._complaint_of_the_conversation)
        self.slowest = max(self.slowest, time.monotonic() - began)

    def _await_box(self, title: str) -> None:
        self._await(lambda view: title in view.over, f"the box {title}")

    # Typing -------------------------------------------------------------------------------------

    def _type(self, here: Conversation, text: str, burst: bool, after: str = "") -> None:
        session_id = here.session["id"]
        before = self.boxes.get(session_id, "")
        self.ledger.type(text.strip(), session_id)
        self.boxes[session_id] = before + text
        if burst:
            self.terminal.write(text + after)
            return
        for character in text:
            self.terminal.write(character)
            time.sleep(0.02)

    def _sent(self, here: Conversation) -> None:
        session_id = here.session["id"]
        self.ledger.send(self.boxes.pop(session_id), session_id)
        self._is_scrolled = False
        text = self.ledger.words[session_id][-1]

        def complaint() -> str:
            found = "".join("".join(self.world.texts).split())
            return "" if "".join(text.split()) in found else f"not sent: {text}"

        self._settle(complaint)

    def _find_box(self, text: str) -> None:
        """Note in which session's box a burst came to stand behind a change of session."""
        here = self.shown
        if here is not None:
            session_id = here.session["id"]
            self.boxes[session_id] = self.boxes.get(session_id, "") + text

    def _escape(self) -> None:
        self.terminal.write(ESCAPE)
        time.sleep(0.3)  # Else it would be one key with what is typed next.

    # Places -------------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        return View(self.terminal.rows)

    @property
    def shown(self) -> Conversation | None:
        """The session that is open."""
        return self.world.named(self.view.session)

    @property
    def _open_sessions(self) -> list[Conversation]:
        return [made for made in self.world.conversations.values() if not made.is_archived]

    def _session_at(self, number: int) -> Conversation:
        made = sorted(
            self.world.conversations.values(), key=lambda made: made.session["created_at"]
        )
        return made[number % len(made)]

    def _requests(self) -> dict[str, str]:
        self.world = World.read(self.client)
        waiting = self.world.conversations.items()
        return {key: made.request["id"] for key, made in waiting if made.request is not None}

    def _name(self) -> str:
        self._names += 1
        return f"name{self._names}"

    def _create_session(self, worktree_id: str) -> None:
        mode = ("build", "plan")[self._names % 2]
        made = {"worktreeId": worktree_id, "name": self._name(), "executionMode": mode}
        self.client.call("create_session", **made)

    def _observe(self) -> None:
        events = self.client.events[self._observed :]
        self._observed += len(events)
        self.ledger.observe(events)

    # Beginning and end --------------------------------------------------------------------------

    def _begin(self) -> None:
        columns, rows = self.size
        where = str(self.place / "alpha")
        self.terminal = Terminal(self.program, "open", "--demo", where, columns=columns, rows=rows)
        self.client = Client(*self._door())
        self._observed = 0

    def _begin_again(self) -> None:
        self.client.close()
        self._observe()
        self.terminal.close()
        self._begin()
        self.world = World.read(self.client)
        self._is_scrolled = True
        self._await(lambda view: any("alpha" in row for row in view.rows), "the tree")

    def _door(self) -> tuple[str, str]:
        directories = Directories(self.program.config, self.program.data, self.program.home)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return found_door(directories)
            except SpinneyError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def report(self) -> str:
        """What a person needs to see what went wrong."""
        steps = "\n".join(f"    {json.dumps(step)}" for step in self.steps)
        screen = "\n".join(row.rstrip() for row in self.terminal.rows)
        return f"after {len(self.steps)} steps:\n{steps}\nthe screen:\n{screen}"

    def close(self) -> None:
        """End everything, and remove what was made."""
        self.client.close()
        self.terminal.close()
        self.program.kill()
        shutil.rmtree(self.place, ignore_errors=True)
