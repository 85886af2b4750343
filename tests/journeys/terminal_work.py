"""A person who has an agent work: a command that runs, a fresh start, a setup that comes first."""

import time
from typing import Final

from tests.journeys.elsewhere import MOST
from tests.journeys.ledger import Conversation
from tests.journeys.setup import hold, let_go
from tests.journeys.speech import DIRECTIVES, OVER, RUN, begun
from tests.journeys.terminal_hand import ENTER, ESCAPE, PALETTE, READING
from tests.journeys.terminal_queue import QueueSteps

WAITS: Final = "waiting for setup"
FAILED: Final = "setup failed, enter sends anyway"
"""What is said of a message that waits for the setup of its worktree."""


class WorkSteps(QueueSteps):
    """Steps that begin some work and look at what comes of it."""

    def run(self) -> None:
        """Have a command run, and read what it prints, while it runs."""
        here = self.shown
        if here is None or not self._is_free(here) or here.session["execution_mode"] == "plan":
            return
        mark = self.place.ledger.mark()
        go = self.place.program.place / mark
        self.go_to_box()
        self.write_in(here, RUN.format(mark=mark, go=go), True, ENTER)
        self.await_sent(here)
        prints = lambda view: begun(mark) in view.conversation  # noqa: E731
        self.place.wait_for(prints, "what the command prints")
        go.touch()
        self.place.settle(lambda: "it runs on" if self._status(here) == "running" else "")
        is_told = lambda view: not prints(view) or OVER in view.conversation  # noqa: E731
        self.place.wait_for(is_told, "the end of what the command prints")

    def clear(self) -> None:
        """Begin afresh by `/clear`: the session that was open stays as it is."""
        here, before = self.shown, set(self.place.world.conversations)
        if here is None or not self._is_free(here) or len(before) >= MOST:
            return
        self.place.ledger.want("session-created")
        self.go_to_box()
        self.press("/clear" + ENTER)
        name = self.name_what_is_new(before)
        made = self.place.world.named(name)
        kept = self.place.world.conversations[here.id]
        assert made is not None and not made.messages
        assert made.session["execution_mode"] == here.session["execution_mode"]
        assert not kept.is_archived and len(kept.messages) >= len(here.messages)

    def name_what_is_new(self, before: set[str]) -> str:
        """Wait for the session that a key has begun, and give it a name of its own."""
        made = lambda: set(self.place.world.conversations) - before  # noqa: E731
        self.place.settle(lambda: "" if made() else "no session was made")
        name = self.place.second.name()
        self.place.client.call("update_session", sessionId=made().pop(), name=name)
        self.place.wait_for_session(name)
        return name

    def begin_in_setup(self, end: str) -> None:
        """Begin in a worktree whose setup runs: it ends well, or not, or is stopped."""
        if len(self.place.world.conversations) >= MOST:
            return
        hold(self.place.program)
        fresh = self.place.second.begin(self.place.client, self.place.world)
        self.place.read()
        here = self.place.world.conversations[fresh]
        self.open_by_name(here)
        self.write_in(here, DIRECTIVES["say"].format(mark=self.place.ledger.mark()), True, ENTER)
        self.await_sent(here)
        self._wait_for(WAITS)
        if end == "stopped":
            self.press(ESCAPE)
        else:
            let_go(self.place.program, well=end == "well")
        if end != "well":
            self._wait_for(FAILED)
            time.sleep(READING)
            self.press(ENTER)
        self.place.settle(lambda: "" if self._said(fresh) else "the message waits on")
        let_go(self.place.program)

    def open_by_name(self, conversation: Conversation) -> None:
        """Open a session by its name on the screen with all of them."""
        self.press(PALETTE)
        self.place.wait_for(lambda view: view.has_palette, "the palette")
        self.press("All sessions (canvas)" + ENTER)
        self.place.wait_for(lambda view: view.is_canvas, "all sessions")
        self.press(conversation.name + ENTER)
        self.place.wait_for_session(conversation.name)

    def _wait_for(self, words: str) -> None:
        self.place.wait_for(lambda view: words in "\n".join(view.rows), f"“{words}”")

    def _said(self, session_id: str) -> bool:
        return bool(self.place.world.conversations[session_id].messages)

    def _status(self, here: Conversation) -> str:
        return self.place.world.conversations[here.id].status

    def _is_free(self, here: Conversation) -> bool:
        """Whether the open session rests, and nothing stands in its box."""
        is_written = self.boxes.get(here.id) or self.place.drafts().get(here.id)
        return here.status == "idle" and not here.queued and not here.is_archived and not is_written
