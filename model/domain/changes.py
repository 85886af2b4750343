"""Changes of a worktree: sides, file statuses, operations."""

from typing import Literal

Side = Literal["unstaged", "staged", "branch"]
"""Changes not staged yet, changes staged for the next commit, or commits since the base branch."""

FileStatus = Literal[
    "added", "modified", "deleted", "renamed", "copied", "retyped", "untracked", "conflicted"
]

Operation = Literal["merge", "rebase", "cherry-pick", "revert"]
"""What git can leave half-way, usually because of a conflict."""

ConflictSide = Literal["ours", "theirs"]

ConflictChoice = Literal["ours", "theirs", "both", "markers"]
"""What becomes of a conflicted file; `markers` brings the conflict back."""
