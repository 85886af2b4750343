"""Files that the user has marked as viewed, until their changes differ."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.diff.state import Side

if TYPE_CHECKING:
    from model.api.changes import ChangedFile

_Size = tuple[int | None, int | None, str]


@dataclass(slots=True)
class ViewedFiles:
    """The marks of one worktree, kept while the program runs."""

    marks: "dict[tuple[Side, str], tuple[str, _Size]]" = field(default_factory=dict)
    """The digest and size of each diff when it was marked."""

    def toggle(self, side: Side, file: "ChangedFile", digest: str) -> bool:
        """Mark a file as viewed, or unmark it; return whether it is marked now."""
        if self.marks.pop((side, file.path), None) is not None:
            return False
        self.marks[side, file.path] = (digest, _size(file))
        return True

    def note_digest(self, side: Side, path: str, digest: str) -> None:
        """Unmark a file whose diff is another one now."""
        mark = self.marks.get((side, path))
        if mark is not None and mark[0] != digest:
            del self.marks[side, path]

    def among(self, side: Side, files: "Sequence[ChangedFile]") -> frozenset[str]:
        """The paths of the files that are marked and have the size that they were marked with."""
        for file in files:
            mark = self.marks.get((side, file.path))
            if mark is not None and mark[1] != _size(file):
                del self.marks[side, file.path]
        return frozenset(file.path for file in files if (side, file.path) in self.marks)


def _size(file: "ChangedFile") -> _Size:
    return file.added, file.removed, file.mode
