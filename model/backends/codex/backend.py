"""The backend for Codex: a thread of a shared `codex app-server` for each session.

Tested with 0.169.0.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from model.backends import agent_events, base
from model.backends.base import Launch
from model.backends.codex import commands as codex_commands
from model.backends.codex import models, startup_notices, stored_threads
from model.backends.codex import program as codex_program
from model.backends.codex.server import NAME, CodexServer, ServerPool
from model.backends.codex.session import CodexSession
from model.backends.codex.thread import CodexThread, ThreadHeldError, open_thread
from model.backends.process import build_agent_environment
from model.backends.stored_conversations import StoredConversation, StoredTexts
from model.domain.agent_commands import AgentCommand

_COPY_NOTE: Final = agent_events.ConversationNote(
    f"{NAME}'s own screen has this conversation open, so it goes on in a copy here. What is said"
    " there from now on stays there.",
    each_time=True,
)

_HELD_ATTEMPTS: Final = 4
_HELD_PAUSE: Final = 0.5
"""Seconds; a killed program releases its conversations only when it has exited."""


class CodexBackend:
    """The user's own installation of `codex`, with their own sign-in."""

    name = "backend_b"
    can_fork = True

    def __init__(self) -> None:
        self._servers = ServerPool()
        self._shown_notes: set[str] = set()

    async def probe(self) -> base.Probe:
        """Look up the program, its version and its sign-in."""
        return await codex_program.probe()

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The project's and the user's commands, and the built-in ones."""
        variables = build_agent_environment(environment)
        return await asyncio.to_thread(codex_commands.find_commands, worktree, variables)

    def list_model_sources(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the user's configuration and their sign-in."""
        return [*codex_program.PROGRAM.list_files(), *models.user_files(environment)]

    async def open(self, launch: Launch) -> CodexSession:
        """Open a thread; if the program no longer has the conversation, start a new one."""
        environment = codex_program.build_environment(launch)
        program = await codex_program.PROGRAM.find(environment.get("PATH"))
        server = await self._servers.lease(program, environment)
        try:
            await server.check_account()
            thread = await self._open_thread(server, launch)
        except BaseException:
            self._servers.release(server)
            raise
        session = CodexSession(server, launch, thread, lambda: self._servers.release(server))
        if (listed := server.models.to_model_list(thread.config)).models:
            await session.emit(agent_events.ModelsListed(listed))
        if thread.is_replacement:
            text = f"{NAME} no longer has the earlier conversation and started a new one."
            await session.emit(agent_events.Notice(text))
        if thread.is_copy:
            await session.emit(_COPY_NOTE)
        if thread.mcp_servers:
            await session.emit(agent_events.McpServersListed(thread.mcp_servers))
        if not launch.text_only:
            settings = map(startup_notices.describe_warning, server.take_warnings())
            hooks = await startup_notices.find_ignored(session.rpc, str(launch.worktree))
            notes = [note for note in (*settings, *self._filter_new(hooks)) if note]
            await session.emit(*session.startup_events, *map(agent_events.ConversationNote, notes))
        return session

    def _filter_new(self, notes: list[str]) -> list[str]:
        """The notes not shown in any session yet; each one is shown once."""
        new = [note for note in notes if note not in self._shown_notes]
        self._shown_notes.update(new)
        return new

    async def list_conversations(self, launch: Launch) -> Sequence[StoredConversation]:
        """The threads that the program lists for the worktree; it is started if it has any."""
        home = codex_commands.find_home(codex_program.build_environment(launch))
        if not await asyncio.to_thread((home / "sessions").is_dir):
            return []
        async with self._lease(launch) as server:
            return await stored_threads.list_threads(server.rpc, launch.worktree)

    async def read_texts(self, launch: Launch, token: str) -> StoredTexts | None:
        """The texts of a thread."""
        async with self._lease(launch) as server:
            return await stored_threads.read_thread(server.rpc, token)

    def build_resume_command(self, token: str) -> Sequence[str]:
        """`codex resume ID`."""
        return ("codex", "resume", token)

    async def release(self) -> bool:
        """End unused servers: they hold the threads that they have opened."""
        await self._servers.close_unused()
        return not self._servers.is_used

    @asynccontextmanager
    async def _lease(self, launch: Launch) -> AsyncIterator[CodexServer]:
        environment = codex_program.build_environment(launch)
        program = await codex_program.PROGRAM.find(environment.get("PATH"))
        server = await self._servers.lease(program, environment)
        try:
            yield server
        finally:
            self._servers.release(server)

    async def close(self) -> None:
        """End the shared servers."""
        await self._servers.close()

    async def _open_thread(self, server: CodexServer, launch: Launch) -> CodexThread:
        token = None if launch.text_only else launch.resume_token
        for _ in range(_HELD_ATTEMPTS):
            try:
                return await open_thread(
                    server, launch, launch.settings, token, fork_at=launch.fork_at
                )
            except ThreadHeldError:
                # It may be held by one of our servers that is no longer used.
                await self._servers.close_unused()
                await asyncio.sleep(_HELD_PAUSE)
        # The program's own screen leaves a server that holds it even after it was closed (0.169).
        return await open_thread(server, launch, launch.settings, token, copies=True)
