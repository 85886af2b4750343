"""Steps on the terminal that review changes, or need a hosting service, which is not there."""

from pathlib import Path
from typing import Final

from tests.journeys.ledger import InvariantError
from tests.journeys.terminal_input import ENTER, KEY_PAUSE
from tests.journeys.terminal_landing import LandingSteps, has

OPEN_WORK, DIFF = "\x1b[20;2~", "\x07"
README: Final = "README.md"


class ReviewSteps(LandingSteps):
    """Steps with verdicts, reviews by an agent, comparisons, pull requests and open work."""

    def give_verdicts(self, is_rejected: bool) -> None:
        """Accept or reject the only hunk of a file in the diff, and take that back."""
        current = self.shown
        worktree = self._find_idle(current)
        if current is None or worktree is None:
            return
        self.branches.prepare(worktree)
        repositories, folder = self.harness.repositories, Path(worktree["path"])
        line = f"A line about {repositories.new_name()}."
        before = (folder / README).read_text()
        (folder / README).write_text(f"{before}{line}\n")
        self.focus_box()
        self.press(DIFF)
        self.harness.wait_for(lambda view: has(view, line), "the changed line in the diff")
        if is_rejected:
            reason = f"why {repositories.new_name()}"
            self.press("n")
            self._await_overlay(f"Reject a hunk of {README}")
            self.press(reason + ENTER)
            self._await_content(folder, before)
            verdicts = self.harness.client.call("get_review", worktreeId=worktree["id"])["verdicts"]
            if not any(verdict["reason"] == reason for verdict in verdicts):
                raise InvariantError(f"the reason {reason} is lost: {verdicts}")
        else:
            self.press("y")
            staged = lambda: repositories.git(folder, "diff", "--cached")  # noqa: E731
            self.harness.settle(lambda: "" if line in staged() else "it is not staged")
            self.harness.wait_for(lambda view: has(view, "All changes are staged"), "the verdict")
        self.press("Z")
        self._await_content(folder, f"{before}{line}\n")
        unstaged = lambda: repositories.git(folder, "diff")  # noqa: E731
        self.harness.settle(lambda: "" if line in unstaged() else "the verdict is not taken back")
        repositories.git(folder, "checkout", "--quiet", README)
        self._leave(current)

    def review_by_agent(self) -> None:
        """Have the agent review the worktree, which ends with findings or with a sentence."""
        current = self.shown
        worktree = self._find_idle(current)
        if current is None or worktree is None:
            return
        self.branches.prepare(worktree)
        self.focus_box()
        self.press(f"/code-review{ENTER}")
        call = self.harness.client.call

        def find_problem() -> str:
            review = call("get_code_review", worktreeId=worktree["id"])
            is_over = review["status"] in ("completed", "failed")
            is_said = review["status"] == "completed" or review["error"]
            return "" if is_over and is_said else f"the review: {review}"

        self.harness.settle(find_problem)

    def compare(self, number: int) -> None:
        """Compare the worktree with another one of its project, or with the base."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        other = self.branches.worktree_of(self.harness.world.nth(number))
        worktree = self.branches.worktree_of(current)
        is_other = other["project_id"] == worktree["project_id"] and other["id"] != worktree["id"]
        self.focus_box()
        self.press(f"/compare{ENTER}")
        self._await_overlay(f"Compare '{worktree['name']}' with")
        self.press(other["name"] if is_other and not other["archived_at"] else "main")
        self.harness.screen_shows(lambda view: False, KEY_PAUSE)
        self.press(ENTER)
        self.harness.wait_for(lambda view: "comparison" in view.rows[0], "the comparison")
        self.harness.wait_for(lambda view: not has(view, "Loading …"), "what differs")
        self._leave(current)

    def ask_for_hosting(self, what: str) -> None:
        """Ask for a pull request or for open work where no remote is: it says so."""
        current = self.shown
        if current is None or not self._is_free(current):
            return
        self.focus_box()
        if what == "work":
            self.press(OPEN_WORK)
            self.harness.wait_for(lambda view: "Open work" in view.rows[0], "open work")
            self.harness.wait_for(lambda view: has(view, "remote"), "that there is no remote")
        else:
            self.press(f"/pr{ENTER}")
            self.harness.wait_for(lambda view: has(view, "has no remote"), "the reason")
        self._leave(current)

    # Implementation -----------------------------------------------------------------------------

    def _await_content(self, folder: Path, text: str) -> None:
        self.harness.settle(
            lambda: "" if (folder / README).read_text() == text else f"{README} is another one"
        )
