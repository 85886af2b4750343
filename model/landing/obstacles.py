"""Messages to a session about what keeps its worktree from landing."""

import shlex
from collections.abc import Sequence
from typing import Final

from model.base.foreign_text import mark_untrusted
from model.base.text import clean_line
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.preferences.prompts import describe_place, find_prompt_text, write_prompt
from model.preferences.schema import Preferences

_MAX_FILES: Final = 100
_MAX_OUTPUT: Final = 16_000
"""Characters at the end of a check's output."""


def write_conflict_message(
    preferences: Preferences,
    project: Project,
    worktree: Worktree,
    base: str,
    files: Sequence[str],
) -> str:
    """Return a message that asks for a merge of the base and the resolution of its conflicts.

    Args:
        preferences: Whose prompt `resolve_conflicts` is used.
        project: The project.
        worktree: The worktree whose branch is in conflict.
        base: Its base branch.
        files: The files in conflict.
    """
    listed = [clean_line(file) for file in files[:_MAX_FILES]]
    if len(files) > _MAX_FILES:
        listed.append(f"… and {len(files) - _MAX_FILES} more")
    values = {**describe_place(project, worktree), "operation": "merge", "files": listed}
    task = write_prompt("resolve_conflicts", preferences, values)
    if "{files}" not in find_prompt_text("resolve_conflicts", preferences):
        task += "\n\nFiles:\n" + "\n".join(f"- {file}" for file in listed)
    return (
        f"The branch of this worktree cannot land: it is in conflict with '{clean_line(base)}'. "
        "Commit what is not committed yet, then merge:\n\n```\n"
        f"git merge --no-edit -- {shlex.quote(base)}\n```\n\nThe merge will stop. Then the "
        f"following applies.\n\n{task}"
    )


def write_check_message(error: str, output: str, file: str, below: Sequence[str] = ()) -> str:
    """Return a message that asks for a fix of what the check found.

    Args:
        error: Why it is red, as a sentence.
        output: What it printed; the end of it is quoted as untrusted text.
        file: The name of the config file with the script.
        below: The branches that were brought in before it was checked.
    """
    names = ", ".join(f"'{clean_line(branch)}'" for branch in below)
    on_top = f", on top of {names}" if names else ""
    text = output.strip()[-_MAX_OUTPUT:] or "(It printed nothing.)"
    return (
        f"The check of this repository fails on the branch of this worktree{on_top}, so it cannot "
        f"land. {error} The check is the script 'check' in {file}.\n\nFind out why, fix the "
        "cause, not the check, run it again, and commit the fix. The end of its output is below."
        f"\n\n{mark_untrusted(text)}"
    )
