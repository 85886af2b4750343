"""Sections 4 and 7 of the interface with invalid frames: each gets one reply, which is never an
internal error, and other clients are not affected."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import model.api.all  # noqa: F401 - registers the commands
from model.api.command import ALIASES, COMMANDS, Command
from model.preferences.schema import Preferences
from tests.contract.conftest import open_socket
from tests.contract.nonsense import (  # noqa: F401 - and fixtures
    INVALID,
    SEED,
    TIMEOUT,
    ExistingIds,
    bystander,
    existing_ids_fixture,
    program_fixture,
    served_fixture,
)
from tests.nightly import examples
from tests.program import Program, Serving

Case = tuple[str, str | None]
"""A frame, and the id of its reply."""

IRREVOCABLE = {
    "remove_project", "remove_worktree", "delete_worktree", "archive_worktree", "delete_session",
    "archive_session", "delete_folder",
}  # fmt: skip
"""Get no existing ids, since they would remove what the other commands need."""

SOME_INVALID = INVALID[::8]
"""For arguments that are given under both of their names."""

OWN_CASES = {
    "start_http_server", "regenerate_http_token", "restart_spinney", "update_preferences",
}  # fmt: skip
"""May move, close or restart the server; they get only values that they must refuse."""


async def exchange(served: Serving, cases: list[Case]) -> list[dict[str, Any]]:
    """Send all frames over one socket without waiting; returns the replies, one for each."""
    answers: list[dict[str, Any]] = []
    async with bystander(served), aiohttp.ClientSession(served.base_url) as http:
        socket = (await open_socket(http, served.token)).socket

        async def read() -> None:
            while len(answers) < len(cases):
                message = await socket.receive()
                assert message.type is aiohttp.WSMsgType.TEXT, (message, len(answers))
                frame = json.loads(message.data)
                if frame.get("type") in ("response", "error"):
                    answers.append(frame)

        reading = asyncio.create_task(read())
        try:
            async with asyncio.timeout(TIMEOUT):
                for frame, _ in cases:
                    await socket.send_frame(frame.encode(), aiohttp.WSMsgType.TEXT)
                await reading
        except TimeoutError:
            missing = Counter(wanted for _, wanted in cases) - Counter(a["id"] for a in answers)
            pytest.fail(f"no answer to {list(missing)[:5]} of {len(cases)}")
        finally:
            reading.cancel()
    assert Counter(answer["id"] for answer in answers) == Counter(wanted for _, wanted in cases)
    for answer in answers:
        assert_is_reply(answer)
    return answers


def assert_is_reply(answer: dict[str, Any]) -> None:
    if answer["type"] == "response":
        assert set(answer) - {"warnings"} == {"type", "id", "data"}
        return
    assert set(answer) == {"type", "id", "error", "error_type"}
    assert answer["error"].strip()
    assert "Traceback" not in answer["error"]
    assert answer["error_type"] != "internal_error", answer


# Frames ------------------------------------------------------------------------------------------


def make_case(frame: dict[str, Any], request_id: str) -> Case:
    return json.dumps({"id": request_id, **frame}), request_id


def invalid_arguments(
    command: Command[..., Any], existing: ExistingIds
) -> Iterator[dict[str, Any]]:
    """Each argument with each invalid value and missing, the other arguments being valid."""
    ids = existing if command.name not in IRREVOCABLE else ExistingIds("no", "no", "no", "/no")
    right = {argument.wire: ids.of(argument) for argument in command.arguments if argument.required}
    for argument in command.arguments:
        yield {name: value for name, value in right.items() if name != argument.wire}
        for value in INVALID:
            # The only one that is valid there: worktrees would be created in the root directory.
            if (argument.name, value) != ("worktrees_dir", "/"):
                yield {**right, argument.wire: value}
        if argument.wire != argument.name:
            for value in SOME_INVALID:
                yield {**right, argument.wire: value, argument.name: value}
    yield {**right, "unknown": {"deep": [1]}, "🙂": None} if right else {}


def command_frames(existing: ExistingIds) -> Iterator[dict[str, Any]]:
    for name, command in COMMANDS.items():
        if name not in OWN_CASES:
            for arguments in invalid_arguments(command, existing):
                yield {"command": name, "args": arguments}
    for key in Preferences.model_fields:
        for value in INVALID:
            # Valid values of the server's settings, which move it, are in test_server_settings.
            if not key.startswith("http_server_") or isinstance(value, list | dict | float):
                yield {"command": "update_preferences", "args": {"changes": {key: value}}}
    for value in INVALID:
        if not isinstance(value, dict):
            yield {"command": "update_preferences", "args": {"changes": value}}
        if isinstance(value, str | list | dict):
            yield {"command": "start_http_server", "args": {"port": value}}
            yield {"command": "start_http_server", "args": {"tokenRequired": value or "x"}}
        if value is not None:
            yield {"command": "restart_spinney", "args": {"when": value}}


def envelope_frames() -> Iterator[dict[str, Any]]:
    """Frames with an invalid envelope, and the chat messages of section 4.3."""
    for value in INVALID:
        yield {"command": value}
        yield {"command": "list_projects", "type": value}
        if value is not None and not isinstance(value, dict):
            yield {"command": "list_projects", "args": value}
        yield {"type": value}
        for kind in ("send_message", "subscribe", "unsubscribe"):
            yield {"type": kind, "session_id": value, "message": value, "files": value}
    for name in (*ALIASES, "quit", "exit", "__init__", "x" * 10_000):
        yield {"command": name}


def junk() -> Iterator[Case]:
    """Frames that are not requests: their replies have no id."""
    valid = json.dumps({"id": "a", "command": "list_projects", "args": {"a": [1, "\u00e9"]}})
    for end in range(len(valid)):
        yield valid[:end], None
    for value in INVALID:
        if not isinstance(value, dict):
            yield json.dumps(value), None
        if not isinstance(value, str):
            yield json.dumps({"id": value, "command": "list_projects"}), None
    for depth in (100, 10_000, 200_000):
        yield "[" * depth, None
        yield "[" * depth + "]" * depth, None
        yield '{"a":' * depth + "1" + "}" * depth, None
    for text in ("NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "'a'", "\ufeff{}", "{} {}"):
        yield text, None
        yield f'{{"id": "a", "command": "list_projects", "args": {{"a": {text}}}}}', None
    yield json.dumps({"id": "x" * 1001, "command": "list_projects"}), None
    yield json.dumps({"command": "list_projects"}), None


def mutated(rng: random.Random, number: int) -> Iterator[Case]:
    """A valid frame with a few characters changed, and the id that JSON reads in it."""
    good = '{"id":"%s","command":"get_messages","args":{"sessionId":"no","limit":5}}'
    alphabet = '{}[]",:0123456789.eE+-\\u truefalsn\x00\x1fé'
    for index in range(number):
        letters = list(good % f"mutated-{index}")
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(letters))
            match rng.randrange(3):
                case 0:
                    letters[at] = rng.choice(alphabet)
                case 1:
                    letters.insert(at, rng.choice(alphabet))
                case _:
                    del letters[at]
        text = "".join(letters)
        try:
            request_id = json.loads(text, parse_constant=float).get("id")
        except (ValueError, AttributeError):
            request_id = None
        yield text, request_id if isinstance(request_id, str) else None


async def test_malformed_frames_get_one_reply_each(served: Serving) -> None:
    answers = await exchange(served, [*junk(), *mutated(random.Random(SEED), 2000)])
    for answer in answers:
        if answer["id"] is None:
            assert re.match("Invalid request: |Missing field: |Invalid field", answer["error"])


async def test_hundreds_of_requests_with_the_same_id_are_answered(served: Serving) -> None:
    case = make_case({"command": "get_preferences"}, "same")
    answers = await exchange(served, [case] * 500)
    assert {answer["type"] for answer in answers} == {"response"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def requests() -> st.SearchStrategy[dict[str, Any]]:
    """Commands with valid argument names and random values."""

    def of(name: str) -> st.SearchStrategy[dict[str, Any]]:
        wires = [argument.wire for argument in COMMANDS[name].arguments]
        keys = st.sampled_from(wires) if wires else st.text()
        arguments = st.dictionaries(keys, JSON, max_size=5)
        return st.fixed_dictionaries({"command": st.just(name), "args": arguments})

    return st.sampled_from(sorted(set(COMMANDS) - OWN_CASES)).flatmap(of)


@settings(
    max_examples=examples(8, 100),
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(frames=st.lists(requests(), min_size=20, max_size=60), texts=st.lists(st.text(), max_size=9))
def test_random_arguments_get_one_reply_each(
    served: Serving, frames: list[dict[str, Any]], texts: list[str]
) -> None:
    cases = [make_case(frame, f"h{number}") for number, frame in enumerate(frames)]
    asyncio.run(exchange(served, [*cases, *((json.dumps(text), None) for text in texts)]))


def leave_few(frames: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The first frames of each command, at most this many."""
    seen: Counter[str] = Counter()
    left = []
    for frame in frames:
        command = str(frame.get("command"))
        seen[command] += 1
        if seen[command] <= most:
            left.append(frame)
    return left


# Last, since it leaves hundreds of sessions whose agents run for a while.
@pytest.mark.timeout(TIMEOUT + 60)
async def test_every_argument_of_every_command_with_every_invalid_value(
    served: Serving, existing: ExistingIds, program: Program
) -> None:
    frames = [*command_frames(existing), *envelope_frames()]
    random.Random(SEED).shuffle(frames)
    assert len(frames) > 5000
    frames = leave_few(frames, examples(15, len(frames)))
    cases = [make_case(frame, f"r{number}") for number, frame in enumerate(frames)]
    answers = await exchange(served, cases)
    tried = {f["command"] for f in frames if isinstance(f.get("command"), str)}
    assert tried >= set(COMMANDS) - {"regenerate_http_token"}
    refused = [answer for answer in answers if answer["type"] == "error"]
    assert len(refused) > len(cases) / 2
    assert not any((place / "x").is_file() for place in (program.cwd, Path(existing.path)))
    assert program.call("get_http_server_status")["port"] == served.port
