"""The sides of a worktree's changes, and what the bars of the diff screen show."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Protocol, get_args

from model.domain.changes import Side

if TYPE_CHECKING:
    from model.api.changes import Changes
    from model.domain.code_reviews import Finding
    from model.domain.worktrees import Worktree
    from model.richtext.diff_comments import Comment
    from tui.diff.file_list import FileList
    from tui.diff.review import WorktreeReview
    from tui.diff.view import DiffView

SIDES: Final[tuple[Side, ...]] = get_args(Side)


class DiffState(Protocol):
    """The diff screen, as far as its bars read it."""

    worktree: "Worktree"
    side: Side
    review: "WorktreeReview"

    @property
    def sides(self) -> "Mapping[Side, Changes]":
        """The changes of each side, as far as they have been read."""

    @property
    def changes(self) -> "Changes | None":
        """The changes of the shown side."""

    @property
    def also_changed(self) -> str:
        """Where the shown file would be in conflict: names of worktrees and the base; or ''."""

    @property
    def lost(self) -> "Collection[Comment]":
        """Comments whose lines no longer exist."""

    @property
    def files(self) -> "FileList":
        """The changed files."""

    @property
    def view(self) -> "DiffView":
        """The diff of one of them."""

    @property
    def comments(self) -> "Collection[Comment]":
        """Comments that are not sent yet."""

    @property
    def comment_here(self) -> "Comment | None":
        """The comment under the cursor or on its line."""

    @property
    def finding_here(self) -> "Finding | None":
        """The finding of a review under the cursor."""

    @property
    def is_in_files(self) -> bool:
        """Whether the file list has the focus."""
