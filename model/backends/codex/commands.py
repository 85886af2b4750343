"""Codex's own commands in a message: its skills, which it calls `$name`; its screen's own ones."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from model.backends.base import CommandsKnown, Prompt
from model.backends.codex import builtins
from model.backends.codex import prompt as codex_prompt
from model.backends.command_files import skills_in
from model.backends.json_rpc import JsonRpc
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand

Json = dict[str, Any]


def in_files(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """The project's and the person's. Reads files: call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    places = (worktree / ".codex", worktree / ".agents", _home(environment), home / ".agents")
    return (
        *builtins.OFFERED,
        *(found for place in places for found in skills_in(place / "skills")),
    )


def _home(environment: Mapping[str, str]) -> Path:
    """The program's own folder."""
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("CODEX_HOME") or home / ".codex")


class Commands:
    """Those of a session's worktree; `tell` hears of them as soon as the program lists them."""

    def __init__(
        self,
        rpc: JsonRpc,
        worktree: Path,
        environment: Mapping[str, str],
        tell: Callable[[CommandsKnown], Awaitable[None]],
    ) -> None:
        self._rpc = rpc
        self._worktree = worktree
        self._home = _home(environment)
        self._telling = asyncio.create_task(self._tell(tell))

    async def command_in(self, text: str) -> builtins.Command | str | None:
        """See `codex_builtins.command_in`."""
        if not text.lstrip().startswith("/"):
            return None
        return await asyncio.to_thread(builtins.command_in, text, self._home)

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
        await tell(CommandsKnown((*builtins.OFFERED, *skills)))

    async def _skills(self) -> dict[str, Json]:
        """By their names; none where the program does not list them."""
        try:
            asked = {"cwds": [str(self._worktree)]}
            told = (await self._rpc.request("skills/list", asked)).get("data")
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
