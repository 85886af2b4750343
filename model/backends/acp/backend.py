"""Any agent that speaks the Agent Client Protocol behind the language of backends: one process for
each session, as `agents.toml` says. Tried with `opencode acp` 1.18.33, and with an agent of the
tests that the protocol's own Python package holds to its schema.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.agents.agents_file import AgentRow
from model.backends.acp import program as acp_program
from model.backends.acp.program import ProtocolError
from model.backends.acp.session import START_PATIENCE, AcpSession
from model.backends.base import Launch, Probe, Settings
from model.backends.json_rpc import RpcError
from model.backends.process import AgentProcess
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand

_PROBE_PATIENCE: Final = 9.0
"""Seconds to answer a greeting."""


class AcpBackend:
    """One agent of `agents.toml`."""

    def __init__(self, row: AgentRow) -> None:
        self.name = row.name
        self._row = row

    async def probe(self) -> Probe:
        """Look for the program and greet it, which asks no provider."""
        try:
            path = acp_program.environment(self._row, {}).get("PATH")
            program = await acp_program.find(self._row, path)
        except SpinneyError as error:
            return Probe(None, problem=error.message)
        with tempfile.TemporaryDirectory() as nowhere:
            try:
                session = await self._greeted(
                    Launch("", Path(nowhere), Settings("plan")), _PROBE_PATIENCE
                )
            except ProtocolError as error:
                return Probe(program, problem=error.message, supported=False)
            except SpinneyError as error:
                return Probe(program, problem=error.message)
            await session.close()
        return Probe(program, session.can.version, supported=True)

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """None: where an agent keeps them, only the agent knows."""
        return ()

    async def open(self, launch: Launch) -> AcpSession:
        """Start the program; a conversation that it does not know any more begins afresh."""
        session = await self._greeted(launch, START_PATIENCE)
        try:
            await session.begin(launch)
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Nothing is shared."""

    async def _greeted(self, launch: Launch, patience: float) -> AcpSession:
        """The running program, as far as its greeting."""
        environment = acp_program.environment(self._row, launch.environment)
        program = await acp_program.find(self._row, environment.get("PATH"))
        acp_program.hide_secrets(self._row, launch.record)
        command = [program, *self._row.args]
        process = await AgentProcess.start(command, launch.worktree, environment, launch.record)
        session = AcpSession(self._row, process, launch)
        try:
            await session.greet(patience)
        except BaseException as error:
            await process.settled()
            hangs = process.returncode is None and not isinstance(error, RpcError)
            within = f" within {patience:g} seconds" if hangs else ""
            await process.kill()
            await session.close()
            if not isinstance(error, SpinneyError) or error.error_type == "backend_unavailable":
                raise
            tail = f" Its last words: {process.stderr_tail}" if process.stderr_tail else ""
            raise SpinneyError(
                f"{self._row.label} did not answer as an agent of the Agent Client"
                f" Protocol{within}. Check"
                f" its command and arguments in agents.toml.{tail}",
                "backend_unavailable",
            ) from error
        return session
