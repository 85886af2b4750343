"""Why a push was refused, and the next step, by the messages of git and of hosting services."""

from typing import Final

_REFUSALS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (
        ("protected branch", "repository rule violations", "not allowed to push code to protected"),
        "A rule of the repository protects this branch. Push to another branch and open a pull "
        "request.",
    ),
    (
        ("(non-fast-forward)", "(fetch first)", "(stale info)"),
        "The branch there has commits that are missing here; it may have been pushed by force. "
        "Pull, then push again.",
    ),
    (
        ("archived so it is read-only", "repository was archived", "project is archived"),
        "The repository is archived: nothing can be pushed to it.",
    ),
    (
        (
            "permission to ", "requested url returned error: 403", "write access to repository not",
            "you are not allowed to push", "deploy key is not allowed",
            "authentication token does not have permission",
        ),
        "Your account may not push to this repository. If it is the fork of another person, ask "
        "them to allow edits by maintainers; otherwise push to a fork of your own, added with 'git "
        "remote add <name> <url>'.",
    ),
    (
        ("repository not found", "requested url returned error: 404", "project you were looking"),
        "There is no such repository, or your account cannot see it. If it was renamed or moved, "
        "set its new address with 'git remote set-url <remote> <url>'.",
    ),
    (
        ("could not read username", "authentication failed", "permission denied (publickey"),
        "Git could not sign in there. Try 'git push' in a terminal, and save the credentials.",
    ),
)  # fmt: skip
"""Parts of messages in lower case, and the sentence for them; the first that applies is shown."""


def explain_refusal(output: str) -> str:
    """Return why a push with this output was refused and what to do; empty if that is unknown."""
    known = output.lower()
    return next(
        (sentence for parts, sentence in _REFUSALS if any(part in known for part in parts)), ""
    )
