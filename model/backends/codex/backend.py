"""Codex behind the language of backends: a thread of a shared `codex app-server` for each session.
Tried with 0.169.0.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.backends import base
from model.backends.base import Launch
from model.backends.codex import commands as codex_commands
from model.backends.codex import models, startup_notices
from model.backends.codex import program as codex_program
from model.backends.codex.server import NAME, CodexServer, Servers
from model.backends.codex.session import CodexSession
from model.backends.codex.thread import Thread, ThreadHeldError, open_thread
from model.backends.process import agent_environment
from model.domain.resources import AgentCommand

_HELD_TRIES: Final = 4
_HELD_PAUSE: Final = 0.5
"""Seconds; a program that was killed lets go of its conversations when it is really gone."""


class CodexBackend:
    """The `codex` program of the person's own installation, with their own sign-in."""

    name = "backend_b"

    def __init__(self) -> None:
        self._servers = Servers()
        self._told: set[str] = set()

    async def probe(self) -> base.Probe:
        """Look for the program, its version and its sign-in."""
        return await codex_program.probe()

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """Those of the project and the person; the program's built-in ones it tells itself."""
        found = agent_environment(environment)
        return await asyncio.to_thread(codex_commands.in_files, worktree, found)

    def models_stand_on(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the person's configuration and their sign-in."""
        return [*codex_program.PROGRAM.files(), *models.persons_files(environment)]

    async def open(self, launch: Launch) -> CodexSession:
        """Open a thread; a conversation that the program does not know any more begins afresh."""
        environment = codex_program.shared_environment(launch)
        program = await codex_program.PROGRAM.find(environment.get("PATH"))
        server = await self._servers.lease(program, environment)
        try:
            await server.check_account()
            thread = await self._thread(server, launch)
        except BaseException:
            self._servers.release(server)
            raise
        session = CodexSession(server, launch, thread, lambda: self._servers.release(server))
        if (known := server.models.listed(thread.own)).models:
            await session.tell(base.ModelsKnown(known))
        if thread.is_lost:
            lost = f"{NAME} has lost the conversation so far and begins afresh."
            await session.tell(base.Notice(lost))
        if thread.servers:
            await session.tell(base.McpServersSeen(thread.servers))
        if not launch.text_only:
            settings = map(startup_notices.of_settings, server.warnings())
            hooks = await startup_notices.left_out(session.rpc, str(launch.worktree))
            notes = [note for note in (*settings, *self._not_told(hooks)) if note]
            await session.tell(*session.first_words, *map(base.Note, notes))
        return session

    def _not_told(self, notes: list[str]) -> list[str]:
        """Those that no session was told yet: whoever does not want to act reads them once."""
        new = [note for note in notes if note not in self._told]
        self._told.update(new)
        return new

    async def close(self) -> None:
        """End the shared programs."""
        await self._servers.close()

    async def _thread(self, server: CodexServer, launch: Launch) -> Thread:
        token = None if launch.text_only else launch.resume_token
        for left in reversed(range(_HELD_TRIES)):
            try:
                return await open_thread(server, launch, launch.settings, token)
            except ThreadHeldError:
                if not left:
                    raise
                # It may be a program of ours that nobody uses any more.
                await self._servers.end_unused()
                await asyncio.sleep(_HELD_PAUSE)
        raise AssertionError("the last try returns or raises")
