"""A person who has an agent work: a command that runs, a fresh start, a setup that comes first."""

from typing import Any, Final

from tests.journeys.elsewhere import MOST
from tests.journeys.page_writing import WritingSteps
from tests.journeys.setup import hold, let_go
from tests.journeys.speech import DIRECTIVES, OVER, RUN, begun

WAITS: Final = "Waiting for setup"
FAILED: Final = "Setup failed"
"""What is said of a message that waits for the setup of its worktree."""


class WorkSteps(WritingSteps):
    """Steps that begin some work and look at what comes of it."""

    def run(self, is_loaded_anew: bool) -> None:
        """Have a command run, and read what it prints: while it runs, and afterwards."""
        here = self.shown
        if here is None or not self._is_free() or here.session["execution_mode"] == "plan":
            return
        mark = self.at.ledger.mark()
        go = self.at.program.place / mark
        if not self._type(RUN.format(mark=mark, go=go), burst=True):
            return
        self._submit()
        prints = lambda seen: begun(mark) in "".join(seen.live)  # noqa: E731
        self.at.wait_for(prints, "what the command prints")
        if is_loaded_anew:
            self.at.page.reload()
            self.at.wait_for(prints, "what the command has printed before")
        go.touch()
        status = lambda: self.at.world.conversations[here.id].status  # noqa: E731
        self.at.settle(lambda: "it runs on" if status() == "running" else "")
        self._press(self.at.page.locator(".message").last.locator("details.tool > summary").last)
        printed = begun(mark) + "\n" + OVER
        self.at.wait_for(lambda seen: printed in "".join(seen.results), "what it has printed")

    def clear(self) -> None:
        """Begin afresh by `/clear`: the session that was open stays as it is."""
        here = self.shown
        before = set(self.at.world.conversations)
        if here is None or not self._is_free() or len(before) >= MOST:
            return
        self.at.ledger.want("session-created")
        if not self._type("/clear", burst=True):
            return
        self._press(self.at.page.locator(".composer button.primary"))
        made = lambda: set(self.at.world.conversations) - before  # noqa: E731
        self.at.settle(lambda: "" if made() else "no session was made")
        (fresh,) = made()
        self.at.client.call("update_session", sessionId=fresh, name=self.at.second.name())
        self.at.wait_for_session(fresh)
        self.at.settle(lambda: self._complain_of_fresh(fresh, here.session))

    def _complain_of_fresh(self, fresh: str, old: dict[str, Any]) -> str:
        made, kept = (self.at.world.conversations[each] for each in (fresh, old["id"]))
        if made.messages or made.session["execution_mode"] != old["execution_mode"]:
            return f"it is no fresh session in the mode {old['execution_mode']}: {made}"
        is_kept = not kept.is_archived and kept.session["message_count"] >= old["message_count"]
        return "" if is_kept and not self.at.look().box else f"{kept.name} is not as it was"

    def begin_in_setup(self, end: str) -> None:
        """Begin in a worktree whose setup runs: it ends well, or not, or is not waited for."""
        if not self.at.is_online or len(self.at.world.conversations) >= MOST:
            return
        hold(self.at.program)
        fresh = self.at.second.begin(self.at.client, self.at.world)
        self.at.page.goto(f"/#/session/{fresh}")
        self.at.wait_for_session(fresh)
        if not self._type(DIRECTIVES["say"].format(mark=self.at.ledger.mark()), burst=True):
            return
        self._submit()
        self._wait_in_queue(WAITS)
        if end != "anyway":
            let_go(self.at.program, well=end == "well")
        if end == "failed":
            self._wait_in_queue(FAILED)
        if end != "well":
            self._press(self.at.page.get_by_role("button", name="Send anyway"))
        said = lambda: self.at.world.conversations[fresh].messages  # noqa: E731
        self.at.settle(lambda: "" if said() else "the message waits on")
        let_go(self.at.program)

    def _wait_in_queue(self, words: str) -> None:
        self.at.wait_for(lambda seen: words in "".join(seen.queue), f"“{words}”")

    def _is_free(self) -> bool:
        """Whether the open session rests, and nothing stands in its box."""
        here = self.shown
        if here is None or not self.at.is_online or not self._can_write() or here.queued:
            return False
        return here.status == "idle" and not self._box.input_value()
