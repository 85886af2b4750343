"""The demo agent behind the language of backends: its program's JSON lines and their meaning.

To the program go `open`, `prompt`, `stop`, `reply` and `mode`; from it come `text`, `tool`,
`output`, `result`, `plan`, `question`, `permission`, `withdrawn`, `mode`, `finished` and `failed`.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends import base
from model.backends.process import AgentProcess, Said, Unreadable, agent_environment
from model.backends.process_channel import AgentLink
from model.backends.traffic import Record
from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, directories
from model.domain.resources import AgentCommand, ExecutionMode, Question, Usage

PROGRAM: Final = Path(__file__).with_name("agent.py")

COMMANDS: Final = (
    AgentCommand(
        name="demo", description="Say what the agent shall do", argument_hint="[help | …]"
    ),
)


class DemoBackend:
    """An agent that needs nothing but Python: for trying Spinney, and for its tests."""

    name = "demo"

    def __init__(self, memory: Path | None = None) -> None:
        """Conversations are remembered in the directory `memory`, never in a worktree."""
        self._memory = memory or directories().data / "demo"

    async def probe(self) -> base.Probe:
        """It ships with Spinney, so it is always there."""
        return base.Probe(program=str(PROGRAM), signed_in=True)

    async def commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The same everywhere."""
        return COMMANDS

    async def open(self, launch: base.Launch) -> "DemoSession":
        """Start the program in the worktree."""
        await asyncio.to_thread(create_private_directory, self._memory)
        process = await AgentProcess.start(
            [sys.executable, "-I", str(PROGRAM)],
            launch.worktree,
            agent_environment(launch.environment),
            launch.record,
        )
        agent = DemoSession(process, launch.record)
        token = launch.resume_token or launch.session_id
        memory = self._memory / f"{Path(token).name}.jsonl"
        if launch.text_only:
            memory = Path(os.devnull)
        await agent.introduce(token, launch.settings.mode, memory, text_only=launch.text_only)
        return agent

    async def close(self) -> None:
        """Nothing is shared."""


class DemoSession:
    """One session's demo agent; see `base.Agent` for what the calls promise."""

    def __init__(self, process: AgentProcess, record: Record) -> None:
        self._link = AgentLink("The demo agent", process, self._on_line, record)
        self._mode: ExecutionMode = "plan"

    async def introduce(
        self, token: str, mode: ExecutionMode, memory: Path, *, text_only: bool
    ) -> None:
        """Say which conversation this is; `memory` holds what was said in it before."""
        self._mode = mode
        opening = {"type": "open", "mode": mode, "memory": str(memory), "text_only": text_only}
        await self._link.write(opening)
        await self._link.tell(base.ConversationIdentified(token))

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What the agent tells, until its program has ended."""
        return self._link.events()

    async def send(self, prompt: base.Prompt) -> None:
        """Start a turn."""
        attached = [f"@{path}" for path in (*prompt.files, *prompt.images)]
        text = "\n".join([prompt.text, *attached])
        await self._link.start_turn({"type": "prompt", "text": text})

    async def stop(self) -> None:
        """Interrupt the turn, whatever it is at."""
        await self._link.stop(self._ask_to_stop)

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        """Carry the plan out in the mode of `settings`."""
        self._mode = settings.mode
        await self._reply(request_id, mode=settings.mode, plan=plan)

    async def discuss(self, request_id: str, comment: base.Prompt) -> None:
        """Go on in plan mode with this comment."""
        await self._reply(request_id, comment=comment.text_with_paths)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the question."""
        await self._reply(request_id, answers=dict(answers))

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow or deny."""
        await self._reply(request_id, decision=decision, reason=reason)

    async def configure(self, settings: base.Settings) -> None:
        """Change the mode; this agent has no models and thinks as it likes."""
        if settings.mode != self._mode:
            self._mode = settings.mode
            await self._link.write({"type": "mode", "mode": settings.mode})

    async def close(self) -> None:
        """End the program and all that it started."""
        await self._link.close(self._ask_to_stop)

    async def _ask_to_stop(self) -> None:
        await self._link.write({"type": "stop"})

    async def _reply(self, request_id: str, **fields: Any) -> None:
        await self._link.write({"type": "reply", "request_id": request_id, **fields})

    async def _on_line(self, line: Said | Unreadable) -> None:
        match line:
            case Said(value):
                event = _event(value)
                if isinstance(event, base.ModeChanged):
                    self._mode = event.mode
                await self._link.tell(event)
            case Unreadable(reason, text):
                error = f"The demo agent wrote something unreadable ({reason}): {text}"
                await self._link.tell(base.TurnFailed(error, "backend_error"))
                await self._link.process.kill()


def _event(said: dict[str, Any]) -> base.AgentEvent:
    match said["type"]:
        case "text":
            return base.TextDelta(said["block"], said["text"], said.get("kind", "text"))
        case "tool":
            return base.ToolUse(said["id"], said["name"], said["input"])
        case "output":
            return base.ToolOutput(said["id"], said["text"], is_whole=True)
        case "result":
            return base.ToolResult(said["id"], said["content"], said["is_error"])
        case "plan":
            return base.PlanProposed(said["request_id"], said["text"])
        case "question":
            questions = tuple(Question.model_validate(each) for each in said["questions"])
            return base.QuestionAsked(said["request_id"], questions)
        case "permission":
            return base.PermissionAsked(
                said["request_id"],
                said["tool_name"],
                said["input"],
                said["description"],
                said["tool"],
            )
        case "withdrawn":
            return base.RequestWithdrawn(said["request_id"])
        case "mode":
            return base.ModeChanged(said["mode"])
        case "finished":
            return base.TurnFinished(
                said["stop_reason"],
                Usage.model_validate(said["usage"]),
                said["context_tokens"],
                said["context_window"],
            )
        case "failed":
            usage = Usage.model_validate(said["usage"])
            kind = said.get("error_type", "backend_error")
            return base.TurnFailed(said["error"], kind, usage, said.get("retry_after"))
        case other:
            raise SpinneyError(f"The demo agent says an unknown word: {other}", "backend_error")
