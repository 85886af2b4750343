"""Recordings of the real Claude Code: their scenarios, and a process that plays them.

`python -m tests.live.record_claude` records them again. A line of a recording is an object with
one key: `INPUT` for a message that the program received, `OUTPUT` for a line that it wrote.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.backends import agent_events, base
from model.backends.process import AgentProcess
from model.base.errors import SpinneyError
from model.domain.modes import ExecutionMode
from tests.model.backends.agents import Conversation

Json = dict[str, Any]

INPUT = "heard"
OUTPUT = "said"

FOLDER = Path(__file__).parent / "recordings" / "claude"

CONVERSATION = "11111111-1111-4111-8111-111111111111"
"""Placeholder in recordings for the conversation's id."""

HOME = "/home/otter"
"""Placeholder in recordings for the user's home, in which `worktree` is the agent's folder."""

_AGENT = {"description": "Look", "prompt": "bash: echo inner", "subagent_type": "general-purpose"}
_TODO = {"content": "Warp the loom", "status": "pending", "activeForm": "Warping the loom"}


@dataclass(frozen=True)
class Scenario:
    """A conversation in which every request is approved, allowed or answered with `Tea`."""

    mode: ExecutionMode
    prompts: tuple[str, ...]
    model: str = "sonnet"
    stopped_at: type[object] | None = None
    """The event at which the user stops the turn."""

    async def perform(self, conversation: Conversation) -> list[agent_events.AgentEvent]:
        """Send the prompts and respond to requests; return all events."""
        for prompt in self.prompts:
            await conversation.agent.send(base.Prompt(prompt))
            while not isinstance(event := await conversation.until(object), _ENDS):
                await self._react(conversation.agent, event)
        return conversation.events

    async def _react(self, agent: base.Agent, event: object) -> None:
        if self.stopped_at is not None and isinstance(event, self.stopped_at):
            await agent.stop()
            return
        match event:
            case agent_events.PlanProposed(request_id=asked):
                await agent.approve(asked, base.Settings("build", self.model, "think"), None)
            case agent_events.PermissionRequested(request_id=asked):
                await agent.permit(asked, "allow")
            case agent_events.QuestionAsked(request_id=asked, questions=questions):
                await agent.answer(asked, {each.question: "Tea" for each in questions})


_ENDS = (agent_events.TurnFinished, agent_events.TurnFailed)

SCENARIOS: Mapping[str, Scenario] = {
    "thinking": Scenario("build", ("think: about looms and threads",)),
    "edits": Scenario("build", ("write a.txt: hi", "edit a.txt: hi => ho")),
    "plan": Scenario("plan", ("plan: weave a scarf",)),
    "question": Scenario("plan", ("ask: Tea or coffee? | Tea | Coffee",)),
    "permission": Scenario("build", ("bash: python3 -c 'print(6 * 7)'",)),
    "sub-agent": Scenario("yolo", (f"call: Agent {json.dumps(_AGENT)}",)),
    "to-do": Scenario(
        "build", (f"call: TodoWrite {json.dumps({'todos': [_TODO]})}",), "claude-sonnet-4-5"
    ),
    "stopped-text": Scenario("build", ("slow", "say: on"), stopped_at=agent_events.TextDelta),
    "stopped-question": Scenario(
        "build",
        ("ask: Tea or coffee? | Tea | Coffee", "say: on"),
        stopped_at=agent_events.QuestionAsked,
    ),
    "overloaded": Scenario("build", ("error 529", "say: on")),
    "compacted": Scenario("build", ("say: the colour is blue", "/compact", "say: on")),
}


def load_recording(name: str) -> list[Json]:
    """The lines of a recording."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def kind_of(message: Mapping[str, Any]) -> str:
    """The kind of an input message: `user`, `answer`, `interrupt` or `setting`.

    The program confirms a setting immediately.
    """
    match message.get("type"):
        case "control_request":
            request: Json = message["request"]
            return "interrupt" if request["subtype"] == "interrupt" else "setting"
        case "control_response":
            return "answer"
        case _:
            return "user"


Chunks = Callable[[bytes], Iterable[bytes]]


def in_one_piece(data: bytes) -> Iterable[bytes]:
    """The line as one chunk."""
    return [data]


@dataclass
class Player:
    """Plays a recording: writes each part once the input that preceded it has been received."""

    lines: list[Json]
    conversation: str
    home: Path
    chunks: Chunks = in_one_piece
    ended: bool = False
    """Whether there is no more output."""
    _place: int = 0
    _waiting: list[bytes] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def receive(self, value: Mapping[str, Any]) -> None:
        """Continue the recording if it is waiting for input of this kind."""
        kind = kind_of(value)
        if kind == "setting":
            done = {"subtype": "success", "request_id": value["request_id"], "response": {}}
            self._write(json.dumps({"type": "control_response", "response": done}))
        elif self._next_input() == kind:
            self._place += 1
            while self._place < len(self.lines) and self._next_input() is None:
                output = self.lines[self._place][OUTPUT]
                self._write(output if isinstance(output, str) else json.dumps(output))
                self._place += 1

    def end(self) -> None:
        """Write nothing more; what is waiting can still be read."""
        self.ended = True
        self._changed.set()

    async def read(self) -> bytes:
        """The next chunk; empty at the end."""
        while not self._waiting and not self.ended:
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.pop(0) if self._waiting else b""

    def _next_input(self) -> str | None:
        line = self.lines[self._place] if self._place < len(self.lines) else {INPUT: {}}
        return kind_of(line[INPUT]) if INPUT in line else None

    def _write(self, line: str) -> None:
        line = line.replace(CONVERSATION, self.conversation).replace(HOME, str(self.home))
        data = line.encode(errors="replace") + b"\n"
        self._waiting += [chunk for chunk in self.chunks(data) if chunk]
        self._changed.set()


class PlayedProcess(AgentProcess):
    """Replaces a running program by a player; its lines go through the same framing."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._stdout = player  # type: ignore[assignment]

    @property
    def returncode(self) -> int | None:
        return 1 if self.player.ended else None

    @property
    def stderr_tail(self) -> str:
        return ""

    async def write(self, value: Mapping[str, Any]) -> None:
        if self.player.ended:
            raise SpinneyError("It does not listen any more.", "backend_error")
        self.player.receive(value)

    async def wait_settled(self) -> None:
        pass

    def describe_exit(self, name: str) -> str:
        return f"{name} ended."

    async def kill(self) -> None:
        self.player.end()

    async def close(self) -> None:
        self.player.end()
