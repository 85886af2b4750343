"""Plays recorded conversations of OpenCode to its adapter, without the program."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from model.backends import agent_events, base
from model.backends.json_values import as_object
from model.backends.opencode.event_stream import EventFeed
from model.backends.opencode.models import Models
from model.backends.opencode.server import CALL_TIMEOUT, Listener
from model.backends.opencode.session import OpenCodeSession
from model.backends.traffic import NULL_RECORDER, TrafficRecorder
from model.base.errors import SpinneyError
from model.domain.modes import ExecutionMode
from tests.model.backends.agents import Conversation, make_launch

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
"""The mode and the first message of each recording."""

AGENTS = [{"name": "spinney-rules", "hidden": True, "options": {"rules": {}}}]
"""The program's list of agents where Spinney's rules are installed."""

Line = dict[str, Any]

PROPERTIES = "told"
"""Key of an event's properties in a recording."""


def load_recording(name: str) -> list[Line]:
    """The calls and events of a recording, in order."""
    return [json.loads(line) for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines()]


def conversation_of(lines: Iterable[Line]) -> str:
    """The id of the recorded conversation."""
    call = next(line["call"] for line in lines if line.get("call", "").endswith("/prompt_async"))
    return str(call.split("/")[2])


def history_of(lines: Iterable[Line]) -> list[Line]:
    """The message history that the program would return after a recording."""
    infos: dict[str, Line] = {}
    parts: dict[str, dict[str, Line]] = {}
    for line in lines:
        if line.get("event") == "message.updated":
            info = line[PROPERTIES]["info"]
            infos[info["id"]] = info
        elif line.get("event") == "message.part.updated":
            part = line[PROPERTIES]["part"]
            parts.setdefault(part["messageID"], {})[part["id"]] = part
    return [{"info": info, "parts": [*parts.get(key, {}).values()]} for key, info in infos.items()]


def as_bytes(line: Line) -> bytes:
    """An event as the server writes it; `raw` is written as it is."""
    if "raw" in line:
        return str(line["raw"]).encode()
    payload = {"payload": {"type": line["event"], "properties": line[PROPERTIES]}}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


class PlayedServer:
    """Sends the events that followed a call in the recording when the adapter makes that call."""

    def __init__(self, lines: list[Line], chunk: int = 1 << 16) -> None:
        self._lines = lines
        self._chunk = chunk
        self._place = 0
        self._listener: Listener | None = None
        self.answers: dict[str, Any] = {}
        """The responses to requests, by path."""
        self.rejected: list[str] = []
        """The paths with which the adapter rejected requests."""

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
        record: TrafficRecorder = NULL_RECORDER,
    ) -> Any:
        if path.endswith("/reject") or as_object(body).get("reply") == "reject":
            self.rejected.append(path)
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
        """The event stream was interrupted and is connected again."""
        if self._listener is not None:
            self._listener.on_events_missed()

    def _play(self) -> None:
        """Send the events up to the next recorded call."""
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
    launch = make_launch(Path("/worktree"), mode=mode)
    agent = OpenCodeSession(server, launch, conversation, Models(None), AGENTS, lambda: None)
    return Conversation(agent), server


async def respond_to_requests(conversation: Conversation, scenario: str) -> None:
    """Respond as the user of the scenario until the turn's end."""
    to_stop = scenario == "stop"
    async for event in conversation.agent.events():
        conversation.events.append(event)
        if isinstance(event, agent_events.TurnFinished | agent_events.TurnFailed):
            return
        if isinstance(event, agent_events.TextDelta) and to_stop:
            to_stop = False
            await conversation.agent.stop()
        with suppress(SpinneyError):  # the request may have been withdrawn meanwhile
            await _respond(conversation.agent, event)


async def _respond(agent: base.Agent, event: agent_events.AgentEvent) -> None:
    match event:
        case agent_events.PermissionRequested():
            await agent.permit(event.request_id, "allow")
        case agent_events.QuestionAsked():
            answers = {each.question: "Water" for each in event.questions}
            await agent.answer(event.request_id, answers)
        case agent_events.PlanProposed():
            await agent.approve(event.request_id, base.Settings("build"), None)
