"""The files of the sides: their order, and what is said where there are none."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from model.base.plural import count
from model.domain.changes import Side

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, Changes


def put_conflicts_first(files: "Sequence[ChangedFile]") -> "Sequence[ChangedFile]":
    """The files with conflicts before all others, each group in git's order."""
    return sorted(files, key=lambda file: file.status != "conflicted")


def empty_sentence(
    side: Side, sides: "Mapping[Side, Changes]", key_of: Callable[[str], str]
) -> str:
    """Say why a side is empty, and what to do next.

    Args:
        side: The empty side.
        sides: What has been read of all.
        key_of: Returns the keys of an action.
    """
    has = {each: count(len(of.files), "file") for each, of in sides.items() if of.files}
    view, commit = key_of("diff_next_side"), key_of("diff_commit")
    base = next((of.base for of in sides.values()), "the base branch")
    operation = next((of.operation for of in sides.values()), None)
    match side:
        case "unstaged" if operation is not None:
            return f"No conflict is left. {key_of('diff_continue')} continues the {operation}."
        case "unstaged" if "staged" in has:
            return f"All changes are staged: {has['staged']}. {view} shows them, {commit} commits."
        case "unstaged" if "branch" in has:
            return (
                f"No uncommitted changes. {view} {view} shows what the branch changed since "
                f"{base}: {has['branch']}."
            )
        case "unstaged":
            return "Nothing has changed. What you or an agent edit here appears at once."
        case "staged" if "unstaged" in has:
            return (
                f"Nothing is staged yet. {view} shows what could be ({has['unstaged']}), where "
                f"{key_of('diff_stage')} stages a file or a hunk."
            )
        case "staged":
            return "Nothing is staged, and nothing else has changed."
        case "branch" if "unstaged" in has or "staged" in has:
            return f"No commits beyond {base} yet. {view} shows what {commit} would commit."
    return f"No commits beyond {base} yet, and nothing has changed."
