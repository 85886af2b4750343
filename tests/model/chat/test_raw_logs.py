"""Raw logs: their content, masked secrets, size limits and lifetime."""

import asyncio
import base64
import errno
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from model.backends.base import Backend
from model.backends.demo.backend import DemoBackend
from model.backends.traffic import TrafficRecorder
from model.base.masking import SecretMasker, find_named_secrets
from model.chat import raw_files, raw_logs
from model.chat.raw_files import MAX_FILE_SIZE, append, read
from model.chat.raw_lines import MAX_LINE, to_readable
from model.commands.doctor import get_problems
from model.commands.preferences import update_preferences
from model.commands.projects import remove_project
from model.commands.raw_logs import get_raw_log
from model.commands.sessions import delete_session, send_chat_message
from model.domain.events.program import TaskCompleted
from model.domain.output import RawLog
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from tests.conftest import Eventually

PLANTED = 'planted "äß\\ value\n0123'
"""A secret with characters that JSON escapes."""


async def set_debug_mode(workspace: Workspace, *, on: bool = True) -> None:
    await update_preferences(workspace, {"debug_mode_enabled": on})


async def get_log(workspace: Workspace, session: Session, **about: Any) -> RawLog:
    return await get_raw_log(workspace, session.id, **about)


@pytest.fixture
def record(workspace: Workspace, session: Session) -> TrafficRecorder:
    """The recorder of the session's traffic."""
    return workspace.raw_logs.make_recorder(session.id, {"env": {"MY_API_KEY": PLANTED}})


# Lines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ({"env": {"K": PLANTED}}, "0123"),
        ({"arguments": json.dumps({"content": PLANTED})}, "0123"),
        ("GET /?key=planted%20%22%C3%A4%C3%9F%5C%20value%0A0123", "0123"),
        ({"headers": {"Authorization": "Bearer abcdEFGH1234"}}, "abcdEFGH1234"),
        ({"arguments": json.dumps({"client_secret": "hunter2hunter2"})}, "hunter2"),
        ("AWS_SECRET_ACCESS_KEY=abc/def+0123456789", "0123456789"),
        ({"providers": [{"id": "stub", "key": "0123456789abcdef"}]}, "0123456789abcdef"),
        ({"arguments": json.dumps({"key": "0123456789abcdef"})}, "0123456789abcdef"),
        ("SECRET_KEY_BASE=0123456789abcdef", "0123456789abcdef"),
        ("https://ada:hunter2@example.org/", "hunter2"),
        ("it said sk-ant-api03-0123456789abcdef", "0123456789abcdef"),
        ("x" * (MAX_LINE - 20) + json.dumps(PLANTED), "planted"),
        ("x" * (MAX_LINE + 100) + json.dumps(PLANTED), "planted"),
        ("sk-ant-api03-0123456789abcdef " * 3000 + json.dumps(PLANTED), "planted"),
    ],
)
def test_secrets_are_masked(said: Any, secret: str) -> None:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    shown = to_readable(text.encode(), SecretMasker([PLANTED]))
    assert secret not in shown
    assert "\u2026" in shown


def test_secrets_are_found_by_name_at_any_depth() -> None:
    settings = {
        "env": {"ANTHROPIC_AUTH_TOKEN": "a" * 8, "ANTHROPIC_MODEL": "m" * 20, "KEY": "short"},
        "model_providers": [{"http_headers": {"authorization": ["b" * 8]}}],
        "GIT_AUTHOR_NAME": "Ada Lovelace",
    }
    assert find_named_secrets(settings) == {"a" * 8, "b" * 8}


def test_control_characters_and_line_breaks_are_escaped() -> None:
    shown = to_readable("a\x1b]0;b\x07\n2026-01-01 \u202ec\x9b1m".encode(), SecretMasker())
    assert shown == "a\u241b]0;b\u2407\u240a2026-01-01 <U+202E>c<U+009B>1m"


def test_images_are_cut_out_and_the_rest_stays() -> None:
    picture = base64.b64encode(os.urandom(200_000)).decode()
    said = json.dumps(
        {
            "data": picture,
            "url": f"data:image/png;base64,{picture}",
            "inner": json.dumps({"data": picture, "text": "the"}),
            "text": "end",
        }
    )
    shown = to_readable(said.encode(), SecretMasker())
    assert len(shown) < 500 and picture[:100] not in shown
    assert shown.count(f"\u2026{len(picture):,} characters of base64") == 3
    assert '"url": "data:image/png;base64,\u2026' in shown
    assert shown.endswith('\\"text\\": \\"the\\"}", "text": "end"}')


def test_a_long_line_is_cut_and_says_how_long_it_was() -> None:
    shown = to_readable(b"one two " * 1_000_000, SecretMasker())
    assert shown.endswith("\u2026 (cut: 8,000,000 bytes in all)")
    assert MAX_LINE - 1000 < len(shown.encode()) < MAX_LINE + 50


# Files ---------------------------------------------------------------------------------------


def make_lines(numbers: Iterable[int], width: int) -> list[bytes]:
    return [f"{number:08} {'x' * (width - 10)}\n".encode() for number in numbers]


def test_two_private_files_of_bounded_size_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "raw-logs" / "s"
    for first in range(0, 1200, 100):
        append(folder, make_lines(range(first, first + 100), 10_000))
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    assert len(files) == 2 and all(file.stat().st_size <= MAX_FILE_SIZE for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)} == {0o700}
    tail = read(folder, None, None, 25_000, recording=True)
    assert tail.text == b"".join(make_lines([1198, 1199], 10_000)).decode()
    assert tail.end == 12_000_000 and not tail.is_first


def test_a_log_is_read_backwards_to_the_oldest_line_and_forwards_again(tmp_path: Path) -> None:
    append(tmp_path / "s", make_lines(range(1000), 5000))
    pieces = [read(tmp_path / "s", None, None, 100_000, recording=False)]
    while not pieces[-1].is_first:
        pieces.append(read(tmp_path / "s", pieces[-1].start, None, 100_000, recording=False))
    whole = "".join(piece.text for piece in reversed(pieces))
    numbers = [int(line[:8]) for line in whole.splitlines()]
    assert numbers == list(range(numbers[0], 1000)) and len(whole) == pieces[0].size
    at, again = pieces[-1].start, ""
    while at < pieces[0].end:
        piece = read(tmp_path / "s", None, at, 100_000, recording=False)
        assert piece.start == at and piece.text.endswith("\n")
        at, again = piece.end, again + piece.text
    assert again == whole


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(tmp_path / "s", [b"one\n"])
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, bytes(data)[:-2])

    monkeypatch.setattr(raw_files.os, "write", full)
    with pytest.raises(OSError, match="No space"):
        append(tmp_path / "s", [b"two two two\n"])
    assert read(tmp_path / "s", None, None, 1000, recording=False).text == "one\n"


# Recording -----------------------------------------------------------------------------------


async def test_nothing_is_written_while_debug_mode_is_off(
    workspace: Workspace, session: Session, record: TrafficRecorder
) -> None:
    record("\u2192", {"type": "prompt"})
    log = await get_log(workspace, session)
    assert (log.text, log.size, log.path, log.recording) == ("", 0, "", False)
    assert not workspace.directories.raw_logs.exists()


async def test_lines_have_their_direction_and_no_secret(
    workspace: Workspace, session: Session, record: TrafficRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "of the environment")
    profile = {"name": "p", "settings_json": json.dumps({"env": {"SOME_KEY": "of a profile"}})}
    changes = {"custom_cli_profiles": [profile], "http_server_token": "of-the-server-0123"}
    await update_preferences(workspace, changes)
    await set_debug_mode(workspace)
    said = f"{PLANTED}, of the environment, of a profile, of-the-server-0123"
    record("\u2192", {"text": said})
    record("\u2190", json.dumps({"text": said}).encode())
    record("\u2190", said, "stderr")
    log = await get_log(workspace, session)
    lines = [line[24:] for line in log.text.splitlines()]
    masked = "\u2026, \u2026, \u2026, \u2026"
    assert lines == [
        f'\u2192 {{"text":"{masked}"}}',
        f'\u2190 {{"text": "{masked}"}}',
        f"\u2190 stderr: {masked}",
    ]


async def test_lines_beyond_the_queue_limit_are_counted(
    workspace: Workspace, session: Session, record: TrafficRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_debug_mode(workspace)
    monkeypatch.setattr(raw_logs, "MAX_QUEUED", 10_000)
    for _ in range(1000):
        record("\u2190", b"x" * 800)
    text = (await get_log(workspace, session)).text
    assert len(text.splitlines()) == 11
    assert text.endswith("\u00b7 990 lines dropped\n")
    record("\u2190", b"and on")
    assert (await get_log(workspace, session)).text.endswith("\u2190 and on\n")


async def test_a_full_disk_is_reported_once_and_lost_lines_are_counted(
    workspace: Workspace, session: Session, record: TrafficRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_debug_mode(workspace)
    write, reader = raw_files._write, workspace.bus.reader()

    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(raw_files, "_write", full)
    for _ in range(3):
        record("\u2190", b"lost")
        await workspace.raw_logs.flush()
    events = [entry.event for entry in reader.take()[0]]
    [problem] = [event.detail for event in events if isinstance(event, TaskCompleted)]
    assert "The disk is full" in problem
    assert [each for each in await get_problems(workspace) if problem in str(each)]
    monkeypatch.setattr(raw_files, "_write", write)
    record("\u2190", b"again")
    lines = (await get_log(workspace, session)).text.splitlines()
    assert [line[24:] for line in lines] == ["\u2190 again", "\u00b7 3 lines dropped"]


async def test_deleting_the_session_deletes_its_log_for_good(
    workspace: Workspace, session: Session, record: TrafficRecorder, eventually: Eventually
) -> None:
    await set_debug_mode(workspace)
    record("\u2190", b"said")
    folder = workspace.directories.raw_logs / session.id
    assert (await get_log(workspace, session)).path == str(folder / "raw-0.log")
    record("\u2190", b"on its way")
    await delete_session(workspace, session.id)
    record("\u2190", b"too late")
    while folder.exists():
        await asyncio.sleep(0.01)
    record("\u2190", b"too late")
    await workspace.raw_logs.flush()
    assert not folder.exists()


async def test_removing_the_project_deletes_the_log(
    workspace: Workspace, session: Session, record: TrafficRecorder
) -> None:
    await set_debug_mode(workspace)
    record("\u2190", b"said")
    folder = Path((await get_log(workspace, session)).path).parent
    await remove_project(workspace, "project")
    while folder.exists():
        await asyncio.sleep(0.01)


async def test_the_preference_holds_at_once_for_a_running_agent(
    workspace: Workspace, session: Session, tmp_path: Path, eventually: Eventually
) -> None:
    # `debug_mode_enabled` is read at each line.
    cast(dict[str, Backend], workspace.backends)["backend_a"] = DemoBackend(tmp_path / "memory")

    async def say(words: str) -> str:
        await send_chat_message(workspace, session.id, f"/demo say {words}")
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "running")
        await eventually(lambda: workspace.store.state.sessions[session.id].status == "idle")
        return (await get_log(workspace, session)).text

    assert await say("one") == ""
    await set_debug_mode(workspace)
    text = await say("two")
    assert '\u2192 {"type":"prompt","text":"/demo say two"' in text
    assert '\u2190 {"type": "finished"' in text or '\u2190 {"type":"finished"' in text
    assert "one" not in text and "started in" not in text, "the agent was already running"
    await set_debug_mode(workspace, on=False)
    assert await say("three") == text
    await set_debug_mode(workspace)
    await workspace.conversations.end_agent(session.id)
    text = (await get_log(workspace, session)).text
    assert text.splitlines()[-1][24:] == "\u00b7 ended: exit code 0"
