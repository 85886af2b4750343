"""The backend for Claude Code: one long-lived `claude` process for each session, driven over its
stream-json protocol. Tested with 2.1.197, 2.1.329 and 2.1.330.
"""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from model.backends import base
from model.backends.base import Launch
from model.backends.claude import commands as claude_commands
from model.backends.claude import models, transcripts
from model.backends.claude import program as claude_program
from model.backends.claude.edits import Edits
from model.backends.claude.second_writer import SecondWriter
from model.backends.claude.session import NAME, ClaudeSession, with_user_effort
from model.backends.process import AgentProcess, build_agent_environment
from model.backends.stored_conversations import StoredConversation, StoredTexts
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand

_UNKNOWN_CONVERSATION: Final = ("No conversation found", "No message found")
_UNKNOWN_OPTION: Final = "unknown option"


class ClaudeBackend:
    """The user's own installation of `claude`, with their own sign-in."""

    name = "backend_a"
    can_fork = True

    async def probe(self) -> base.Probe:
        """Look up the program, its version and its sign-in."""
        return await claude_program.probe()

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The project's and the user's commands, and the built-in one that is always there.

        The program reports all others itself once it runs.
        """
        variables = build_agent_environment(environment)
        found = await asyncio.to_thread(claude_commands.find_commands, worktree, variables)
        return (*found, claude_commands.COMPACT)

    def list_model_sources(self, environment: Mapping[str, str]) -> list[Path]:
        """The program, the user's settings and their sign-in."""
        return [*claude_program.PROGRAM.list_files(), *models.user_files(environment)]

    async def open(self, launch: Launch) -> ClaudeSession:
        """Start the program; if it no longer has the conversation, start a new one."""
        environment = claude_program.build_environment(launch)
        launch = replace(launch, settings=await with_user_effort(launch, launch.settings))
        program = await claude_program.PROGRAM.find(environment.get("PATH"))
        if launch.resume_token and launch.fork_at:
            return await self._fork(program, launch, environment)
        if launch.resume_token:
            known = ("--resume", launch.resume_token)
            session = await self._start(program, launch, environment, known)
            if session is not None:
                return session
        fresh = ("--session-id", str(uuid.uuid4()))
        session = await self._start(program, launch, environment, fresh)
        if session is None:
            raise SpinneyError(f"{NAME} did not start a conversation. Try again.", "backend_error")
        if launch.resume_token:
            await session.notify(
                f"{NAME} no longer has the earlier conversation and started a new one."
            )
        return session

    async def list_conversations(self, launch: Launch) -> Sequence[StoredConversation]:
        """The conversations in the program's files."""
        config = _find_config(launch)
        return await asyncio.to_thread(transcripts.list_transcripts, config, launch.worktree)

    async def read_texts(self, launch: Launch, token: str) -> StoredTexts | None:
        """The texts in the conversation's file."""
        arguments = _find_config(launch), launch.worktree, token
        return await asyncio.to_thread(transcripts.read_transcript, *arguments)

    def build_resume_command(self, token: str) -> Sequence[str]:
        """`claude --resume ID`."""
        return ("claude", "--resume", token)

    async def release(self) -> bool:
        """Do nothing: a conversation is held by its session's process alone."""
        return True

    async def close(self) -> None:
        """Do nothing: sessions share nothing."""

    async def _fork(
        self, program: str, launch: Launch, environment: dict[str, str]
    ) -> ClaudeSession:
        copy = (
            *("--resume", str(launch.resume_token)),
            *("--resume-session-at", str(launch.fork_at), "--fork-session"),
            *("--session-id", str(uuid.uuid4())),
        )
        session = await self._start(program, launch, environment, copy)
        if session is None:
            raise base.CannotForkError(base.lost_turn_reason(NAME))
        return session

    async def _start(
        self,
        program: str,
        launch: Launch,
        environment: dict[str, str],
        conversation: tuple[str, ...],
    ) -> ClaudeSession | None:
        """Start a session; `None` if the program does not have the conversation or its turn.

        The last argument of `conversation` is the id.
        """
        command = claude_program.build_command(program, launch, conversation)
        process = await AgentProcess.start(command, launch.worktree, environment, launch.recorder)
        plans = claude_program.find_plans_folder(environment, launch.worktree)
        edits = Edits(launch.worktree, plans)
        writer = SecondWriter(_find_config(launch), launch.worktree)
        session = ClaudeSession(process, launch, conversation[-1], edits, writer)
        try:
            await session.initialize(claude_program.build_profile(launch), launch)
        except SpinneyError as error:
            await process.wait_settled()
            code = process.returncode
            await session.close()
            if any(text in process.stderr_tail for text in _UNKNOWN_CONVERSATION):
                return None
            if error.error_type != "timeout" and code is None:
                raise  # the program refused a request
            text = _describe_start_failure(code, process.stderr_tail)
            raise SpinneyError(text, "backend_unavailable") from error
        except BaseException:  # canceled: the process is no longer needed
            await process.kill()
            await session.close()
            raise
        return session


def _find_config(launch: Launch) -> Path:
    environment = claude_program.build_environment(launch)
    return launch.worktree / models.find_config_folder(environment)


def _describe_start_failure(code: int | None, stderr: str) -> str:
    """Why the start failed; `code` is the exit code, `None` if the program had to be killed."""
    if _UNKNOWN_OPTION in stderr:
        return claude_program.PROGRAM.outdated_message()
    if stderr:
        return f"{NAME} did not start: {stderr}"
    how = "did not respond" if code is None else f"exited immediately (exit code {code})"
    return f"{NAME} {how} at startup. To see why, run in a terminal: claude"
