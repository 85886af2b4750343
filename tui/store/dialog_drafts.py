"""Unsubmitted input of dialogs, for the next time they open."""

from typing import Any, TypeVar, cast

T = TypeVar("T")


class DialogDrafts:
    """One draft for each kind of dialog and each subject, such as a worktree's id."""

    def __init__(self) -> None:
        self._drafts: dict[tuple[type[Any], str], Any] = {}

    def get(self, kind: type[T], subject: str = "") -> T:
        """Return the draft, creating an empty one if there is none."""
        return cast("T", self._drafts.setdefault((kind, subject), kind()))

    def set(self, draft: object, subject: str = "") -> None:
        """Replace the draft of this kind."""
        self._drafts[type(draft), subject] = draft

    def drop(self, kind: type[Any], subject: str = "") -> None:
        """Drop a draft that was submitted."""
        self._drafts.pop((kind, subject), None)
