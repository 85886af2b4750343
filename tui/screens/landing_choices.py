"""What can be chosen for a landing: the method, and what becomes of the worktree afterwards."""

from typing import TYPE_CHECKING, Final, cast

from tui.screens.choose import Choice

if TYPE_CHECKING:
    from model.domain.landing import AfterLanding

METHODS: Final = (
    Choice("merge", "merge", "all commits, and one that joins them"),
    Choice("squash", "squash", "one commit with all changes"),
    Choice("rebase", "rebase", "its commits on top of the base"),
)
_WITH_REMOTE: Final = "delete, also at the remote"
AFTERWARDS: Final = (
    Choice("keep", "keep the worktree"),
    Choice("archive", "archive the worktree", "its files are kept"),
    Choice("delete", "delete the worktree", "the archive brings it back"),
    Choice(_WITH_REMOTE, "delete it, and its branch at the remote", "that stays deleted"),
)


def read_after(value: str) -> "tuple[AfterLanding, bool]":
    """What becomes of the worktree, and whether its branch at the remote is deleted, too."""
    if value == _WITH_REMOTE:
        return "delete", True
    return cast("AfterLanding", value), False
