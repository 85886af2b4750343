"""A Spinney on a terminal with a second client beside it: begun, waited for, held to account."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.client.local_instance import find_endpoint
from tests.journeys.elsewhere import TREES
from tests.journeys.ledger import (
    COUNTED,
    MODE_CHANGED,
    STOPPED,
    Conversation,
    FoundError,
    Ledger,
    strings,
)
from tests.journeys.place import Place
from tests.journeys.screen import View
from tests.journeys.served import Client, command, prepare_repositories
from tests.journeys.terminal import Terminal
from tests.patience import PATIENCE
from tests.program import Program

FIRST_SIZE = (120, 40)
QUICK = 2.0
"""Seconds in which a session is open, and in which the program starts on a machine at rest."""


class TerminalPlace(Place):
    """Two repositories with sessions, the terminal, and the account of what both clients did."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(Ledger(counted=(*COUNTED, MODE_CHANGED, STOPPED)), patience)
        self.slow: list[tuple[str, float]] = []
        """Sessions that were opened, but not quickly, and the seconds that it took."""
        self.size = FIRST_SIZE
        self.scrolled: set[str] = set()
        """Sessions of which the end may be out of sight: each is shown again where it was left."""
        self.was_opened = False
        """Whether a session was opened since the program was started."""
        self.place = Path(tempfile.mkdtemp(prefix="journey-"))
        self.program = Program(self.place, command())
        self._repositories = prepare_repositories(self.program, tuple(TREES))
        began = time.monotonic()
        self._begin()
        # Where the start was not quick, nothing is.
        self.patience *= max(1.0, (time.monotonic() - began) / QUICK)
        self.second.fill(self.client, self._repositories)
        self.read()

    # Beginning and end --------------------------------------------------------------------------

    def _begin(self) -> None:
        columns, rows = self.size
        where = str(self._repositories[0])
        self.terminal = Terminal(self.program, "open", "--demo", where, columns=columns, rows=rows)
        self.client = Client(*self._find_door())
        self._observed = 0

    def _find_door(self) -> tuple[str, str]:
        directories = Directories(self.program.config, self.program.data, self.program.home)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return find_endpoint(directories)
            except SpinneyError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def begin_again(self) -> None:
        """Start the program once more, after it has ended."""
        self.ledger.observe(self.client.events[self._observed :])
        self.client.close()
        self.terminal.close()
        self._begin()
        self.read()
        self.scrolled |= set(self.world.conversations)
        self.was_opened = False
        self.wait_for(lambda view: any("alpha" in row for row in view.rows), "the tree")

    def close(self) -> None:
        """End everything, and remove what was made."""
        self.client.close()
        self.terminal.close()
        self.program.kill()
        shutil.rmtree(self.place, ignore_errors=True)

    # Looking ------------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """The screen as it is."""
        return View(self.terminal.rows)

    @property
    def shown(self) -> Conversation | None:
        """The session that is open."""
        return self.world.named(self.view.session)

    # Waiting ------------------------------------------------------------------------------------

    def pass_time(self) -> None:
        """Wait until something is drawn, or a moment."""
        if not self.terminal.is_alive:
            raise FoundError("the program on the terminal has ended")
        with self.terminal.drawn:
            self.terminal.drawn.wait(0.1)

    def wait_for(self, condition: Callable[[View], bool], what: str) -> None:
        """Wait until the screen shows it."""
        if not self.comes(condition, self.patience):
            raise FoundError(f"waited in vain for {what}")

    def comes(self, condition: Callable[[View], bool], seconds: float) -> bool:
        """Whether the screen shows it within this time."""
        return self.terminal.wait(lambda rows: condition(View(rows)), seconds)

    def wait_for_end_or(self, condition: Callable[[View], bool]) -> bool:
        """Wait until the screen shows this, or the program has ended; whether it has."""
        self.comes(condition, self.patience)
        return not self.terminal.is_alive

    def wait_for_session(self, name: str, *, at_end: bool = True) -> None:
        """Wait until the session of this name is shown, with its end or another part."""
        began = time.monotonic()
        self.wait_for(lambda view: view.session == name, f"the session {name}")
        if not at_end and self.shown is not None:
            self.scrolled.add(self.shown.id)
        self.was_opened = True
        self.settle(self.complain_of_the_conversation)
        if (took := time.monotonic() - began) > QUICK:
            self.slow.append((name, took))

    # What must hold -----------------------------------------------------------------------------

    def check(self) -> None:
        """Everything that must hold after each step."""
        if not self.terminal.is_alive:
            raise FoundError("the program on the terminal has ended")
        self.settle(
            lambda: (
                self.complain_of_the_screen()
                or self.complain_of_the_conversation()
                or self.complain_of_lost()
            )
        )
        log = self.program.data / "spinney.log"
        if log.exists() and "Traceback" in (text := log.read_text()):
            raise FoundError(f"a traceback in the log:\n{text[-3000:]}")

    def complain_of_the_screen(self) -> str:
        view = self.view
        if view.over:
            return f"boxes lie over the main screen: {view.over}"
        return f"something is drawn over the frame: {view.holes}" if view.holes else ""

    def complain_of_the_conversation(self) -> str:
        view, here = self.view, self.shown
        if not view.session:
            return ""
        if here is None:
            return f"“{view.session}” is shown, and no session has this name"
        own = here.marks | {mark for mark, ids in self.ledger.homes.items() if here.id in ids}
        if view.marks - own:
            return f"{sorted(view.marks - own)} are shown in {view.session}, and not its own"
        is_still = here.status != "running" and here.id not in self.scrolled
        if is_still and here.tail not in view.conversation:
            return f"the end of the conversation ({here.tail}) is not shown"
        return ""

    def complain_of_lost(self, *, on_disk: bool = False) -> str:
        drawn = [] if on_disk else [self.view.conversation]
        kept = [*self.drafts().values(), *self._read_texts("sent/*.jsonl")]
        lost = self.ledger.lost([*self.world.texts, *kept, *drawn])
        return f"typed and lost: {lost}" if lost else ""

    def drafts(self) -> dict[str, str]:
        """What stands in message boxes, by the session or worktree, as the disk has it."""
        return {entry["key"]: entry["text"] for entry in self._read_entries("drafts/*.json")}

    def _read_texts(self, pattern: str) -> list[str]:
        return [entry["text"] for entry in self._read_entries(pattern)]

    def _read_entries(self, pattern: str) -> list[dict[str, Any]]:
        entries = []
        for path in (self.program.data / "terminal").glob(pattern):
            try:
                entries += [json.loads(line) for line in path.read_text().splitlines()]
            except OSError:
                pass  # It was removed meanwhile.
        return entries

    def keeps_open(self, session_id: str) -> bool:
        """Whether the next start opens this session, however this one ends."""
        path = self.program.data / "screen.json"
        return path.exists() and json.loads(path.read_text())["session_id"] == session_id

    def draw_report(self) -> str:
        """The screen and what was said, for whoever looks into what was found."""
        said = [
            f"    {made.name}: {message['role']}: {' '.join(strings(message['content']))[:100]!r}"
            for made in self.world.conversations.values()
            for message in [*made.messages, *made.queued]
        ]
        kept = [f"    {key}: {text!r}" for key, text in self.drafts().items()]
        screen = "\n".join(row.rstrip() for row in self.terminal.rows)
        return "\n".join(["what was said:", *said, "drafts:", *kept, "the screen:", screen])
