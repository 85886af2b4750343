"""Git's error messages, as they are shown: without labels, hints and credentials."""

import re
from typing import Final

from model.base.text import make_output_visible

# Part of the hint that git prints when user.name and user.email are not set.
_NO_IDENTITY: Final = "me who you are"
_NO_IDENTITY_MESSAGE: Final = (
    "Git does not know your name and email address. Set them in a shell, then try again:"
    ' git config --global user.name "Your Name";'
    " git config --global user.email you@example.com"
)
_NO_REPOSITORY: Final = (
    "fatal: not a git repository", "warning: Not a git repository", "fatal: invalid gitfile",
)  # fmt: skip
_NO_REPOSITORY_MESSAGE: Final = (
    "This directory is no longer a git worktree: its .git is missing or points nowhere. Move what "
    "you need out of it, delete it, and recreate the worktree."
)
_CREDENTIALS: Final = re.compile(r"://[^/@\s]*@")
_LABEL: Final = re.compile(r"^(?:fatal|error): ")
_FIRST_LABEL: Final = re.compile(r"(?:\A|[\r\n])(?:fatal|error): ")
_PROGRESS: Final = (
    "Already on ", "Auto-merging ", "Cloning into ", "Compressing objects:", "Counting objects:",
    "Delta compression using ", "Enumerating objects:", "Filtering content:", "HEAD is now at ",
    "Preparing worktree ", "Rebasing (", "Receiving objects:", "Resolving deltas:", "Switched to ",
    "Total ", "Unpacking objects:", "Updating files:", "Writing objects:", "warning: ",
)  # fmt: skip
"""Git's own lines before an error that are not its cause."""
_MAX_SHOWN: Final = 8000
"""Characters of what git wrote, or of each of what comes before its first error and from there."""


def without_credentials(text: str) -> str:
    """`text` with user names and passwords removed from its URLs."""
    return _CREDENTIALS.sub("://", text)


def clean_output(text: str) -> str:
    """Make git's output safe to show: visible, without credentials, shortened in the middle."""
    left_out = len(text) - _MAX_SHOWN
    if left_out > 0:
        half = _MAX_SHOWN // 2
        text = f"{text[:half]}\n[… {left_out} more characters]\n{text[-half:]}"
    return without_credentials(make_output_visible(text))


def extract_error(stderr: str) -> str:
    """What git, and the programs that it ran, wrote about a failure.

    Filters, hooks, helpers and ssh write the cause before git's own error, which may say no more
    than that they ended. Left out are labels, hints, and git's progress before its error.
    """
    if _NO_IDENTITY in stderr:
        return _NO_IDENTITY_MESSAGE
    if stderr.startswith(_NO_REPOSITORY):
        return _NO_REPOSITORY_MESSAGE
    first = _FIRST_LABEL.search(stderr)
    start = first.start() + 1 if first and first.start() else 0
    before = [line for line in _read_lines(stderr[:start]) if not _is_progress(line)]
    after = [_LABEL.sub("", line) for line in _read_lines(stderr[start:])]
    return "\n".join((*before, *after)).strip()


def _read_lines(text: str) -> list[str]:
    lines = clean_output(text.strip()).splitlines()
    return [line for line in lines if not line.startswith("hint:")]


def _is_progress(line: str) -> bool:
    return line.removeprefix("remote: ").startswith(_PROGRESS)
