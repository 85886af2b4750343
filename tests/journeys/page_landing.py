"""Steps on the page that bring branches into the base: landing desk, landing, train, sweep."""

from typing import Any, Final

from playwright.sync_api import Locator

from tests.journeys.branch_work import BranchWork
from tests.journeys.ledger import InvariantError
from tests.journeys.page_turns import TurnSteps
from tests.journeys.setup import block_script, finish_script
from tests.patience import PATIENCE

PLACES: Final = ("landing", "sweep", "pull-request")
"""The views that are only looked at; the first word of their addresses."""
DOUBLE: Final = 30
"""Milliseconds between two presses of a double press."""


class LandingSteps(TurnSteps):
    """Steps from finished worktrees to the base branch."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self._branches: BranchWork | None = None

    @property
    def branches(self) -> BranchWork:
        """Prepares branches; there once the page is open."""
        if self._branches is None:
            self._branches = BranchWork(self.harness)
        return self._branches

    def look_at_landing(self, place: str, number: int) -> None:
        """Open one of the `PLACES`."""
        if not self.harness.is_online:
            return
        worktree = self.branches.worktree_of(self.harness.world.nth(number))
        name = {"landing": worktree["project_id"], "pull-request": worktree["id"]}.get(place, "")
        self.harness.page.goto(f"/#/{place}/{name}".rstrip("/"))
        self._wait_for("no longer loading", lambda: "Loading …" not in self._view.inner_text())

    def land(self, outcome: str, method: str, number: int, clashes: bool) -> None:
        """Land the worktree of a session, with one of several outcomes.

        cancel: the message that was typed stays. keep, twice, undo: it lands once, and is taken
        back. race: the base moves meanwhile. dirty: the project's checkout is changed. red: the
        check has failed.
        """
        worktree = self._find_idle(number)
        if worktree is None:
            return
        project, repositories = self.branches.project_of(worktree), self.harness.repositories
        self.branches.set_method(worktree, method)
        self.branches.prepare(worktree, clashes=clashes)
        self.branches.check(worktree, succeeds=outcome != "red")
        if outcome == "dirty":
            repositories.change_checkout(project)
        tip = repositories.tip(project)
        form = self._open_form(worktree)
        if outcome in ("dirty", "red") or self.branches.preview(worktree)["problem"]:
            self._wait_for("the refusal", self._named(form, "Land on main").is_disabled)
            if repositories.tip(project) != tip:
                raise InvariantError(f"it landed in {project}, and nobody confirmed that")
        elif outcome == "cancel":
            self._keep_message(worktree, form, method)
        else:
            self._confirm(project, form, outcome)
        self._close_dialog()
        if outcome == "dirty":
            repositories.clean_checkout(project)
        finish_script(self.harness.program, "check")

    def take_landing_back(self, number: int) -> None:
        """Take the newest landing back on the landing desk, after its question."""
        if not self.harness.is_online:
            return
        worktree = self.branches.worktree_of(self.harness.world.nth(number))
        project, repositories = self.branches.project_of(worktree), self.harness.repositories
        if self.branches.desk(worktree)["can_undo"] is None:
            return
        self.harness.page.goto(f"/#/landing/{worktree['project_id']}")
        self._press(self._named(self._view, "Undo the last landing"))
        before = repositories.tip(project)
        repositories.expect_moves(project)
        self._press(self._named(self._dialog, "Undo the landing"))
        self._wait_for("the undo", lambda: repositories.tip(project) != before)

    def ride_train(self, ending: str, number: int) -> None:
        """Put a train together and follow it: stop, land, discard it, or reload while it runs."""
        worktree = self._find_idle(number)
        other = self.branches.add_worktree(worktree["project_id"]) if worktree else None
        if worktree is None or other is None:
            return
        self.branches.prepare(worktree)
        block_script(self.harness.program, "check")
        self.harness.page.goto(f"/#/landing/{worktree['project_id']}")
        for each in (worktree, other):
            self._press(self.harness.page.get_by_label(f"Select {each['name']}", exact=True))
        self._press(self._named(self._view, "Land as a train…"))
        self._press(self._named(self._dialog, "Start"))
        train = self.harness.page.get_by_role("region", name="Train")
        self._wait_for("the train", self._named(train, "Stop").is_visible)
        if ending == "reload":
            self.harness.page.reload()
            self._wait_for("the train again", self._named(train, "Stop").is_visible)
        if ending == "stop":
            self._press(self._named(train, "Stop"))
        finish_script(self.harness.program, "check", succeeds=ending != "red")
        self._wait_for("the end of the train", self._named(train, "Run again").is_visible)
        if ending == "land" and train.get_by_role("button", name="Land all …").is_visible():
            project = self.branches.project_of(worktree)
            before = self.harness.repositories.tip(project)
            self._press(self._named(train, "Land all …"))
            self.harness.repositories.expect_moves(project)
            self._press(self._named(self._dialog, "Land"))
            self._wait_for("the landing", lambda: self.harness.repositories.tip(project) != before)
            self._wait_for("its end", self._named(train, "Close").is_visible)
        else:
            self._press(self._named(train, "Discard"))
            self.harness.pause()
            self._press_if_present(self._named(self._dialog, "Discard"))
            self._wait_for("the end of the train", train.is_hidden)
        finish_script(self.harness.program, "check")

    def sweep(self, ending: str, number: int) -> None:
        """Select a worktree without sessions on the sweep, and archive it, or do not."""
        worktree = self._find_idle(number)
        other = self.branches.add_worktree(worktree["project_id"]) if worktree else None
        if other is None:
            return
        self.harness.page.goto("/#/sweep")
        selected = self.harness.page.get_by_label(f"Select {other['name']}", exact=True)
        self._press(selected)
        self._press(self._named(self._view, "Archive…"))
        read = lambda: self.harness.client.call("get_worktree", worktreeId=other["id"])  # noqa: E731
        if ending == "archive":
            self.harness.ledger.expect("worktree:archived")
            self._dialog.get_by_role("checkbox").first.check()  # it has a commit of its own
            self._press(self._named(self._dialog, "Archive"))
            self._wait_for("the archive", lambda: read()["archived_at"] is not None)
        else:
            self._press(self._named(self._dialog, "Cancel"))
            assert read()["archived_at"] is None
            self._press(selected)  # it stays selected, and the next sweep would archive it, too
        self._close_dialog()

    def branches_elsewhere(self, action: str, number: int) -> None:
        """Have the second client, or a person in a shell, do something to a branch."""
        self.branches.perform(action, self.harness.world.nth(number))

    # Implementation -----------------------------------------------------------------------------

    @property
    def _view(self) -> Locator:
        return self.harness.page.locator("#content")

    @property
    def _dialog(self) -> Locator:
        return self.harness.page.get_by_role("dialog")

    def _named(self, part: Locator, name: str) -> Locator:
        return part.get_by_role("button", name=name, exact=True)

    def _wait_for(self, what: str, condition: Any) -> None:
        self.harness.settle(lambda: "" if condition() else f"timed out waiting for {what}")

    def _find_idle(self, number: int) -> dict[str, Any] | None:
        """The worktree of a session, if it can land."""
        conversation = self.harness.world.nth(number)
        if not self.harness.is_online or conversation.is_archived:
            return None
        worktree = self.branches.worktree_of(conversation)
        return worktree if self.branches.is_idle(worktree) else None

    def _open_form(self, worktree: dict[str, Any]) -> Locator:
        self.harness.page.goto(f"/#/landing/{worktree['project_id']}")
        self._press(self._named(self._view, f"Actions for {worktree['name']}"))
        self._press(self._named(self._dialog, "Land…"))
        form = self.harness.page.get_by_role("form", name="Land")
        form.wait_for()
        return form

    def _keep_message(self, worktree: dict[str, Any], form: Locator, method: str) -> None:
        """Type into the message, and find it again after the dialog was closed."""
        if method == "rebase":
            return
        words = f"because of {self.harness.repositories.new_name()}"
        form.get_by_role("textbox", name="Message of the commit").fill(words)
        self._close_dialog()
        box = self._open_form(worktree).get_by_role("textbox", name="Message of the commit")
        self._wait_for("the message that was typed before", lambda: box.input_value() == words)

    def _confirm(self, project: str, form: Locator, outcome: str) -> None:
        repositories = self.harness.repositories
        if outcome == "race":
            repositories.commit_to_base(project)
        before = repositories.tip(project)
        repositories.expect_moves(project)
        land = self._named(form, "Land on main")
        if outcome == "twice" and not self.harness.screen.touch:
            land.dblclick(delay=DOUBLE)
        else:
            self._press(land)
        if outcome == "race":
            self._wait_for("why it did not land", form.get_by_role("alert").is_visible)
            assert repositories.tip(project) == before
            return
        self._wait_for("the landing", lambda: "landed on" in self._dialog.inner_text())
        if repositories.tip(project) == before:
            raise InvariantError("it says that it landed, and the base is where it was")
        if outcome == "undo":
            repositories.expect_moves(project)
            self._press(self._named(self._dialog, "Undo"))
            self._press(self._named(self._dialog, "Undo the landing"))
            self._wait_for("the undo", lambda: repositories.tip(project) == before)

    def _close_dialog(self) -> None:
        if self._dialog.count():
            self.harness.page.keyboard.press("Escape")
        self.harness.wait_for(lambda view: not view.dialogs, "the dialog to close")
