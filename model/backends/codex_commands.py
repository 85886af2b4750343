"""Codex's own commands in a message: its skills, which it calls `$name`, and `/compact`.

Of what its own screen takes after a `/`, its server knows nothing; a folder `prompts` means nothing
to it either (0.169.0).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from model.backends import codex_prompt
from model.backends.base import CommandsKnown, Prompt
from model.backends.codex_server import CodexServer
from model.backends.command_files import skills_in
from model.errors import SpinneyError
from model.resources import AgentCommand

Json = dict[str, Any]

_COMPACT: Final = AgentCommand(
    name=codex_prompt.COMPACT.removeprefix("/"),
    description="Shorten the conversation to a summary",
)


def in_files(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """The project's and the person's. Reads files: call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    own = Path(environment.get("CODEX_HOME") or home / ".codex")
    places = (worktree / ".codex", worktree / ".agents", own, home / ".agents")
    return (_COMPACT, *(found for place in places for found in skills_in(place / "skills")))


class Commands:
    """Those of a session's worktree; `tell` hears of them as soon as the program lists them."""

    def __init__(
        self,
        server: CodexServer,
        worktree: Path,
        tell: Callable[[CommandsKnown], Awaitable[None]],
    ) -> None:
        self._server = server
        self._worktree = worktree
        self._telling = asyncio.create_task(self._tell(tell))

    async def input_of(self, prompt: Prompt) -> list[Json]:
        """A message as the program takes it, with the skill that it begins with."""
        name, _, more = prompt.text.strip().removeprefix("/").partition(" ")
        skill = (await self._skills()).get(name) if prompt.text.lstrip().startswith("/") else None
        if skill is None:
            return codex_prompt.said(prompt, self._worktree)
        called = replace(prompt, text=f"${name} {more}".rstrip())
        place = {"type": "skill", "name": name, "path": skill["path"]}
        return [*codex_prompt.said(called, self._worktree), place]

    def close(self) -> None:
        """Nobody listens any more."""
        self._telling.cancel()

    async def _tell(self, tell: Callable[[CommandsKnown], Awaitable[None]]) -> None:
        skills = [_described(skill) for skill in (await self._skills()).values()]
        await tell(CommandsKnown((_COMPACT, *skills)))

    async def _skills(self) -> dict[str, Json]:
        """By their names; none where the program does not list them."""
        try:
            asked = {"cwds": [str(self._worktree)]}
            told = (await self._server.rpc.request("skills/list", asked)).get("data")
        except SpinneyError:
            return {}
        listed = (skill for place in _objects(told) for skill in _objects(place.get("skills")))
        return {str(skill["name"]): skill for skill in listed if _is_usable(skill)}


def _objects(told: object) -> list[Json]:
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def _is_usable(skill: Json) -> bool:
    words = (skill.get("name"), skill.get("path"))
    return skill.get("enabled") is True and all(isinstance(word, str) for word in words)


def _described(skill: Json) -> AgentCommand:
    shown = skill.get("interface")
    short = shown.get("shortDescription") if isinstance(shown, dict) else None
    description = short or skill.get("shortDescription") or skill.get("description")
    return AgentCommand(name=str(skill["name"]), description=str(description or ""))
