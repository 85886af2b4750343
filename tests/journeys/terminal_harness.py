"""Test harness for the terminal: the program in an emulator, a second client and a guest."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.client.endpoint import find_endpoint
from tests.journeys.client import Client, create_repositories, program_command
from tests.journeys.guest import Guest
from tests.journeys.harness import Harness
from tests.journeys.ledger import (
    COUNTED,
    MODE_CHANGED,
    STOPPED,
    Conversation,
    InvariantError,
    Ledger,
    strings,
)
from tests.journeys.repositories import Repositories
from tests.journeys.screen import View
from tests.journeys.second_client import WORKTREES
from tests.journeys.terminal import Terminal
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.program import Program

FIRST_SIZE = (120, 40)
QUICK_SECONDS = 2.0
"""Seconds in which a session opens and the program starts on an idle machine."""


class TerminalHarness(Harness):
    """Two repositories with sessions, the program in a terminal, a second client and a guest."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(Ledger(counted=(*COUNTED, MODE_CHANGED, STOPPED)), patience)
        self.slow: list[tuple[str, float]] = []
        """Names of sessions that opened slowly, and the seconds that it took."""
        self.size = FIRST_SIZE
        self.scrolled: set[str] = set()
        """Sessions that may not be scrolled to the end; each keeps its scroll position."""
        self.session_was_opened = False
        """Whether a session was opened since the program started."""
        self.directory = Path(tempfile.mkdtemp(prefix="journey-"))
        self.program = Program(self.directory, program_command())
        self._paths = create_repositories(self.program, tuple(WORKTREES))
        self.repositories = Repositories(self.program, self._paths)
        self._serve_guests()
        began = time.monotonic()
        self._start()
        # If the start was slow, everything is.
        self.patience *= max(1.0, (time.monotonic() - began) / QUICK_SECONDS)
        self.second.create_sessions(self.client, self._paths)
        self.guest = Guest(self.client, self._find_server())
        self.refresh()

    # Start and end ------------------------------------------------------------------------------

    def _start(self) -> None:
        columns, rows = self.size
        where = str(self._paths[0])
        self.terminal = Terminal(self.program, "open", "--demo", where, columns=columns, rows=rows)
        self.client = Client(*self._find_endpoint())
        self._observed = 0

    def _find_endpoint(self) -> tuple[str, str]:
        directories = Directories(self.program.config, self.program.data, self.program.home)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return find_endpoint(directories)
            except SpinneyError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def _serve_guests(self) -> None:
        """Have the program start its public server: a guest does not use the local endpoint."""
        wanted = {"http_server_auto_start": True, "http_server_port": find_free_port()}
        self.program.config.mkdir(exist_ok=True)
        (self.program.config / "preferences.json").write_text(json.dumps(wanted))

    def _find_server(self) -> str:
        """Wait until the public server runs; return its address."""
        end = time.monotonic() + PATIENCE
        while not (status := self.client.call("get_http_server_status"))["running"]:
            if time.monotonic() > end:
                raise InvariantError("the server does not start")
            time.sleep(0.05)
        return f"http://127.0.0.1:{status['port']}"

    def restart(self) -> None:
        """Start the program again after it has exited."""
        self.ledger.record_events(self.client.events[self._observed :])
        self.client.close()
        self.guest.client.close()
        self.terminal.close()
        self._start()
        self._find_server()
        self.guest.connect(self.client)
        self.refresh()
        self.scrolled |= set(self.world.conversations)
        self.session_was_opened = False
        self.wait_for(lambda view: any("alpha" in row for row in view.rows), "the tree")

    def close(self) -> None:
        """Stop all processes and remove the directory."""
        self.client.close()
        self.guest.client.close()
        self.terminal.close()
        self.program.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    # Reading ------------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """The current screen."""
        return View(self.terminal.rows)

    @property
    def shown(self) -> Conversation | None:
        """The open session."""
        return self.world.find_by_name(self.view.session)

    # Waiting ------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Wait until something is drawn, for a moment at most."""
        if not self.terminal.is_alive:
            raise InvariantError("the program in the terminal has exited")
        with self.terminal.drawn:
            self.terminal.drawn.wait(0.1)

    def wait_for(self, condition: Callable[[View], bool], what: str) -> None:
        """Wait until the screen satisfies the condition; `what` describes it in the error."""
        if not self.screen_shows(condition, self.patience):
            raise InvariantError(f"timed out waiting for {what}")

    def screen_shows(self, condition: Callable[[View], bool], seconds: float) -> bool:
        """Wait at most `seconds` for the condition. Return whether the screen satisfies it."""
        return self.terminal.wait(lambda rows: condition(View(rows)), seconds)

    def wait_for_exit_or(self, condition: Callable[[View], bool]) -> bool:
        """Wait for the condition or the program's exit. Return whether the program has exited."""
        self.screen_shows(condition, self.patience)
        return not self.terminal.is_alive

    def wait_for_session(self, name: str, *, at_end: bool = True) -> None:
        """Wait until this session is shown; unless `at_end`, any part of it may be in view."""
        began = time.monotonic()
        self.wait_for(lambda view: view.session == name, f"the session {name}")
        if not at_end and self.shown is not None:
            self.scrolled.add(self.shown.id)
        self.session_was_opened = True
        self.settle(self.check_conversation)
        if (took := time.monotonic() - began) > QUICK_SECONDS:
            self.slow.append((name, took))

    # Invariants ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Check all invariants after a step."""
        if not self.terminal.is_alive:
            raise InvariantError("the program in the terminal has exited")
        self.settle(
            lambda: (
                self.check_screen()
                or self.check_conversation()
                or self.check_lost_texts()
                or self.repositories.find_problem()
                or self.find_wrong_usage()
            )
        )
        log = self.program.data / "spinney.log"
        if log.exists() and "Traceback" in (text := log.read_text()):
            raise InvariantError(f"a traceback in the log:\n{text[-3000:]}")

    def check_screen(self) -> str:
        view = self.view
        if view.overlays:
            return f"boxes cover the main screen: {view.overlays}"
        return f"the frame is overdrawn: {view.broken_rows}" if view.broken_rows else ""

    def check_conversation(self) -> str:
        view, current = self.view, self.shown
        if not view.session:
            return ""
        if current is None:
            return f"“{view.session}” is shown, but no session has this name"
        own = current.marks | {
            mark for mark, ids in self.ledger.allowed_sessions.items() if current.id in ids
        }
        if view.marks - own:
            return f"{sorted(view.marks - own)} are shown in {view.session} and belong to others"
        is_still = current.status != "running" and current.id not in self.scrolled
        if is_still and current.last_word not in view.conversation:
            return f"the end of the conversation ({current.last_word}) is not shown"
        return ""

    def check_lost_texts(self, *, on_disk: bool = False) -> str:
        drawn = [] if on_disk else [self.view.conversation]
        kept = [*self.read_drafts().values(), *self._read_texts("sent/*.jsonl")]
        lost = self.ledger.find_lost([*self.world.texts, *kept, *drawn])
        return f"typed and lost: {lost}" if lost else ""

    def read_drafts(self) -> dict[str, str]:
        """The saved drafts by session or worktree id."""
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

    def is_saved_as_open(self, session_id: str) -> bool:
        """Whether this session is saved as the one to open at the next start."""
        path = self.program.data / "screen.json"
        return path.exists() and json.loads(path.read_text())["session_id"] == session_id

    def describe_state(self) -> str:
        """Describe the messages, drafts and screen for a failure report."""
        messages = [
            f"    {each.name}: {message['role']}: {' '.join(strings(message['content']))[:100]!r}"
            for each in self.world.conversations.values()
            for message in [*each.messages, *each.queued]
        ]
        kept = [f"    {key}: {text!r}" for key, text in self.read_drafts().items()]
        screen = "\n".join(row.rstrip() for row in self.terminal.rows)
        return "\n".join(["messages:", *messages, "drafts:", *kept, "screen:", screen])
