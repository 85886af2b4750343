"""What the diff screen knows of a review: verdicts, files viewed, an agent's findings."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from model.api.code_reviews import get_code_review, get_review, mark_viewed
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.richtext.diff_rows import DiffRow
from tui.desk import Desk
from tui.diff.notes import Note

if TYPE_CHECKING:
    from model.api.code_reviews import ReviewState
    from model.domain.changes import Side
    from model.domain.code_reviews import CodeReview, Finding, HunkVerdict
    from model.richtext.diff_text import DiffText

_BESIDE: Final = 3
"""Lines by which a finding may be beside the lines that a diff shows."""


class WorktreeReview:
    """What is known of the review of one worktree. The screen reads it again after each change."""

    def __init__(self, desk: Desk, worktree_id: str, changed: Callable[[], None]) -> None:
        self._desk = desk
        self._worktree_id = worktree_id
        self._changed = changed
        self._toggled: dict[tuple[str, Side], bool] = {}
        """Marks of files that are being saved."""
        self._shown: list[tuple[Note, Finding]] = []
        self.state: ReviewState | None = None
        """`None` before it was read."""
        self.by_agent: CodeReview | None = None

    async def read(self) -> None:
        """Read verdicts and findings; what cannot be read stays as it was."""
        try:
            of_it = {"worktree_id": self._worktree_id}
            self.state = await self._desk.client.call(get_review, **of_it)
            self.by_agent = await self._desk.client.call(get_code_review, **of_it)
        except SpinneyError as error:
            self._desk.say(error.message, bad=True)
        self._changed()

    # A person's review --------------------------------------------------------------------------

    def list_viewed(self, side: "Side") -> frozenset[str]:
        """Return the files that are marked as viewed on a side."""
        marks = {(file.path, file.side) for file in self.state.viewed} if self.state else set()
        for key, is_viewed in self._toggled.items():
            (marks.add if is_viewed else marks.discard)(key)
        return frozenset(path for path, of in marks if of == side)

    async def toggle_viewed(self, path: str, side: "Side") -> None:
        """Mark a file as viewed, or unmark it; the mark is shown at once."""
        is_viewed = path not in self.list_viewed(side)
        self._toggled[path, side] = is_viewed
        self._changed()
        try:
            await self._desk.client.call(
                mark_viewed,
                worktree_id=self._worktree_id,
                path=path,
                side=side,
                viewed=is_viewed,
            )
        except SpinneyError as error:
            self._desk.say(error.message, bad=True)
        await self.read()
        self._toggled.pop((path, side), None)
        self._changed()

    @property
    def progress(self) -> str:
        """How many hunks are decided, and what waits to be sent; empty without any verdict."""
        if self.state is None:
            return ""
        progress = self.state.progress
        decided = progress.accepted + progress.rejected
        parts = [f"{decided} of {count(progress.hunks, 'hunk')}"] if decided else []
        if progress.rejected:
            parts.append(f"{progress.rejected} rejected to send")
        return " · ".join(parts)

    @property
    def verdicts(self) -> "list[HunkVerdict]":
        """The verdicts, newest first."""
        return self.state.verdicts if self.state is not None else []

    @property
    def unsent(self) -> int:
        """The number of rejected hunks that no session got."""
        return self.state.progress.rejected if self.state is not None else 0

    # An agent's review --------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether an agent reviews the changes now."""
        return self.by_agent is not None and self.by_agent.status == "running"

    @property
    def findings(self) -> "list[Finding]":
        """The findings that are not dismissed."""
        known = self.by_agent.findings if self.by_agent is not None else []
        return [finding for finding in known if finding.state != "dismissed"]

    @property
    def open_findings(self) -> "list[Finding]":
        """The findings that nothing was done about."""
        return [finding for finding in self.findings if finding.state == "open"]

    @property
    def status(self) -> str:
        """What is known of the agent's review, in a few words."""
        review = self.by_agent
        if review is None or review.status == "none":
            return ""
        if review.status == "running":
            return f"{clean_line(review.agent)} is reviewing"
        if review.status == "failed":
            return "review failed"
        new = sum(finding.is_new for finding in self.open_findings)
        found = count(len(self.open_findings), "finding")
        return f"{found}, {new} new" if 0 < new < len(self.open_findings) else found

    # Notes --------------------------------------------------------------------------------------

    def notes_in(self, text: "DiffText", path: str, side: "Side") -> list[Note]:
        """Return findings at their lines, and verdicts on hunks that are still there."""
        self._shown = [*self._find(text, path)]
        return [*(note for note, _ in self._shown), *self._find_verdicts(text, path, side)]

    def of_note(self, note: Note | None) -> "Finding | None":
        """Return the finding that a note shows."""
        return next((finding for shown, finding in self._shown if shown == note), None)

    def list_shown(self) -> "list[Finding]":
        """Return the findings in the diff that is shown, from top to bottom."""
        found = (finding for _, finding in self._shown)
        return sorted(found, key=lambda finding: (finding.last_line, finding.first_line))

    def place_of(self, finding: "Finding") -> Note | None:
        """Return the note that shows a finding in the diff that is shown."""
        return next((note for note, one in self._shown if one.id == finding.id), None)

    def _find(self, text: "DiffText", path: str) -> "Iterator[tuple[Note, Finding]]":
        # After a first review everything is new.
        marks_new = not all(finding.is_new for finding in self.findings)
        for finding in self.findings:
            if finding.path == path and (places := _find_lines(text, finding)) is not None:
                author = _author(finding, marks_new=marks_new)
                yield Note(places, author, describe(finding)), finding

    def _find_verdicts(self, text: "DiffText", path: str, side: "Side") -> Iterator[Note]:
        """Yield a note for each committed hunk that was decided about, or that came back."""
        decided = {
            tuple(one.text.splitlines()[1:]): one
            for one in reversed(self.verdicts)
            if one.path == path and (side == "branch" or one.verdict == "rejected")
        }
        for hunk, at in enumerate(text.heading_indices):
            lines = tuple(f"{row.sign}{row.text}" for row in text.hunk_rows(hunk))
            if (verdict := decided.get(lines)) is not None:
                reason = f": {verdict.reason}" if verdict.reason else ""
                yield Note(range(at, at + 1), "you", f"{verdict.verdict}{reason}")


def describe(finding: "Finding") -> str:
    """Return the whole text of a finding."""
    if not finding.suggestion:
        return finding.explanation
    return f"{finding.explanation}\nSuggested:\n{finding.suggestion}"


def _author(finding: "Finding", *, marks_new: bool) -> str:
    words: list[str] = [finding.severity]
    words += ["new"] if finding.is_new and marks_new else []
    words += ["sent"] if finding.state == "sent" else []
    words += ["outdated"] if finding.is_outdated else []
    return " ".join(words)


def _find_lines(text: "DiffText", finding: "Finding") -> range | None:
    """Return the rows of a finding, or the row beside lines that are gone; `None` without one."""
    numbered = [
        (at, row.new)
        for at, row in enumerate(text.rows)
        if isinstance(row, DiffRow) and row.new is not None and row.sign != "-"
    ]
    inside = [at for at, new in numbered if finding.first_line <= new <= finding.last_line]
    if inside:
        return range(inside[0], inside[-1] + 1)
    beside = [(abs(new - finding.last_line), at) for at, new in numbered]
    distance, at = min(beside, default=(0, 0))
    return range(at, at + 1) if text.rows and distance <= _BESIDE else None
