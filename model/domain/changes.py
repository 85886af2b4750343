"""What the changes of a worktree are called."""

from typing import Literal

Side = Literal["unstaged", "staged", "branch"]
"""Not staged yet; what the next commit would hold; the commits since the branch left its base."""

FileStatus = Literal[
    "added", "modified", "deleted", "renamed", "copied", "retyped", "untracked", "conflicted"
]

Operation = Literal["merge", "rebase", "cherry-pick", "revert"]
"""What can stop in the middle, mostly because of a conflict."""
