"""What a person says, as the input of a turn of Codex."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.base import Prompt
from model.backends.codex.edits import shown

Json = dict[str, Any]

_APPROVAL: Final = "Implement the plan."
"""The words that the program's own screen sends."""


def words(text: str) -> list[Json]:
    """Plain text."""
    return [{"type": "text", "text": text}]


def said(prompt: Prompt, worktree: Path) -> list[Json]:
    """A message with its files, by name, and its pictures, which the program reads itself."""
    mentions = [f"@{shown(str(path), worktree)}" for path in prompt.files]
    pictures = [{"type": "localImage", "path": str(path)} for path in prompt.images]
    return [*words("\n".join([prompt.text, *mentions])), *pictures]


def approval(proposed: str, plan: str | None) -> list[Json]:
    """The word to carry a plan out, with the person's version where that differs."""
    if plan is None or plan.strip() in ("", proposed.strip()):
        return words(_APPROVAL)
    return words(f"{_APPROVAL} The user has edited it; this is what counts:\n\n{plan}")


def answers(told: Mapping[str, str]) -> list[Json]:
    """Answers to questions that the agent did not wait for."""
    return words("\n".join(f"{question}\n{answer}" for question, answer in told.items()))
