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
_LABELS: Final = ("fatal: ", "error: ")
_LABEL: Final = re.compile(r"^(?:fatal|error): ")


def without_credentials(text: str) -> str:
    """`text` with user names and passwords removed from its URLs."""
    return _CREDENTIALS.sub("://", text)


def clean_output(text: str) -> str:
    """Make git's output safe to show: visible, and without credentials."""
    return without_credentials(make_output_visible(text))


def extract_error(stderr: str) -> str:
    """Git's text from its first error on, without labels and configuration hints."""
    if _NO_IDENTITY in stderr:
        return _NO_IDENTITY_MESSAGE
    if stderr.startswith(_NO_REPOSITORY):
        return _NO_REPOSITORY_MESSAGE
    lines = [
        line for line in clean_output(stderr).strip().splitlines() if not line.startswith("hint:")
    ]
    first = next((n for n, line in enumerate(lines) if line.startswith(_LABELS)), 0)
    return "\n".join(_LABEL.sub("", line) for line in lines[first:]).strip()
