"""The demo agent's backend: translates between its program's JSON lines and backend events.

It sends `open`, `prompt`, `steer`, `take_back`, `stop`, `reply` and `mode`, and receives `text`,
`tool`, `output`, `result`, `plan`, `question`, `permission`, `withdrawn`, `taken`, `taken_back`,
`mode`, `finished` and `failed`.
"""

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends import agent_events, base
from model.backends.process import AgentProcess, InvalidLine, JsonLine, build_agent_environment
from model.backends.process_channel import ProcessChannel
from model.backends.traffic import TrafficRecorder
from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, resolve_directories
from model.domain.agent_commands import AgentCommand
from model.domain.modes import ExecutionMode
from model.domain.requests import Question
from model.domain.usage import Usage, UsageWindow

PROGRAM: Final = Path(__file__).with_name("agent.py")

_ANSWER_TIMEOUT: Final = 2.0
"""Seconds in which the program answers whether it could forget a message."""

COMMANDS: Final = (
    AgentCommand(
        name="demo", description="Control what the agent does", argument_hint="[help | …]"
    ),
)


class DemoBackend:
    """An agent that needs only Python: for trying out Spinney, and for its tests."""

    name = "demo"
    can_fork = True

    def __init__(self, memory: Path | None = None) -> None:
        """Conversations are stored in the directory `memory`, never in a worktree."""
        self._memory = memory or resolve_directories().data / "demo"

    async def probe(self) -> base.Probe:
        """Always available, as the program ships with Spinney."""
        return base.Probe(program=str(PROGRAM), signed_in=True)

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        """The commands, which are the same in every worktree."""
        return COMMANDS

    async def open(self, launch: base.Launch) -> "DemoSession":
        """Start the program in the worktree."""
        await asyncio.to_thread(create_private_directory, self._memory)
        token = launch.resume_token or launch.session_id
        if launch.fork_at is not None:
            token = await asyncio.to_thread(self._copy_memory, token, launch.fork_at)
        process = await AgentProcess.start(
            [sys.executable, "-I", str(PROGRAM)],
            launch.worktree,
            build_agent_environment(launch.environment),
            launch.recorder,
        )
        agent = DemoSession(process, launch.recorder)
        memory = self._file_of(token)
        if launch.text_only:
            memory = Path(os.devnull)
        await agent.introduce(token, launch.settings.mode, memory, text_only=launch.text_only)
        return agent

    async def close(self) -> None:
        """Do nothing: sessions share no process."""

    def _file_of(self, token: str) -> Path:
        return self._memory / f"{Path(token).name}.jsonl"

    def _copy_memory(self, token: str, mark: str) -> str:
        """Copy the first `mark` messages of a conversation to a new one; return its token."""
        try:
            lines = self._file_of(token).read_text(errors="replace").splitlines(keepends=True)
        except OSError:
            lines = []
        if not mark.isdecimal() or not 0 < int(mark) <= len(lines):
            raise base.CannotForkError(base.lost_turn_reason("The demo agent"))
        copy = str(uuid.uuid4())
        self._file_of(copy).write_text("".join(lines[: int(mark)]))
        return copy


class DemoSession:
    """The demo agent of one session; see `base.Agent` for the contract of its methods."""

    def __init__(self, process: AgentProcess, record: TrafficRecorder) -> None:
        self._link = ProcessChannel("The demo agent", process, self._on_line, record)
        self._mode: ExecutionMode = "plan"
        self._taking_back: dict[str, asyncio.Future[bool]] = {}

    async def introduce(
        self, token: str, mode: ExecutionMode, memory: Path, *, text_only: bool
    ) -> None:
        """Open the conversation; `memory` is the file with its earlier messages."""
        self._mode = mode
        opening = {"type": "open", "mode": mode, "memory": str(memory), "text_only": text_only}
        await self._link.write(opening)
        await self._link.emit(agent_events.ConversationIdentified(token))

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """The agent's events, until its program has exited."""
        return self._link.events()

    async def send(self, prompt: base.Prompt) -> None:
        """Start a turn."""
        await self._link.start_turn({"type": "prompt", "text": _full_text(prompt)})

    async def stop(self) -> None:
        """Interrupt the turn in any state."""
        await self._link.stop(self._send_stop)

    async def steer(self, message_id: str, prompt: base.Prompt) -> bool:
        """Send a message into the turn; the program reads it between two of its steps."""
        if not self._link.is_turn_open or self._link.is_stopping:
            return False
        steering = {"type": "steer", "id": message_id, "text": _full_text(prompt)}
        await self._link.write(steering)
        return True

    async def take_back(self, message_id: str) -> bool:
        """Withdraw a message that the program has not read."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._taking_back[message_id] = answer
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                await self._link.write({"type": "take_back", "id": message_id})
                return await answer
        except TimeoutError:
            return False
        finally:
            del self._taking_back[message_id]

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        """Execute the plan in the mode of `settings`."""
        self._mode = settings.mode
        await self._reply(request_id, mode=settings.mode, plan=plan)

    async def discuss(self, request_id: str, comment: base.Prompt) -> None:
        """Continue in plan mode with this comment."""
        await self._reply(request_id, comment=comment.text_with_paths)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the question."""
        await self._reply(request_id, answers=dict(answers))

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        """Allow or deny."""
        await self._reply(request_id, decision=decision, reason=reason)

    async def configure(self, settings: base.Settings) -> None:
        """Change the mode; this agent has no models and no thinking levels."""
        if settings.mode != self._mode:
            self._mode = settings.mode
            await self._link.write({"type": "mode", "mode": settings.mode})

    async def close(self) -> None:
        """End the program and all processes that it started."""
        await self._link.close(self._send_stop)

    async def _send_stop(self) -> None:
        await self._link.write({"type": "stop"})

    async def _reply(self, request_id: str, **fields: Any) -> None:
        await self._link.write({"type": "reply", "request_id": request_id, **fields})

    async def _on_line(self, line: JsonLine | InvalidLine) -> None:
        match line:
            case JsonLine({"type": "taken_back", "id": message_id, "ok": is_done}):
                if message_id in self._taking_back:
                    self._taking_back[message_id].set_result(bool(is_done))
            case JsonLine(value):
                event = _event(value)
                if isinstance(event, agent_events.ModeChanged):
                    self._mode = event.mode
                if (
                    isinstance(event, agent_events.TurnFinished | agent_events.TurnFailed)
                    and "mark" in value
                ):
                    await self._link.emit(agent_events.TurnMarked(value["mark"]))
                await self._link.emit(event)
            case InvalidLine(reason, text):
                error = f"The demo agent sent an invalid message ({reason}): {text}"
                await self._link.emit(agent_events.TurnFailed(error, "backend_error"))
                await self._link.process.kill()


def _full_text(prompt: base.Prompt) -> str:
    attached = [f"@{path}" for path in (*prompt.files, *prompt.images)]
    return "\n".join([prompt.text, *attached])


def _event(message: dict[str, Any]) -> agent_events.AgentEvent:
    match message["type"]:
        case "text":
            return agent_events.TextDelta(
                message["block"], message["text"], message.get("kind", "text")
            )
        case "tool":
            return agent_events.ToolUse(message["id"], message["name"], message["input"])
        case "output":
            return agent_events.ToolOutput(message["id"], message["text"], is_whole=True)
        case "result":
            return agent_events.ToolResult(message["id"], message["content"], message["is_error"])
        case "plan":
            return agent_events.PlanProposed(message["request_id"], message["text"])
        case "question":
            questions = tuple(Question.model_validate(each) for each in message["questions"])
            return agent_events.QuestionAsked(message["request_id"], questions)
        case "permission":
            return agent_events.PermissionRequested(
                message["request_id"],
                message["tool_name"],
                message["input"],
                message["description"],
                message["tool"],
            )
        case "taken":
            return agent_events.SteerTaken(message["id"])
        case "withdrawn":
            return agent_events.RequestWithdrawn(message["request_id"])
        case "mode":
            return agent_events.ModeChanged(message["mode"])
        case "limits":
            windows = (UsageWindow.model_validate(window) for window in message["windows"])
            return agent_events.LimitsReported(tuple(windows))
        case "usage":
            usage = Usage.model_validate(message["usage"])
            return agent_events.UsageReported(usage, message["cost_usd"])
        case "finished":
            return agent_events.TurnFinished(
                message["stop_reason"],
                Usage.model_validate(message["usage"]),
                message["context_tokens"],
                message["context_window"],
                message["cost_usd"],
            )
        case "failed":
            usage = Usage.model_validate(message["usage"])
            kind = message.get("error_type", "backend_error")
            seconds, limit = message.get("retry_after"), message.get("limit")
            cost = message.get("cost_usd")
            return agent_events.TurnFailed(
                message["error"], kind, usage, seconds, limit, cost_usd=cost
            )
        case other:
            raise SpinneyError(f"The demo agent sent an unknown message: {other}", "backend_error")
