"""A conversation with an agent over a client's socket, and the shape of the events received.

The shape leaves out what differs between programs: ids, times, how the text is split, and the names
of tools other than edits.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Any

from tests.contract.conftest import Call
from tests.live.every_backend.kinds import Kind
from tests.server.conftest import Socket

Json = dict[str, Any]

TURN_LIMIT = 90.0
"""Upper limit of a turn, in seconds; some programs start slowly on a busy machine."""


@dataclass
class Talk:
    """A client's view of one session; `socket` receives numbered frames."""

    kind: Kind
    socket: Socket
    call: Call
    session: Json
    worktree: Json
    _read: int = 0

    @property
    def _session_argument(self) -> Json:
        return {"sessionId": self.session["id"]}

    async def send(self, text: str) -> Json:
        """Send this message, translated for the agent."""
        return await self.call(
            "send_chat_message", **self._session_argument, message=self.kind.words(text)
        )

    async def send_together(self, *texts: str) -> list[Json]:
        """Send these messages without waiting for the first response."""
        for text in texts:
            args = {**self._session_argument, "message": self.kind.words(text)}
            await self.socket.send({"id": text, "command": "send_chat_message", "args": args})
        return [(await self.socket.answer(text))["data"] for text in texts]

    async def say(self, text: str, until: str = "idle") -> Json:
        """Send a message, wait until the session has this status, and return the session."""
        await self.send(text)
        session = await self.until(until)
        self._read = len(self.socket.frames)  # later frames belong to the next turn
        return session

    async def until(self, status: str, patience: float = TURN_LIMIT) -> Json:
        """Wait until the session has this status, and return the session."""
        async with asyncio.timeout(patience):
            shown: Json = await self.socket.until(
                lambda shown: shown["status"] in (status, "failed"),
                "get_session",
                **self._session_argument,
            )
        assert shown["status"] == status, shown["last_run"]
        return shown

    async def wait_for_event(self, event: str) -> Json:
        """Wait for the session's next event of this name."""
        while True:
            while self._read < len(self.socket.frames):
                frame = self.socket.frames[self._read]
                self._read += 1
                if frame.get("event") == event and self._is_ours(frame):
                    return _body(frame)
            await self.socket.receive()

    async def do(self, command: str, /, **args: Any) -> Any:
        """Call a command with the session's id."""
        return await self.call(command, **self._session_argument, **args)

    async def stored(self) -> list[str]:
        """The shape of the stored messages, one line per block."""
        found = await self.do("get_messages")
        lines = []
        for message in found["messages"]:
            lines += [f"{message['role']} {_describe_block(block)}" for block in message["content"]]
        return lines

    async def last_text(self) -> str:
        """The text of the newest message."""
        found = await self.do("get_messages", limit=1)
        blocks = found["messages"][0]["content"]
        return "".join(block["text"] for block in blocks if block["type"] == "text").strip()

    async def running_tools(self) -> list[Json]:
        """The tools that a newly connected client sees running."""
        found = await self.do("get_messages", limit=1)
        blocks = [block for message in found["messages"] for block in message["content"]]
        return [block for block in blocks if block.get("running_for") is not None]

    async def denials(self) -> list[str]:
        """The reasons of the denials in the newest messages."""
        found = await self.do("get_messages", limit=3)
        blocks = [block for message in found["messages"] for block in message["content"]]
        return [block["denied"] for block in blocks if block.get("denied") is not None]

    def shape(self) -> list[str]:
        """The shape of the session's events received so far, without repetitions."""
        lines: list[str] = []
        tools: dict[str, int] = {}
        for frame in filter(self._is_ours, self.socket.frames):
            body = _body(frame)
            line = _describe(frame["event"], body)
            tool = body.get("tool_use_id")
            if tool in tools:  # sent again with the rest of its input
                lines[tools[tool]] = line
            elif line and (tool or not lines or lines[-1] != line):
                if tool:
                    tools[tool] = len(lines)
                lines.append(line)
        return lines

    def _is_ours(self, frame: Json) -> bool:
        return "event" in frame and _body(frame).get("session_id") == self.session["id"]


def _body(frame: Json) -> Json:
    body: Json = frame.get("data") or frame.get("payload") or {}
    return body


def _describe(event: str, body: Json) -> str:
    match event:
        case "message-queued":
            return f"message {body['status']}"
        case "message-started":
            return "answer begins"
        case "content-delta":
            return body.get("kind") or "text"
        case "tool-use":
            return _describe_tool(body["tool_name"], body["tool_input"])
        case "message-block" if body["block"]["type"] not in ("text", "thinking", "tool_use"):
            return _describe_block(body["block"])
        case "session-waiting":
            return f"waits for {body['waiting_for'] or 'nothing'}"
        case "message-completed":
            return f"answer ends: {body['stop_reason']}"
        case "message-error":
            return f"answer fails: {body['error_type']}"
    return ""


def _describe_tool(name: str, given: Json) -> str:
    return f"edit {given['file_path']}" if name == "edit" else "tool"


def _describe_block(block: Json) -> str:
    match block["type"]:
        case "tool_use":
            return _describe_tool(block["name"], block["input"])
        case "tool_result":
            return "refusal" if block["is_error"] else "result"
        case "plan":
            return f"plan, {block['approved']}" if block["approved"] else "plan"
        case "question":
            return "question, answered" if block.get("answer") else "question"
    return re.sub(r"_", " ", block["type"])
