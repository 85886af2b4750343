"""Lines of ACP agents, cut into pieces and garbled: no line breaks a conversation and every turn
ends.
"""

import asyncio
import copy
import json
import random
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from model.agents.agents_file import AgentRow
from model.backends import agent_events, base
from model.backends.acp.backend import AcpBackend
from model.backends.acp.session import AcpSession
from model.backends.process import AgentProcess, JsonLine
from model.base.errors import SpinneyError
from tests.model.backends.agents import Conversation, make_launch, only, text

Json = dict[str, Any]

ROW = AgentRow("acp:played", "Played", sys.executable, ())

ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, "", "\ud800\x1b]0;x\x07", [], [[]], [None, 3], {}, {"type": 5},
    "x" * 70_000, {"type": "diff", "path": "\0", "newText": None},
)  # fmt: skip


def update(**fields: Any) -> Json:
    params = {"sessionId": "s", "update": fields}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def text_chunk(text: str, kind: str = "agent_message_chunk") -> Json:
    return update(sessionUpdate=kind, messageId="m", content={"type": "text", "text": text})


def permission_request(number: int, **call: Any) -> Json:
    options = [{"optionId": "o", "kind": "allow_once", "name": "Allow"}]
    params = {"sessionId": "s", "toolCall": call, "options": options}
    return {
        "jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params,
    }  # fmt: skip


DIFF = {"type": "diff", "path": "a.txt", "oldText": "a", "newText": "b"}
MODES = {"currentModeId": "build", "availableModes": [{"id": "build", "name": "B"}, {"id": "plan"}]}
OPTION = {
    "id": "mode", "category": "mode", "type": "select", "currentValue": "build",
    "options": [{"value": "build", "name": "b"}, {"group": "g", "options": [{"value": "plan"}]}],
}  # fmt: skip

START: list[Json] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "protocolVersion": 1,
            "agentInfo": {"name": "played", "version": "1"},
            "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}}},
            "authMethods": [{"id": "a", "name": "A", "type": "terminal", "args": ["login"]}],
        },
    },
    {
        "jsonrpc": "2.0",
        "id": 2,
        "result": {"sessionId": "s", "modes": MODES, "configOptions": [OPTION]},
    },
]

TURN: list[Json] = [
    text_chunk("about looms", "agent_thought_chunk"),
    text_chunk("I weave "),
    text_chunk("a scarf. "),
    update(
        sessionUpdate="plan",
        entries=[{"content": "warp", "status": "pending", "priority": "high"}],
    ),
    update(
        sessionUpdate="tool_call",
        toolCallId="t",
        title="edit",
        kind="edit",
        status="pending",
        locations=[{"path": "a.txt", "line": 3}],
        rawInput={"filePath": "a.txt"},
    ),
    permission_request(
        0, toolCallId="t", kind="edit", content=[DIFF], locations=[{"path": "a.txt"}]
    ),
    update(
        sessionUpdate="tool_call_update",
        toolCallId="t",
        status="completed",
        content=[{"type": "content", "content": {"type": "text", "text": "done"}}, DIFF],
        rawOutput={"output": "done"},
    ),
    permission_request(
        1, toolCallId="b", kind="execute", title="Run it", rawInput={"command": "make"}
    ),
    {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}},
    update(sessionUpdate="current_mode_update", currentModeId="build"),
    update(sessionUpdate="config_option_update", configOptions=[OPTION]),
    update(sessionUpdate="usage_update", used=3, size=9),
    {"jsonrpc": "2.0", "id": 9, "method": "terminal/create", "params": {"sessionId": "s"}},
    text_chunk("The end."),
    {
        "jsonrpc": "2.0",
        "id": 3,
        "result": {"stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 2}},
    },
]


class PlayedProcess:
    """Plays lines in place of a program: each in response to a request, a turn's after a prompt."""

    returncode: int | None = None

    def __init__(self, start: list[Json], turn: list[Json]) -> None:
        self._start, self._turn = start, turn
        self._asked = 0
        self._more = asyncio.Event()
        self._closed = False

    async def write(self, value: Mapping[str, Any]) -> None:
        json.dumps(value)
        if "method" in value and "id" in value:
            self._asked += 1
            self._more.set()

    async def read_lines(self) -> AsyncIterator[JsonLine]:
        start = [(min(number, 1), [line]) for number, line in enumerate(self._start)]
        for number, lines in (*start, (2, self._turn)):
            while lines and self._asked <= number and not self._closed:
                self._more.clear()
                await self._more.wait()
            for line in lines:
                yield JsonLine(line)

    def describe_exit(self, name: str) -> str:
        return f"{name} ended."

    async def wait_settled(self) -> None: ...

    async def kill(self) -> None:
        await self.close()

    async def close(self) -> None:
        self._closed = True
        self._more.set()


def open_session(start: list[Json], turn: list[Json], launch: base.Launch) -> AcpSession:
    return AcpSession(ROW, cast("AgentProcess", PlayedProcess(start, turn)), launch)


def garble(lines: list[Json], dice: random.Random) -> list[Json]:
    """The lines with one to three faults in them."""
    lines = copy.deepcopy(lines)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(lines))
        match dice.randrange(6):
            case 0:
                lines.insert(at, copy.deepcopy(lines[at]))
            case 1 if len(lines) > 1:
                del lines[at]
            case _:
                holder, key = dice.choice(list(find_places(lines[at])) or [(lines[at], "jsonrpc")])
                if dice.random() < 0.3 and isinstance(holder, dict):
                    holder.pop(key, None)
                else:
                    holder[key] = copy.deepcopy(dice.choice(ODD_VALUES))
    return lines


def find_places(value: Any) -> list[tuple[Any, Any]]:
    """Every position in a JSON value whose content can be replaced."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    inner = (find_places(item) for _, item in pairs if isinstance(item, dict | list))
    return [*((value, key) for key, _ in pairs), *(place for found in inner for place in found)]


async def test_ungarbled_lines_make_a_complete_turn(worktree: Path) -> None:
    launch = make_launch(worktree)
    session = open_session(START, TURN, launch)
    await session.initialize()
    await session.start_conversation(launch)
    events = await Conversation(session).turn("weave")
    assert text(events) == "I weave a scarf. The end."
    assert only(events, agent_events.TurnFinished).context_window == 9
    assert only(events, agent_events.RequestWithdrawn)
    await session.close()


@pytest.mark.few(1)
@pytest.mark.parametrize("batch", range(4))
async def test_a_garbled_turn_ends_without_an_unhandled_error(
    worktree: Path, batch: int, caplog: pytest.LogCaptureFixture
) -> None:
    for seed in range(100 * batch, 100 * (batch + 1)):
        launch = make_launch(worktree, mode="yolo" if seed % 2 else "build")
        session = open_session(START, garble(TURN, random.Random(seed)), launch)
        await session.initialize()
        await session.start_conversation(launch)
        events = await Conversation(session).turn("weave")
        assert isinstance(events[-1], agent_events.TurnFinished | agent_events.TurnFailed), seed
        assert "failed to handle a line" not in caplog.text, (seed, caplog.text)
        await session.close()


async def test_a_garbled_start_succeeds_or_raises_an_error_with_a_message(worktree: Path) -> None:
    begun = 0
    for seed in range(200):
        launch = make_launch(worktree)
        session = open_session(garble(START, random.Random(seed)), [], launch)
        try:
            await session.initialize(timeout=0.1)
            await session.start_conversation(launch)
            begun += 1
        except SpinneyError as error:
            assert error.message
        await session.close()
    assert 0 < begun < 200


PLAYER = """
import json, os, random, sys
dice = random.Random(int(sys.argv[2]))
portions = json.loads(open(sys.argv[1]).read())
for line in sys.stdin.buffer:
    if b'"method"' in line and b'"id"' in line and portions:
        left = portions.pop(0).encode()
        while left:
            size = dice.randint(1, 40)
            os.write(1, left[:size])
            left = left[size:]
"""


@pytest.mark.parametrize("seed", range(4))
async def test_lines_that_arrive_in_pieces_are_reassembled(
    worktree: Path, tmp_path: Path, seed: int
) -> None:
    portions = [[START[0]], [START[1]], [text_chunk("ünïcödé 🧶 "), *TURN]]
    lines = ["".join(json.dumps(s, ensure_ascii=False) + "\r\n" for s in p) for p in portions]
    (tmp_path / "lines.json").write_text(json.dumps(lines))
    args = ("-c", PLAYER, str(tmp_path / "lines.json"), str(seed))
    row = AgentRow("acp:played", "Played", sys.executable, (), args=args)
    session = await AcpBackend(row).open(make_launch(worktree))
    events = await Conversation(session).turn("weave")
    assert text(events) == "ünïcödé 🧶 I weave a scarf. The end."
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
    await session.close()
