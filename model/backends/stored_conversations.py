"""Conversations that a program has stored: those begun in its own screen, and their texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, runtime_checkable

from model.backends.base import Launch
from model.base.text import make_visible

MAX_CONVERSATIONS: Final = 100
"""The newest conversations of a directory that are listed."""

MAX_MESSAGES: Final = 200
"""The newest messages that are read of a conversation."""

_MAX_TEXT: Final = 32 * 1024
"""Characters of one message that are read."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation in a program's own storage; its texts are as the program has them."""

    token: str
    """The program's id, with which it is resumed."""
    title: str
    directory: str
    updated_at: float
    """In seconds since 1970."""
    branch: str = ""
    """The branch that was checked out; empty if unknown."""
    origin: str = ""
    """Where it was begun, such as `terminal`; empty if unknown."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """The text of one message."""

    role: Literal["user", "assistant"]
    text: str
    timestamp: float
    """In seconds since 1970; 0 if unknown."""
    model: str = ""


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The newest messages of a conversation, oldest first, without tools and their results."""

    messages: Sequence[StoredMessage]
    is_complete: bool
    """Whether no older message was left out."""
    mark: str = ""
    """The program's id of the newest turn, as in `base.TurnMarked`; empty if unknown."""


@runtime_checkable
class ConversationReader(Protocol):
    """A backend that can read what its program has stored."""

    async def list_conversations(self, launch: Launch) -> Sequence[StoredConversation]:
        """The conversations begun in exactly the launch's worktree, newest first.

        Raises `SpinneyError` if the program is missing or fails.
        """
        ...

    async def read_texts(self, launch: Launch, token: str) -> StoredTexts | None:
        """The texts of a conversation; `None` if the program does not have it."""
        ...

    def build_resume_command(self, token: str) -> Sequence[str]:
        """The command with which a person goes on in the program's own screen."""
        ...

    async def release(self) -> bool:
        """End what holds conversations of closed sessions, so that another program can go on.

        Returns `False` if it is still in use by other sessions.
        """
        ...


def shorten_text(text: str) -> str:
    """Make a text visible, and leave out the rest of one that is too long."""
    shown, rest = make_visible(text[:_MAX_TEXT]), len(text) - _MAX_TEXT
    return shown if rest <= 0 else f"{shown}\n\n[{rest} more characters]"
