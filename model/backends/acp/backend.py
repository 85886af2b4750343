"""The backend for agents of `agents.toml` that speak the Agent Client Protocol: one process per
session. Tested with `opencode acp` 1.18.33, and with a test agent whose messages the protocol's own
Python package validates against its schema.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.agents.agents_file import AgentRow
from model.backends.acp import program as acp_program
from model.backends.acp.program import ProtocolError
from model.backends.acp.session import START_TIMEOUT, AcpSession
from model.backends.base import Launch, Probe, Settings
from model.backends.json_rpc import RpcError
from model.backends.process import AgentProcess
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand

_PROBE_TIMEOUT: Final = 9.0
"""Seconds to answer `initialize`."""


class AcpBackend:
    """One agent of `agents.toml`."""

    can_fork = False

    def __init__(self, row: AgentRow) -> None:
        self.name = row.name
        self._row = row

    async def probe(self) -> Probe:
        """Find the program and initialize it, which contacts no provider."""
        try:
            path = acp_program.environment(self._row, {}).get("PATH")
            program = await acp_program.find_program(self._row, path)
        except SpinneyError as error:
            return Probe(None, problem=error.message)
        with tempfile.TemporaryDirectory() as folder:
            try:
                session = await self._start(
                    Launch("", Path(folder), Settings("plan")), _PROBE_TIMEOUT
                )
            except ProtocolError as error:
                return Probe(program, problem=error.message, supported=False)
            except SpinneyError as error:
                return Probe(program, problem=error.message)
            await session.close()
        return Probe(program, session.capabilities.version, supported=True)

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """Return none: only the running agent knows its commands."""
        return ()

    async def open(self, launch: Launch) -> AcpSession:
        """Start the program; a conversation that it no longer knows is started again."""
        session = await self._start(launch, START_TIMEOUT)
        try:
            await session.start_conversation(launch)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Do nothing: sessions share no process."""

    async def _start(self, launch: Launch, timeout: float) -> AcpSession:
        """Start the program and wait until it is initialized."""
        environment = acp_program.environment(self._row, launch.environment)
        program = await acp_program.find_program(self._row, environment.get("PATH"))
        acp_program.hide_secrets(self._row, launch.recorder)
        command = [program, *self._row.args]
        process = await AgentProcess.start(command, launch.worktree, environment, launch.recorder)
        session = AcpSession(self._row, process, launch)
        try:
            await session.initialize(timeout)
        except BaseException as error:
            await process.wait_settled()
            hangs = process.returncode is None and not isinstance(error, RpcError)
            within = f" within {timeout:g} seconds" if hangs else ""
            await process.kill()
            await session.close()
            if not isinstance(error, SpinneyError) or error.error_type == "backend_unavailable":
                raise
            tail = f" Its last output: {process.stderr_tail}" if process.stderr_tail else ""
            raise SpinneyError(
                f"{self._row.label} did not respond as an Agent Client Protocol agent{within}."
                f" Check its command and arguments in agents.toml.{tail}",
                "backend_unavailable",
            ) from error
        return session
