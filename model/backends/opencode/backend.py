"""OpenCode behind the language of backends: sessions share one `opencode serve`, each as one of its
conversations, driven by calls and its stream of events. Tried with 1.18.33.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from model.backends import base
from model.backends.base import Launch
from model.backends.opencode import commands as opencode_commands
from model.backends.opencode import model_list
from model.backends.opencode import program as opencode_program
from model.backends.opencode.model_list import Own
from model.backends.opencode.models import Models
from model.backends.opencode.rules import Rules
from model.backends.opencode.server import NAME, OpenCodeServer
from model.backends.opencode.server_pool import UNUSED_LIMIT, OpenCodeServers
from model.backends.opencode.session import OpenCodeSession
from model.backends.process import agent_environment
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand

Call = Callable[..., Awaitable[Any]]
"""Calls the server for one session."""

_NAME: Final = re.compile(r"ses_\w+")


class OpenCodeBackend:
    """The `opencode` program of the person's own installation, with their own providers."""

    name = "backend_c"

    def __init__(self, folder: Path, unused_limit: float = UNUSED_LIMIT) -> None:
        self._worktrees = folder / "worktrees.json"
        """The variables of each worktree, for the commands that agents run there."""
        self._variables: dict[str, Mapping[str, str]] = {}
        self._saving = asyncio.Lock()
        self._servers = OpenCodeServers(unused_limit)

    async def probe(self) -> base.Probe:
        """Look for the program, its version and its providers."""
        return await opencode_program.probe()

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """Those of the project and the person; the program's built-in ones it tells itself."""
        found = agent_environment(environment)
        return await asyncio.to_thread(opencode_commands.in_files, worktree, found)

    def models_stand_on(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the person's configuration and their sign-in."""
        return [*opencode_program.PROGRAM.files(), *model_list.persons_files(environment)]

    async def open(self, launch: Launch) -> OpenCodeSession:
        """Begin a conversation, or resume one; one that is gone begins afresh."""
        environment = opencode_program.environment(launch, self._worktrees)
        program = await opencode_program.PROGRAM.find(environment.get("PATH"))
        self._variables[str(launch.worktree)] = opencode_program.own_variables(launch)
        async with self._saving:
            await asyncio.to_thread(self._save_variables)
        server = await self._servers.take(program, environment)
        try:
            async with server.beginnings:
                return await self._begin(server, launch)
        except BaseException:
            self._servers.give_back(server)
            raise

    async def close(self) -> None:
        """End the servers."""
        await self._servers.close()

    async def _begin(self, server: OpenCodeServer, launch: Launch) -> OpenCodeSession:
        call = partial(server.call, directory=launch.worktree, record=launch.record)
        agents = await call("GET", "/agent")
        Rules.of(agents)  # before anything begins that they do not hold for
        known = await _known(call, launch.resume_token) if launch.resume_token else None
        conversation = known or await _new(call)
        own = Own.of(await call("GET", "/config"))
        models = Models(await call("GET", "/config/providers"), own)
        session = OpenCodeSession(
            server, launch, conversation, models, agents, lambda: self._servers.give_back(server)
        )
        if models.listed.models:
            await session.tell(base.ModelsKnown(models.listed))
        if launch.resume_token and not known:
            await session.notice(f"{NAME} has lost the conversation so far and begins afresh.")
        return session

    def _save_variables(self) -> None:
        self._worktrees.parent.mkdir(parents=True, exist_ok=True)
        new = self._worktrees.with_suffix(".new")
        new.write_text(json.dumps(self._variables))
        new.replace(self._worktrees)


async def _known(call: Call, token: str) -> str | None:
    """The conversation that is to be resumed; `None` when the program does not have it."""
    if not _NAME.fullmatch(token):
        return None  # the program fails at what is no name of a conversation at all
    try:
        told = await call("GET", f"/session/{token}")
    except SpinneyError as error:
        if error.error_type == "not_found":
            return None
        raise
    return token if _id(told) == token else None


async def _new(call: Call) -> str:
    # With a title the program does not ask a model for one.
    told = await call("POST", "/session", body={"title": "Spinney"})
    conversation = _id(told)
    if not conversation:
        raise SpinneyError(f"{NAME} did not begin a conversation. Try again.", "backend_error")
    return conversation


def _id(told: Any) -> str:
    found = told.get("id") if isinstance(told, Mapping) else None
    return found if isinstance(found, str) else ""
