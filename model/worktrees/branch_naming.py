"""Let an agent name branches in the background, after the first message of a session.

Only random names that Spinney chose are replaced, and only if nothing was committed or pushed yet.
"""

import logging
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.git.history import is_untouched
from model.git.random_names import is_random_name
from model.git.refs import make_branch_name
from model.store.store import Store
from model.worktrees.branch_names import has_own_branch
from model.worktrees.lookup import require_project, require_worktree
from model.worktrees.renaming import rename
from model.writing.writer import Writer

_MIN_WORDS: Final = 3
"""Words of a message that describes a task; shorter ones, such as "hi", do not."""

_MAX_CHARACTERS: Final = 8_000
"""Characters of the message that are used for the name."""

_SUFFIXES: Final = ("", "-2", "-3", "-4", "-5")

_log = logging.getLogger(__name__)


class BranchNamer:
    """Names branches. A worktree is named after its branch, so it is renamed as well."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer

    def should_name(self, session: Session, message: str) -> bool:
        """Whether an agent should name the branch of a session that starts with this message."""
        return (
            self._store.state.preferences.auto_branch_naming
            and session.message_count == 0
            and not message.lstrip().startswith("/")  # a command of the agent's program
            and len(message.split()) >= _MIN_WORDS
            and _has_generated_name(self._store.state.worktrees[session.worktree_id])
        )

    async def name(self, worktree_id: str, message: str) -> None:
        """Name the branch unless it was used meanwhile. Failures are only logged."""
        try:
            worktree = require_worktree(self._store.state, worktree_id)
            if not await self._can_be_named(worktree):
                return
            material = {"message": message[:_MAX_CHARACTERS]}
            answer = await self._writer.write("branch_naming", worktree, material, ("branch",))
            current = require_worktree(self._store.state, worktree_id)
            name = make_branch_name(answer["branch"])
            if name and current.name == worktree.name and await self._can_be_named(current):
                await self._rename(worktree_id, name)
        except SpinneyError as error:
            _log.warning("branch of worktree %s was not renamed: %s", worktree_id, error.message)

    async def _can_be_named(self, worktree: Worktree) -> bool:
        if not _has_generated_name(worktree):
            return False
        project = require_project(self._store.state, worktree.project_id)
        base = worktree.base_branch or project.default_branch
        return await is_untouched(Path(worktree.path), worktree.branch, base)

    async def _rename(self, worktree_id: str, name: str) -> None:
        for suffix in _SUFFIXES:
            try:
                # The session that sent the message works there.
                await rename(self._store, worktree_id, name + suffix, in_use=True)
            except SpinneyError as error:
                if error.error_type != "conflict" or suffix == _SUFFIXES[-1]:
                    raise
            else:
                return


def _has_generated_name(worktree: Worktree) -> bool:
    return (
        worktree.session_type == "worktree"
        and worktree.status == "ready"
        and has_own_branch(worktree)
        and not worktree.named_by_user
        and is_random_name(worktree.name)
        and worktree.detached_at is None
        and worktree.archived_at is None
        and worktree.renaming_to is None
        and worktree.issue_number is None
        and worktree.pr_number is None
    )
