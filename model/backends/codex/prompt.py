"""Builds the input of Codex's turns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.backends.base import Prompt
from model.backends.json_values import Json
from model.backends.worktree_paths import display_path

_APPROVAL: Final = "Implement the plan."
"""The text that the program's own screen sends."""


def build_text(text: str) -> list[Json]:
    """Input of plain text."""
    return [{"type": "text", "text": text}]


def build_message(prompt: Prompt, worktree: Path) -> list[Json]:
    """A message with mentions of its files, and its images, which the program reads itself."""
    mentions = [f"@{display_path(str(path), worktree)}" for path in prompt.files]
    pictures = [{"type": "localImage", "path": str(path)} for path in prompt.images]
    return [*build_text("\n".join([prompt.text, *mentions])), *pictures]


def build_approval(proposed: str, plan: str | None) -> list[Json]:
    """The approval of a plan, with the user's edited version if it differs."""
    if plan is None or plan.strip() in ("", proposed.strip()):
        return build_text(_APPROVAL)
    return build_text(f"{_APPROVAL} The user has edited it; this is what counts:\n\n{plan}")


def build_answers(answers: Mapping[str, str]) -> list[Json]:
    """Answers to questions that the agent did not wait for, as a message."""
    return build_text("\n".join(f"{question}\n{answer}" for question, answer in answers.items()))
