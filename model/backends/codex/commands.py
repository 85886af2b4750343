"""Codex's commands in messages: skills, which Codex calls `$name`, and built-in commands."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from model.backends.agent_events import CommandsListed
from model.backends.base import Prompt
from model.backends.codex import builtins
from model.backends.codex import prompt as codex_prompt
from model.backends.command_files import read_skills
from model.backends.json_rpc import JsonRpc
from model.backends.json_values import Json, as_object, as_objects
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand


def find_commands(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """Built-in commands and the project's and user's skills. Reads files: call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    folders = (
        worktree / ".codex",
        worktree / ".agents",
        find_home(environment),
        home / ".agents",
    )
    return (
        *builtins.COMMANDS,
        *(found for folder in folders for found in read_skills(folder / "skills")),
    )


def find_home(environment: Mapping[str, str]) -> Path:
    """The program's folder, with its configuration and its conversations."""
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("CODEX_HOME") or home / ".codex")


class CommandLoader:
    """The commands in a session's worktree; `emit` gets them once the program has listed them."""

    def __init__(
        self,
        rpc: JsonRpc,
        worktree: Path,
        environment: Mapping[str, str],
        emit: Callable[[CommandsListed], Awaitable[None]],
    ) -> None:
        self._rpc = rpc
        self._worktree = worktree
        self._home = find_home(environment)
        self._listing = asyncio.create_task(self._emit_commands(emit))

    async def parse_command(self, text: str) -> builtins.BuiltinCommand | str | None:
        """See `builtins.parse_command`."""
        if not text.lstrip().startswith("/"):
            return None
        return await asyncio.to_thread(builtins.parse_command, text, self._home)

    async def build_input(self, prompt: Prompt) -> list[Json]:
        """The program's input for a message, with the skill that it begins with, if any."""
        name, _, more = prompt.text.strip().removeprefix("/").partition(" ")
        skill = (
            (await self._list_skills()).get(name) if prompt.text.lstrip().startswith("/") else None
        )
        if skill is None:
            return codex_prompt.build_message(prompt, self._worktree)
        rewritten = replace(prompt, text=f"${name} {more}".rstrip())
        reference = {"type": "skill", "name": name, "path": skill["path"]}
        return [*codex_prompt.build_message(rewritten, self._worktree), reference]

    def close(self) -> None:
        """Cancel the listing: events are no longer read."""
        self._listing.cancel()

    async def _emit_commands(self, emit: Callable[[CommandsListed], Awaitable[None]]) -> None:
        skills = [_to_command(skill) for skill in (await self._list_skills()).values()]
        await emit(CommandsListed((*builtins.COMMANDS, *skills)))

    async def _list_skills(self) -> dict[str, Json]:
        """Usable skills by name; none if the program does not list them."""
        try:
            params = {"cwds": [str(self._worktree)]}
            data = (await self._rpc.request("skills/list", params)).get("data")
        except SpinneyError:
            return {}
        listed = (
            skill for folder in as_objects(data) for skill in as_objects(folder.get("skills"))
        )
        return {str(skill["name"]): skill for skill in listed if _is_usable(skill)}


def _is_usable(skill: Json) -> bool:
    fields = (skill.get("name"), skill.get("path"))
    return skill.get("enabled") is True and all(isinstance(field, str) for field in fields)


def _to_command(skill: Json) -> AgentCommand:
    short = as_object(skill.get("interface")).get("shortDescription")
    description = short or skill.get("shortDescription") or skill.get("description")
    return AgentCommand(name=str(skill["name"]), description=str(description or ""))
