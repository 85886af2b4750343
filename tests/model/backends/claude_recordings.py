"""Recordings of the real Claude Code: the conversations that they hold, and a program that plays
them. `python -m tests.live.record_claude` makes them anew.

A line of a recording is `{"heard": …}`, what the program was told, or `{"said": …}`, what it said.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.backends import base
from model.backends.process import AgentProcess
from model.base.errors import SpinneyError
from model.domain.resources import ExecutionMode
from tests.model.backends.agents import Conversation

Json = dict[str, Any]

FOLDER = Path(__file__).parent / "recordings" / "claude"

CONVERSATION = "11111111-1111-4111-8111-111111111111"
"""Stands in recordings for the conversation's name, whatever it is."""

HOME = "/home/otter"
"""Stands in recordings for the person's home, in which `worktree` is the agent's folder."""

_AGENT = {"description": "Look", "prompt": "bash: echo inner", "subagent_type": "general-purpose"}
_TODO = {"content": "Warp the loom", "status": "pending", "activeForm": "Warping the loom"}


@dataclass(frozen=True)
class Scenario:
    """A conversation; whatever is asked in it is approved, allowed and answered by `Tea`."""

    mode: ExecutionMode
    prompts: tuple[str, ...]
    model: str = "sonnet"
    stopped_at: type[object] | None = None
    """The event at which a person stops the turn."""

    async def perform(self, conversation: Conversation) -> list[base.AgentEvent]:
        """Hold the conversation; all that is told."""
        for prompt in self.prompts:
            await conversation.agent.send(base.Prompt(prompt))
            while not isinstance(event := await conversation.until(object), _ENDS):
                await self._react(conversation.agent, event)
        return conversation.told

    async def _react(self, agent: base.Agent, event: object) -> None:
        if self.stopped_at is not None and isinstance(event, self.stopped_at):
            await agent.stop()
            return
        match event:
            case base.PlanProposed(request_id=asked):
                await agent.approve(asked, base.Settings("build", self.model, "think"), None)
            case base.PermissionRequested(request_id=asked):
                await agent.permit(asked, "allow")
            case base.QuestionAsked(request_id=asked, questions=questions):
                await agent.answer(asked, {each.question: "Tea" for each in questions})


_ENDS = (base.TurnFinished, base.TurnFailed)

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
    "stopped-text": Scenario("build", ("slow", "say: on"), stopped_at=base.TextDelta),
    "stopped-question": Scenario(
        "build", ("ask: Tea or coffee? | Tea | Coffee", "say: on"), stopped_at=base.QuestionAsked
    ),
    "overloaded": Scenario("build", ("error 529", "say: on")),
    "compacted": Scenario("build", ("say: the colour is blue", "/compact", "say: on")),
}


def recording(name: str) -> list[Json]:
    """The lines of a recording."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text().splitlines()]


def kind_of(heard: Mapping[str, Any]) -> str:
    """`user`, `answer`, `interrupt`, or `setting` for what the program accepts at once."""
    match heard.get("type"):
        case "control_request":
            request: Json = heard["request"]
            return "interrupt" if request["subtype"] == "interrupt" else "setting"
        case "control_response":
            return "answer"
        case _:
            return "user"


Chunks = Callable[[bytes], Iterable[bytes]]


def in_one_piece(data: bytes) -> Iterable[bytes]:
    """A line as it is."""
    return [data]


@dataclass
class Player:
    """Says what a recording holds, each part when it is told what the program was told then."""

    lines: list[Json]
    conversation: str
    home: Path
    chunks: Chunks = in_one_piece
    ended: bool = False
    """Whether nothing more can come."""
    _place: int = 0
    _waiting: list[bytes] = field(default_factory=list)
    _some: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, value: Mapping[str, Any]) -> None:
        """Go on with the recording where it waited for this."""
        kind = kind_of(value)
        if kind == "setting":
            done = {"subtype": "success", "request_id": value["request_id"], "response": {}}
            self._say(json.dumps({"type": "control_response", "response": done}))
        elif self._next_heard() == kind:
            self._place += 1
            while self._place < len(self.lines) and self._next_heard() is None:
                said = self.lines[self._place]["said"]
                self._say(said if isinstance(said, str) else json.dumps(said))
                self._place += 1

    def end(self) -> None:
        """Say nothing more than what waits to be read."""
        self.ended = True
        self._some.set()

    async def read(self) -> bytes:
        """The next piece; empty at the end."""
        while not self._waiting and not self.ended:
            self._some.clear()
            await self._some.wait()
        return self._waiting.pop(0) if self._waiting else b""

    def _next_heard(self) -> str | None:
        line = self.lines[self._place] if self._place < len(self.lines) else {"heard": {}}
        return kind_of(line["heard"]) if "heard" in line else None

    def _say(self, line: str) -> None:
        line = line.replace(CONVERSATION, self.conversation).replace(HOME, str(self.home))
        data = line.encode(errors="replace") + b"\n"
        self._waiting += [chunk for chunk in self.chunks(data) if chunk]
        self._some.set()


class PlayedProcess(AgentProcess):
    """A player in the place of a running program; its lines go through the same framing."""

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
        self.player.hear(value)

    async def wait_settled(self) -> None:
        pass

    def describe_exit(self, name: str) -> str:
        return f"{name} ended."

    async def kill(self) -> None:
        self.player.end()

    async def close(self) -> None:
        self.player.end()
