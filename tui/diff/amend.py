"""The dialog that amends the last commit: its message, and changes to add to it."""

from typing import Any

from textual.content import Content

from model.base.plural import count
from tui.screens.commit import Commit, CommitDraft


class Amend(Commit):
    """Like a new commit; without changes only the message is replaced."""

    title_of_dialog = "Amend the last commit"
    verb = "amend"

    def __init__(self, draft: CommitDraft, *rest: Any) -> None:
        super().__init__(draft, *rest)
        draft.stage_all = False  # as git does it: what is not staged stays out

    def _scope(self) -> Content:
        added = self._all if self._draft.stage_all else self._staged
        if not added:
            rest = f"; {count(self._unstaged, 'file')} not staged" if self._unstaged else ""
            return Content(f"Only the message{rest}")
        return Content(f"Adds {count(added, 'file')}{'' if self._draft.stage_all else ', staged'}")

    @property
    def _has_choice(self) -> bool:
        return bool(self._unstaged)
