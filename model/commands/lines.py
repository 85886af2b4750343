"""Implements `model.api.lines`."""

from typing import TYPE_CHECKING

from model.api import lines as api
from model.commands.registry import implements
from model.domain.line_origins import LineOrigin
from model.turns import explaining
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.explain_line)
async def explain_line(
    workspace: "Workspace", worktree_id: str, path: str, line: int
) -> LineOrigin:
    worktree = require_worktree(workspace.store.state, worktree_id)
    origin = await explaining.explain_line(workspace.store, worktree, path, line)
    if origin.kind != "turn":
        return origin
    label = workspace.catalog.label(origin.author)
    return origin.model_copy(update={"author": label or origin.author})
