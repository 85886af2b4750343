"""The pull request of a worktree: reviewers, checks by name, review comments, and what can be done.

The actions of its keys are in `tui.hosting.pull_request_actions`.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from model.api.pull_request_acts import get_pull_request
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line, make_visible
from model.domain.events.base import Event
from model.domain.events.landing import PullRequestUpdated
from tui.desk import Desk
from tui.hosting.automatic import describe_automatic
from tui.hosting.page_list import PageList, Row
from tui.hosting.pull_request_rows import describe_phase, pull_request_rows
from tui.keys.keymap import ACTIONS, BY_ID
from tui.screens.full import FullScreen, bindings
from tui.screens.palette import Entry
from tui.screens.palette_entries import action_entries
from tui.widgets.line import Line
from tui.widgets.top_bar import MARK

if TYPE_CHECKING:
    from model.domain.hosting import Check, PullRequestDetails, ReviewThread
    from model.domain.worktrees import Worktree
    from tui.draw.colors import Palette
    from tui.store.mirror import Change

PullRequestActionFunction = Callable[["PullRequestScreen"], Coroutine[Any, Any, None]]

_FOOTER: Final = (
    "pr_fix", "pr_answer", "pr_reply", "pr_resolve", "pr_merge", "pr_update", "pr_draft",
    "pr_open", "pr_reviewers", "pr_edit", "pr_automatic", "pr_copy", "pr_refresh",
)  # fmt: skip

_WHY_NOT: Final = {
    "pr_fix": "No check has failed.",
    "pr_answer": "All comments are resolved or answered.",
    "pr_reply": "Move to a comment first.",
    "pr_resolve": "Move to a review comment that is not resolved first.",
    "pr_update": "Its branch cannot be updated: it has all of the base, or you may not push to it.",
    "pr_draft": "You may not edit this pull request.",
    "pr_edit": "You may not edit this pull request.",
}
"""Why an action is not available while the pull request is open."""
_WIDE: Final = 100
"""Columns from which the title says what it is."""


class PullRequestScreen(FullScreen):
    """The page of a pull request. Enter shows the log of a check, or the whole of a text."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("pull request")]
    LAST = ("pr_back", "help")
    AUTO_FOCUS = "#pull-request-page"

    def __init__(
        self,
        desk: Desk,
        worktree: "Worktree",
        actions: Mapping[str, PullRequestActionFunction],
    ) -> None:
        super().__init__(desk)
        self.worktree = worktree
        self.details: PullRequestDetails | None = None
        """The pull request, once it was read."""
        self._actions = actions
        self._unfolded: set[str] = set()
        self._is_stale = False
        self._asks_service = False
        self._is_reading = False

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """What goes on or went wrong, and the page."""
        yield Static("", id="notice", markup=False)
        yield PageList(palette, id="pull-request-page")

    def palette_entries(self, query: str, style: Style) -> Iterable[Entry]:
        """The command palette's entries on this screen."""
        without = self._unavailable()
        actions = (*(a for a in ACTIONS if a.scope == "pull request"), BY_ID["help"], BY_ID["quit"])
        return action_entries((a for a in actions if a.id not in without), self, query, style)

    def on_mount(self) -> None:
        """Read the pull request."""
        self.say("Loading …")
        self._show_title()
        self.load()

    @property
    def page(self) -> PageList:
        """The rows."""
        return self.query_one(PageList)

    @property
    def here(self) -> Row:
        """The row under the cursor."""
        return self.page.item or Row("", "", 0)

    @property
    def check(self) -> "Check | None":
        """The check under the cursor."""
        checks = self.details.checks if self.details is not None else ()
        here = self.here
        return next((c for c in checks if here.part == "check" and c.id == here.id), None)

    @property
    def thread(self) -> "ReviewThread | None":
        """The thread, or the comment of the conversation, under the cursor."""
        details, here = self.details, self.here
        if details is None or here.part != "thread":
            return None
        threads = (*details.threads, *details.conversation)
        return next((thread for thread in threads if thread.id == here.id), None)

    # Reading ------------------------------------------------------------------------------------

    def load(self, *, refresh: bool = False) -> None:
        """Read the pull request again; with `refresh` from the service, however new it is."""
        self._is_stale = True
        self._asks_service |= refresh
        if not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        try:
            while self._is_stale:
                asks, self._is_stale, self._asks_service = self._asks_service, False, False
                self.show_details(
                    await self.desk.client.call(
                        get_pull_request, worktree_id=self.worktree.id, refresh=asks
                    )
                )
                self.say("")
        except SpinneyError as error:
            key = self.desk.key_of("pr_refresh")
            self.say(f"{error.message} {key} tries again.", bad=True)
        finally:
            self._is_reading = False

    def show_details(self, details: "PullRequestDetails") -> None:
        """Show the pull request as it is now."""
        self.details = details
        self.draw()

    def draw(self) -> None:
        """Draw the page again, without moving the cursor."""
        self._show_title()
        if self.details is not None and self.page.size.width:
            automatic = describe_automatic(self.desk.state, self.worktree.id)
            self.page.show(
                pull_request_rows(
                    self.details,
                    automatic,
                    self._unfolded,
                    self.desk.palette,
                    self.page.scrollable_content_region.width,
                    time.time(),
                )
            )
        self.show_keys()

    def on_resize(self) -> None:
        """Wrap the texts at the new width."""
        self.call_after_refresh(self.draw)

    def recolor(self, palette: "Palette") -> None:
        """Redraw the page in other colors."""
        self.page.set_palette(palette)
        self.draw()

    def follow(self, change: "Change") -> None:
        """Reload when the pull request has changed; close if the worktree is gone."""
        worktree = change.state.worktrees.get(self.worktree.id)
        if worktree is None or not worktree.pr_url:
            self.dismiss(None)
            what = "was removed" if worktree is None else "has no pull request any more"
            self.desk.say(f"The worktree {what}.")
            return
        self.worktree = worktree
        if change.loaded or any(map(self._concerns, change.events)):
            self.load()
        elif change.sessions:
            self.draw()

    def _concerns(self, event: Event) -> bool:
        match event:
            case PullRequestUpdated():
                return event.worktree_id == self.worktree.id
        return False

    # Bars and actions ---------------------------------------------------------------------------

    def say(self, sentence: str, *, bad: bool = False) -> None:
        """Show what goes on or went wrong above the page; '' hides that."""
        notice = self.query_one("#notice", Static)
        notice.update(make_visible(sentence))
        notice.set_class(bad, "problem")
        notice.display = bool(sentence)

    def _show_title(self) -> None:
        details = self.details
        number = self.worktree.pr_number if details is None else details.number
        left = Content.assemble(
            (f"{MARK} ", "bold $accent"),
            (clean_line(self.worktree.name), "bold $foreground"),
            (f"  {'pull request ' * (self.size.width >= _WIDE)}#{number}", "$text-muted"),
        )
        right = Content("")
        if details is not None:
            failed = sum(check.state == "failed" for check in details.checks)
            comments = len(details.unresolved_threads) + len(details.unanswered_comments)
            parts = [(f"{count(failed, 'check')} failed", "$error")] * bool(failed)
            parts += [(f"{count(comments, 'comment')} open", "$warning")] * bool(comments)
            parts.append(describe_phase(details))
            right = Content(" · ").join(Content.styled(text, color) for text, color in parts)
        self.query_one("#top", Line).show(left, right)

    def show_keys(self) -> None:
        """Show the keys that are useful now."""
        first = [("enter", label)] if (label := self._enter_label()) else []
        self.update_key_hints(_FOOTER, first=first, without=self._unavailable())

    def _enter_label(self) -> str:
        part, check = self.here.part, self.check
        if part == "check":
            return "log" if check is not None and check.has_log else "page"
        return {"thread": "read all", "body": "read all", "folded": "show", "link": "page"}.get(
            part, ""
        )

    def _unavailable(self) -> frozenset[str]:
        details = self.details
        if details is None:
            return frozenset(BY_ID) - {"pr_refresh", "pr_back", "help", "quit"}
        is_open = details.phase not in ("merged", "closed")
        can_merge = details.can_merge or details.can_auto_merge or details.has_queue
        is_waiting = details.auto_merge is not None or details.phase == "queued"
        thread = self.thread
        useless = {
            "pr_fix": not any(check.state == "failed" for check in details.checks),
            "pr_answer": not (details.unresolved_threads or details.unanswered_comments),
            "pr_reply": thread is None,
            "pr_resolve": thread is None or thread.is_resolved or bool(thread.resolve_note),
            "pr_merge": not (is_open and (can_merge or is_waiting)),
            "pr_update": not (is_open and details.can_update),
            "pr_draft": not (is_open and details.can_edit),
            "pr_edit": not details.can_edit,
            "pr_reviewers": not is_open,
            "pr_automatic": not is_open,
        }
        return frozenset(action for action, is_useless in useless.items() if is_useless)

    @on(PageList.Moved)
    def _moved(self) -> None:
        self.show_keys()

    @on(PageList.Chosen)
    def _chosen(self) -> None:
        if self.here.part == "folded":
            self._unfolded.add(self.here.id)
            self.draw()
        elif self._enter_label():
            self._run("pr_show")

    def do(self, action_id: str) -> None:
        """Run an action of this screen."""
        match action_id:
            case "pr_back":
                self.dismiss(None)
            case "pr_refresh":
                self.say("Asking the hosting service …")
                self.load(refresh=True)
            case "pr_next_part" | "pr_previous_part":
                self.page.go_to_section(1 if action_id == "pr_next_part" else -1)
            case _ if action_id in self._unavailable():
                if self.details is not None:
                    self.desk.say(self._why_not(action_id, self.details))
            case _:
                self._run(action_id)

    def _why_not(self, action_id: str, details: "PullRequestDetails") -> str:
        if details.phase in ("merged", "closed"):
            return f"The pull request is {details.phase}."
        if action_id == "pr_merge":
            return details.merge_note or "It cannot be merged now."
        if action_id == "pr_resolve" and self.thread is not None and self.thread.resolve_note:
            return self.thread.resolve_note
        return _WHY_NOT[action_id]

    def _run(self, action_id: str) -> None:
        work = self._guard(self._actions[action_id](self))
        self.desk.run_once(action_id, self.worktree.id, work)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        """Show above the page why an action failed."""
        try:
            await work
        except SpinneyError as error:
            if self.is_attached:
                self.say(error.message, bad=True)
            else:
                raise
