"""Steps on the terminal that bring branches into the base: landing desk, landing, train, sweep."""

from typing import Any, Final

from tests.journeys.branch_work import BranchWork
from tests.journeys.ledger import Conversation, InvariantError
from tests.journeys.repositories import SHARED
from tests.journeys.screen import View
from tests.journeys.setup import block_script, finish_script
from tests.journeys.terminal_input import (
    DELETE,
    DOWN,
    ENTER,
    ESCAPE,
    KEY_PAUSE,
    PALETTE,
    READING_SECONDS,
)
from tests.journeys.terminal_places import PlaceSteps
from tests.patience import PATIENCE

LANDING, HOME, SPACE = "\x1b[23;2~", "\x1b[H", " "
WAYS: Final = ("key", "slash", "palette")
"""From where the landing desk is opened."""
LANDED, DISCARD, ARCHIVE_MANY = "Landed", "Discard the train", "Archive worktrees"


class LandingSteps(PlaceSteps):
    """Steps from finished worktrees to the base branch."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(patience)
        self.branches = BranchWork(self.harness)

    def look_at_landing(self, way: str, keys: str) -> None:
        """Open the landing desk in one of the `WAYS`, press keys there, and come back."""
        current = self.shown
        if (
            current is None
            or current.is_archived
            or (way == "slash" and not self._is_free(current))
        ):
            return
        self._open_desk(current, way)
        self.press(keys)
        self._leave(current)

    def land(self, outcome: str, method: str, clashes: bool) -> None:
        """Land the worktree of the open session, with one of several outcomes.

        cancel: the message that was typed stays. burst: keys before the dialog decide nothing.
        keep, undo: it lands, and is taken back. race: the base moves meanwhile. dirty: the
        project's checkout is changed. red: the check has failed.
        """
        current = self.shown
        worktree = self._find_idle(current)
        if current is None or worktree is None:
            return
        project, repositories = self.branches.project_of(worktree), self.harness.repositories
        self.branches.set_method(worktree, method)
        self.branches.prepare(worktree, clashes=clashes)
        self.branches.check(worktree, succeeds=outcome != "red")
        if outcome == "dirty":
            repositories.change_checkout(project)
        self.harness.refresh()
        tip = repositories.tip(project)
        self.focus_box()
        self.press(f"/land{ENTER}" + ENTER * 3 * (outcome == "burst"))
        self._await_preview(worktree)
        preview = self.branches.preview(worktree)
        if outcome in ("burst", "dirty", "red") or preview["problem"]:
            self._cannot_land(worktree, preview, outcome)
            if repositories.tip(project) != tip:
                raise InvariantError(f"it landed in {project}, and nobody confirmed that")
        elif outcome == "cancel":
            self._keep_message(worktree, method)
        else:
            self._confirm(current, worktree, outcome)
        if outcome == "dirty":
            repositories.clean_checkout(project)
        finish_script(self.harness.program, "check")
        self._leave(current)

    def take_landing_back(self) -> None:
        """Take the newest landing back on the landing desk, after its question."""
        current = self.shown
        if current is None or current.is_archived or not self._is_free(current):
            return
        worktree = self.branches.worktree_of(current)
        can_undo = self.branches.desk(worktree)["can_undo"]
        project = self.branches.project_of(worktree)
        self._open_desk(current, "key")
        if can_undo is None:
            self.press("u")
            self.harness.wait_for(
                lambda view: has(view, "no landing that can be"), "the refusal of an undo"
            )
        else:
            self.harness.wait_for(
                lambda view: "take back" in view.rows[-1], "the key that takes back"
            )
            self.press("u")
            self._await_overlay("Take a landing back")
            before = self.harness.repositories.tip(project)
            self.harness.repositories.expect_moves(project)
            self.press(ENTER)
            self._await_tip(project, lambda tip: tip != before)
        self._leave(current)

    def ride_train(self, ending: str, clashes: bool) -> None:
        """Put a train together and follow it: stop, discard, land it, or leave while it runs."""
        current = self.shown
        worktree = self._find_idle(current)
        if current is None or worktree is None:
            return
        other = self.branches.add_worktree(worktree["project_id"])
        for each in (worktree, *([other] if other is not None else [])):
            self.branches.prepare(each, clashes=clashes)
        project = self.branches.project_of(worktree)
        if clashes and (self.harness.repositories.paths[project] / SHARED).exists():
            return  # nothing could take part
        block_script(self.harness.program, "check")
        self._start_train(worktree)
        if ending == "leave":
            self.press(ESCAPE)
            self._await_no_overlay()
            self._open_train()
            self.harness.wait_for(lambda view: has(view, "Train of"), "the train again")
        if ending == "stop":
            self.press("x")
            self.harness.wait_for(_is_over, "the end of the train")
        finish_script(self.harness.program, "check", succeeds=ending != "red")
        self.harness.wait_for(_is_over, "the end of the train")
        if ending == "land" and has(self.harness.view, "l land "):
            self._land_train(project)
        else:
            self._discard_train(worktree)
        finish_script(self.harness.program, "check")
        self._leave(current)

    def sweep(self, ending: str) -> None:
        """Mark a worktree without sessions on the sweep, and archive it, or do not."""
        current = self.shown
        worktree = self._find_idle(current)
        if current is None or worktree is None:
            return
        other = self.branches.add_worktree(worktree["project_id"])
        if other is None:
            return
        self.focus_box()
        self.press(f"/sweep{ENTER}")
        self.harness.wait_for(
            lambda view: "  sweep" in view.rows[0] and _find_row(view, other["name"]), "the sweep"
        )
        self.harness.wait_for(lambda view: " … " not in view.rows[1], "all sizes")
        first = next(at for at, row in enumerate(self.harness.view.rows) if " Last used" in row) + 1
        self.press(HOME + DOWN * (_find_row(self.harness.view, other["name"]) - first) + SPACE)
        self.harness.wait_for(lambda view: "1 marked" in view.rows[0], "the mark")
        row = self.harness.view.rows[_find_row(self.harness.view, other["name"])]
        if not row.startswith("✓"):
            raise InvariantError(f"another row than {other['name']} is marked")
        self.press("a")
        self._await_overlay(ARCHIVE_MANY)
        if ending == "archive":
            self.harness.ledger.expect("worktree:archived")
            self.press("y")
            read = lambda: self.harness.client.call("get_worktree", worktreeId=other["id"])  # noqa: E731
            self.harness.settle(lambda: "" if read()["archived_at"] else "it is not archived")
        else:
            self.press("n" if ending == "refuse" else ESCAPE)
        self._leave(current)

    def branches_elsewhere(self, action: str, number: int) -> None:
        """Have the second client, or a person in a shell, do something to a branch."""
        self.branches.perform(action, self.harness.world.nth(number))

    # Implementation -----------------------------------------------------------------------------

    def _find_idle(self, current: Conversation | None) -> dict[str, Any] | None:
        """The worktree of the open session, if it can land."""
        if current is None or not self._is_free(current):
            return None
        worktree = self.branches.worktree_of(current)
        return worktree if self.branches.is_idle(worktree) else None

    def _open_desk(self, current: Conversation, way: str) -> None:
        match way:
            case "slash":
                self.focus_box()
                self.press(f"/landing{ENTER}")
            case "palette":
                self.press(PALETTE)
                self.harness.wait_for(lambda view: view.has_palette, "the palette")
                self.press("Landing: what is next" + ENTER)
            case _:
                self.press(LANDING)
        self.harness.wait_for(
            lambda view: "  landing" in view.rows[0] and not has(view, "Loading …"),
            "the landing desk",
        )

    def _leave(self, current: Conversation) -> None:
        """Press Escape until the session is shown again."""
        for _ in range(6):
            if self.harness.screen_shows(
                lambda view: view.session == current.name and not view.overlays, KEY_PAUSE
            ):
                break
            self.press(ESCAPE)
            self.harness.screen_shows(lambda view: view.session == current.name, READING_SECONDS)
        self.harness.wait_for_session(current.name, at_end=False)
        self.harness.wait_for(lambda view: not view.overlays, "the end of all dialogs")

    def _await_overlay(self, title: str) -> None:
        self.harness.wait_for(lambda view: title in view.overlays, f"the dialog “{title}”")

    def _await_no_overlay(self) -> None:
        self.harness.wait_for(lambda view: not view.overlays, "the end of the dialog")

    def _await_preview(self, worktree: dict[str, Any]) -> None:
        self._await_overlay(f"Land {worktree['name']}")
        self.harness.wait_for(lambda view: has(view, " → main"), "what landing would do")

    def _await_tip(self, project: str, is_there: Any) -> None:
        self.harness.settle(
            lambda: (
                ""
                if is_there(self.harness.repositories.tip(project))
                else f"the base of {project} is still where it was"
            )
        )

    def _cannot_land(self, worktree: dict[str, Any], preview: dict[str, Any], outcome: str) -> None:
        """Press Enter where something speaks against it, which does nothing."""
        if preview["problem"]:
            start = preview["problem"][:20]
            self.harness.wait_for(lambda view: has(view, start), f"“{preview['problem']}”")
            self.press(ENTER)
            self.harness.screen_shows(lambda view: not view.overlays, KEY_PAUSE)
        elif outcome != "burst":
            raise InvariantError(f"{worktree['name']} can land although: {outcome}")

    def _keep_message(self, worktree: dict[str, Any], method: str) -> None:
        """Type into the message, and find it again after the dialog was closed."""
        if method == "rebase":
            return
        words = f"because of {self.harness.repositories.new_name()}"
        self.press(f" {words}")
        self.harness.wait_for(lambda view: has(view, words), "the message")
        self.press(ESCAPE)
        self._await_no_overlay()
        self.press(f"/land{ENTER}")
        self._await_preview(worktree)
        self.harness.wait_for(lambda view: has(view, words), "the message that was typed before")

    def _confirm(self, current: Conversation, worktree: dict[str, Any], outcome: str) -> None:
        project, repositories = self.branches.project_of(worktree), self.harness.repositories
        if outcome == "race":
            repositories.commit_to_base(project)
        repositories.expect_moves(project)
        before = repositories.tip(project)
        self.press(ENTER)
        if outcome == "race":
            is_over = lambda view: LANDED in view.overlays or not has(view, "Landing …")  # noqa: E731
            self.harness.wait_for(is_over, "what became of the landing")
            return
        self._await_overlay(LANDED)
        if repositories.tip(project) == before:
            raise InvariantError("it says that it landed, and the base is where it was")
        if outcome == "undo":
            repositories.expect_moves(project)
            self.press("u")
            self._await_tip(project, lambda tip: tip == before)

    def _start_train(self, worktree: dict[str, Any]) -> None:
        """Put a train together from what is suggested, after discarding one that is there."""
        self.focus_box()
        self._open_train()
        self.harness.wait_for(
            lambda view: has(view, "take in or out") or has(view, "Train of"), "a train"
        )
        if not has(self.harness.view, "take in or out"):
            self._discard_train(worktree)
            self._await_no_overlay()
            self._open_train()
            self.harness.wait_for(lambda view: has(view, "take in or out"), "a new train")
        if not has(self.harness.view, " 1  "):
            self.press(SPACE)
        self.press(ENTER)
        self.harness.wait_for(lambda view: has(view, "Train of"), "the train")

    def _open_train(self) -> None:
        """Give `/train`, and once more if it is back in the box because the last one goes on."""
        self.press(f"/train{ENTER}")
        is_back = lambda view: has(view, "/train is still running")  # noqa: E731
        self.harness.wait_for(
            lambda view: "Train" in view.overlays or is_back(view), "the train, or why not"
        )
        if "Train" not in self.harness.view.overlays:
            self.press(ENTER)
            self._await_overlay("Train")

    def _discard_train(self, worktree: dict[str, Any]) -> None:
        self.press(DELETE)
        self._await_overlay(DISCARD)
        self.press("y")
        read = lambda: self.harness.client.call("get_train", projectId=worktree["project_id"])  # noqa: E731
        self.harness.settle(lambda: "" if read() is None else "the train is not discarded")

    def _land_train(self, project: str) -> None:
        before = self.harness.repositories.tip(project)
        self.press("l")
        self.harness.wait_for(lambda view: has(view, "keep the worktree"), "the choice")
        self.harness.repositories.expect_moves(project)
        self.press(HOME + ENTER)
        self._await_tip(project, lambda tip: tip != before)
        self._await_overlay(LANDED)


def has(view: View, words: str) -> bool:
    return words in "\n".join(view.rows)


def _is_over(view: View) -> bool:
    return any(
        words in row
        for row in view.rows
        if "Train of" in row
        for words in ("all can land", "stopped by", "failed", "outdated")
    )


def _find_row(view: View, name: str) -> int:
    """The row, from 0, with this name in a list; 0 if there is none."""
    return next((at for at, row in enumerate(view.rows) if at > 2 and f" {name} " in row), 0)
