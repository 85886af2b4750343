"""Which worktrees were created from an item of a hosting service, or are its branch."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from model.domain.hosting import OpenPullRequest, WorkflowRun, WorkItem
from model.domain.worktrees import Worktree
from model.state import State

T = TypeVar("T", bound=WorkItem)


def add_worktrees(state: State, project_ids: Iterable[str], items: Sequence[T]) -> list[T]:
    """Return the items with the ids of the worktrees of these projects that belong to each."""
    by_item: dict[str, list[str]] = {}
    for project_id in project_ids:
        for worktree in state.worktrees_of(project_id):
            for key in _list_keys(worktree):
                by_item.setdefault(key, []).append(worktree.id)
    if not by_item:
        return list(items)
    return [item.model_copy(update={"worktree_ids": _find(by_item, item)}) for item in items]


def _list_keys(worktree: Worktree) -> list[str]:
    keys = [worktree.started_from] if worktree.started_from else []
    if worktree.issue_number is not None:
        keys.append(f"issue/{worktree.issue_number}")
    if worktree.pr_number is not None:
        keys.append(f"pull_request/{worktree.pr_number}")
    if worktree.session_type == "worktree":
        keys.append(f"branch/{worktree.branch}")
    return keys


def _find(by_item: dict[str, list[str]], item: WorkItem) -> list[str]:
    keys = [f"{item.kind}/{item.id}"]
    if isinstance(item, OpenPullRequest) and not item.is_from_fork:
        keys.append(f"branch/{item.head_ref_name}")
    elif isinstance(item, WorkflowRun):
        keys.append(f"branch/{item.branch}")
    return list(dict.fromkeys(found for key in keys for found in by_item.get(key, ())))
