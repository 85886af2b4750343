"""The OpenCode backend: sessions are conversations of a shared `opencode serve`, driven by HTTP
calls and its event stream. Tested with 1.18.33.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from model.backends import agent_events, base
from model.backends.base import Launch
from model.backends.opencode import commands as opencode_commands
from model.backends.opencode import conversations, model_list, stored_sessions
from model.backends.opencode import program as opencode_program
from model.backends.opencode.conversations import Call
from model.backends.opencode.model_list import ConfiguredModels
from model.backends.opencode.models import Models
from model.backends.opencode.rules import Rules
from model.backends.opencode.server import NAME, OpenCodeServer
from model.backends.opencode.server_pool import IDLE_TIMEOUT, ServerPool
from model.backends.opencode.session import OpenCodeSession
from model.backends.process import build_agent_environment
from model.backends.stored_conversations import StoredConversation, StoredTexts
from model.domain.agent_commands import AgentCommand


class OpenCodeBackend:
    """The user's own installation of `opencode`, with their providers."""

    name = "backend_c"
    can_fork = True

    def __init__(self, folder: Path, idle_timeout: float = IDLE_TIMEOUT) -> None:
        self._worktrees = folder / "worktrees.json"
        """The environment variables of each worktree, for the commands that agents run there."""
        self._variables: dict[str, Mapping[str, str]] = {}
        self._saving = asyncio.Lock()
        self._servers = ServerPool(idle_timeout)

    async def probe(self) -> base.Probe:
        """Find the program, its version and its providers."""
        return await opencode_program.probe()

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The commands of the project and the user; the program reports its built-in ones."""
        variables = build_agent_environment(environment)
        return await asyncio.to_thread(opencode_commands.find_in_files, worktree, variables)

    def list_model_sources(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the user's configuration and their sign-in."""
        return [*opencode_program.PROGRAM.list_files(), *model_list.user_files(environment)]

    async def open(self, launch: Launch) -> OpenCodeSession:
        """Start or resume a conversation; one that no longer exists is started again."""
        environment = opencode_program.build_environment(launch, self._worktrees)
        program = await opencode_program.PROGRAM.find_supported(environment.get("PATH"))
        self._variables[str(launch.worktree)] = opencode_program.worktree_variables(launch)
        async with self._saving:
            await asyncio.to_thread(self._save_variables)
        server = await self._servers.acquire(program, environment)
        try:
            async with server.start_limit:
                return await self._start(server, launch)
        except BaseException:
            self._servers.release(server)
            raise

    async def list_conversations(self, launch: Launch) -> Sequence[StoredConversation]:
        """The sessions that the program lists for the worktree; it is started if it has any."""
        environment = opencode_program.build_environment(launch, self._worktrees)
        if not await asyncio.to_thread(_find_database(environment).exists):
            return []
        async with self._acquire(launch) as call:
            return await stored_sessions.list_sessions(call, launch.worktree)

    async def read_texts(self, launch: Launch, token: str) -> StoredTexts | None:
        """The texts of a session."""
        async with self._acquire(launch) as call:
            return await stored_sessions.read_session(call, token)

    def build_resume_command(self, token: str) -> Sequence[str]:
        """`opencode -s ID`."""
        return ("opencode", "-s", token)

    async def release(self) -> bool:
        """Do nothing: the program holds no conversation for itself."""
        return True

    @asynccontextmanager
    async def _acquire(self, launch: Launch) -> AsyncIterator[Call]:
        environment = opencode_program.build_environment(launch, self._worktrees)
        program = await opencode_program.PROGRAM.find_supported(environment.get("PATH"))
        server = await self._servers.acquire(program, environment)
        try:
            yield partial(server.call, directory=launch.worktree)
        finally:
            self._servers.release(server)

    async def close(self) -> None:
        """End the servers."""
        await self._servers.close()

    async def _start(self, server: OpenCodeServer, launch: Launch) -> OpenCodeSession:
        call = partial(server.call, directory=launch.worktree, record=launch.recorder)
        agents = await call("GET", "/agent")
        Rules.parse(agents)  # raises before anything runs without the rules
        conversation, is_lost = await _open_conversation(call, launch)
        configured = ConfiguredModels.parse(await call("GET", "/config"))
        models = Models(await call("GET", "/config/providers"), configured)
        session = OpenCodeSession(
            server, launch, conversation, models, agents, lambda: self._servers.release(server)
        )
        if models.listed.models:
            await session.emit(agent_events.ModelsListed(models.listed))
        if is_lost:
            await session.notice(
                f"{NAME} no longer knows the conversation so far and starts a new one."
            )
        return session

    def _save_variables(self) -> None:
        self._worktrees.parent.mkdir(parents=True, exist_ok=True)
        new = self._worktrees.with_suffix(".new")
        new.write_text(json.dumps(self._variables))
        new.replace(self._worktrees)


def _find_database(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME") or Path.home())
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return data / "opencode" / "opencode.db"


async def _open_conversation(call: Call, launch: Launch) -> tuple[str, bool]:
    """The launch's conversation; whether it is a new one because the program lost the earlier."""
    token = launch.resume_token
    if token and launch.fork_at:
        return await conversations.fork(call, token, launch.fork_at, launch.worktree), False
    existing = await conversations.find(call, token) if token else None
    return existing or await conversations.create(call), bool(token and not existing)
