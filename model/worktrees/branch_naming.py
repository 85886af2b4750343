"""Branches named after what is done on them: found by an agent, in the background, after the first
message. Only where nobody could miss the old name: one that Spinney made up, and that nothing was
committed or pushed to.
"""

import logging
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.resources import Session, Worktree
from model.git.history import is_untouched
from model.git.random_names import is_random_name
from model.git.refs import make_branch_name
from model.store.store import Store
from model.worktrees.lookup import project_in, worktree_in
from model.worktrees.renaming import rename
from model.writing.writer import Writer

_FEWEST: Final = 3
"""Words of a message that say what is to be done; fewer, as “hi”, are no work."""

_MOST: Final = 8_000
"""Characters of the message that are read for the name."""

_TRIES: Final = ("", "-2", "-3", "-4", "-5")

_log = logging.getLogger(__name__)


class BranchNaming:
    """Finds names. A worktree has its branch's name, so it gets a new one as well."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    def is_wanted(self, session: Session, message: str) -> bool:
        """Whether an agent should name the branch on which a session begins with this message."""
        return (
            self._store.state.preferences.auto_branch_naming
            and session.message_count == 0
            and not message.lstrip().startswith("/")  # a command of the agent's program
            and len(message.split()) >= _FEWEST
            and _is_nameless(self._store.state.worktrees[session.worktree_id])
        )

    async def name(self, worktree_id: str, message: str) -> None:
        """Name the branch unless it was used meanwhile. What goes wrong is only logged."""
        try:
            worktree = worktree_in(self._store.state, worktree_id)
            if not await self._may_be_named(worktree):
                return
            material = {"message": message[:_MOST]}
            written = await self._writer.write("branch_naming", worktree, material, ("branch",))
            now = worktree_in(self._store.state, worktree_id)
            name = make_branch_name(written["branch"])
            if name and now.name == worktree.name and await self._may_be_named(now):
                await self._rename(worktree_id, name)
        except SpinneyError as error:
            _log.warning("worktree %s keeps its branch's name: %s", worktree_id, error.message)

    async def _may_be_named(self, worktree: Worktree) -> bool:
        if not _is_nameless(worktree):
            return False
        project = project_in(self._store.state, worktree.project_id)
        base = worktree.base_branch or project.default_branch
        return await is_untouched(Path(worktree.path), worktree.branch, base)

    async def _rename(self, worktree_id: str, name: str) -> None:
        for suffix in _TRIES:
            try:
                # Somebody works there, or the message would not be.
                await rename(self._store, worktree_id, name + suffix, in_use=True)
            except SpinneyError as error:
                if error.error_type != "conflict" or suffix == _TRIES[-1]:
                    raise
            else:
                return


def _is_nameless(worktree: Worktree) -> bool:
    return (
        worktree.session_type == "worktree"
        and worktree.status == "ready"
        and worktree.branch == worktree.name
        and not worktree.named_by_user
        and is_random_name(worktree.name)
        and worktree.detached_at is None
        and worktree.archived_at is None
        and worktree.renaming_to is None
        and worktree.issue_number is None
        and worktree.pr_number is None
    )
