"""Recorded conversations of OpenCode played to its adapter, without the program."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from model.backends import base
from model.backends.opencode.event_stream import EventFeed
from model.backends.opencode.models import Models
from model.backends.opencode.server import CALL_TIMEOUT, Listener
from model.backends.opencode.session import OpenCodeSession
from model.backends.traffic import UNRECORDED, Record
from model.base.errors import SpinneyError
from model.domain.resources import ExecutionMode
from tests.model.backends.agents import Conversation, a_launch

RECORDINGS = Path(__file__).with_name("recordings") / "opencode"

SCENARIOS: dict[str, tuple[ExecutionMode, str]] = {
    "text": ("build", "think: about looms and threads"),
    "edit": ("build", "write a.txt: hi"),
    "command": ("build", "bash: echo $((6 * 7))"),
    "question": ("build", "ask: Tea or coffee? | Tea | Coffee"),
    "plan": ("plan", "plan: weave a scarf"),
    "stop": ("build", "slow"),
    "refused": ("build", "error 401"),
    "agent": ("build", "agent: bash: echo $((6 * 7))"),
    "todo": ("build", "todo: spin | weave"),
}
"""The mode and the message that begin each recording."""

AGENTS = [{"name": "spinney-rules", "hidden": True, "options": {"rules": {}}}]
"""As the program lists them where our rules are laid."""

Line = dict[str, Any]


def recorded(name: str) -> list[Line]:
    """The calls that were made and the events that came, in their order."""
    return [json.loads(line) for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines()]


def conversation_of(lines: Iterable[Line]) -> str:
    """The id of the conversation that a recording is of."""
    call = next(line["call"] for line in lines if line.get("call", "").endswith("/prompt_async"))
    return str(call.split("/")[2])


def history_of(lines: Iterable[Line]) -> list[Line]:
    """The messages that the program keeps of a recording."""
    infos: dict[str, Line] = {}
    parts: dict[str, dict[str, Line]] = {}
    for line in lines:
        if line.get("event") == "message.updated":
            infos[line["told"]["info"]["id"]] = line["told"]["info"]
        elif line.get("event") == "message.part.updated":
            part = line["told"]["part"]
            parts.setdefault(part["messageID"], {})[part["id"]] = part
    return [{"info": info, "parts": [*parts.get(key, {}).values()]} for key, info in infos.items()]


def as_bytes(line: Line) -> bytes:
    """An event as the server writes it; `raw` is written as it is."""
    if "raw" in line:
        return str(line["raw"]).encode()
    payload = {"payload": {"type": line["event"], "properties": line["told"]}}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


class PlayedServer:
    """Tells the events that followed a call in the recording when the adapter makes that call."""

    def __init__(self, lines: list[Line], chunk: int = 1 << 16) -> None:
        self._lines = lines
        self._chunk = chunk
        self._place = 0
        self._listener: Listener | None = None
        self.answers: dict[str, Any] = {}
        """What is answered to questions, by their paths."""

    def attach(self, conversation: str, listener: Listener) -> None:
        self._listener = listener

    def detach(self, listener: Listener) -> None:
        self._listener = None

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        timeout: float = CALL_TIMEOUT,
        record: Record = UNRECORDED,
    ) -> Any:
        if method == "POST":
            asyncio.get_running_loop().call_soon(self._play)
        return self.answers.get(path.partition("?")[0], {})

    async def kill_if_unresponsive(self) -> None:
        self.end()

    def end(self) -> None:
        """The program dies."""
        if self._listener is not None:
            self._listener.on_exit("OpenCode was killed (SIGKILL).")

    def cut_off(self) -> None:
        """The stream of events was cut, and is there again."""
        if self._listener is not None:
            self._listener.on_events_missed()

    def _play(self) -> None:
        """Tell what comes up to the next call that was made."""
        lines = self._lines[self._place :]
        calls = [place for place, line in enumerate(lines) if "call" in line]
        first = calls[0] + 1 if calls else 0
        last = calls[1] if len(calls) > 1 else len(lines)
        self._place += last
        feed = EventFeed()
        data = b"".join(map(as_bytes, lines[first:last]))
        for start in range(0, len(data), self._chunk):
            for event in feed.feed(data[start : start + self._chunk]):
                if self._listener is not None:
                    self._listener.on_event(event)


def open_played(
    lines: list[Line], conversation: str, mode: ExecutionMode, chunk: int = 1 << 16
) -> tuple[Conversation, PlayedServer]:
    """A conversation whose server plays these lines."""
    server = PlayedServer(lines, chunk)
    launch = a_launch(Path("/worktree"), mode=mode)
    agent = OpenCodeSession(server, launch, conversation, Models(None), AGENTS, lambda: None)
    return Conversation(agent), server


async def answering(conversation: Conversation, scenario: str) -> None:
    """Do what a person does in the scenario, up to the turn's end."""
    to_stop = scenario == "stop"
    async for event in conversation.agent.events():
        conversation.told.append(event)
        if isinstance(event, base.TurnFinished | base.TurnFailed):
            return
        if isinstance(event, base.TextDelta) and to_stop:
            to_stop = False
            await conversation.agent.stop()
        with suppress(SpinneyError):  # what is withdrawn meanwhile needs no answer
            await _answer(conversation.agent, event)


async def _answer(agent: base.Agent, event: base.AgentEvent) -> None:
    match event:
        case base.PermissionAsked():
            await agent.permit(event.request_id, "allow")
        case base.QuestionAsked():
            answers = {each.question: "Water" for each in event.questions}
            await agent.answer(event.request_id, answers)
        case base.PlanProposed():
            await agent.approve(event.request_id, base.Settings("build"), None)
