"""Raw logs: what stands in them and what does not, their bounds, how they begin and end."""

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
from model.backends.traffic import Record
from model.base.masking import Masking, named_secrets
from model.chat import raw_files, raw_logs
from model.chat.raw_files import MAX_FILE_SIZE, append, read
from model.chat.raw_lines import MAX_LINE, to_readable
from model.commands.doctor import get_problems
from model.commands.preferences import update_preferences
from model.commands.projects import remove_project
from model.commands.raw_logs import get_raw_log
from model.commands.sessions import delete_session, send_chat_message
from model.domain.events import TaskCompleted
from model.domain.output import RawLog
from model.domain.resources import Session
from model.runtime.workspace import Workspace
from tests.conftest import Eventually

PLANTED = 'planted "äß\\ value\n0123'
"""As a key may be: with what JSON writes in another way."""


async def debug(workspace: Workspace, *, on: bool = True) -> None:
    await update_preferences(workspace, {"debug_mode_enabled": on})


async def log_of(workspace: Workspace, session: Session, **about: Any) -> RawLog:
    return await get_raw_log(workspace, session.id, **about)


@pytest.fixture
def record(workspace: Workspace, session: Session) -> Record:
    """What takes the words of the session."""
    return workspace.raw_logs.make_recorder(session.id, {"env": {"MY_API_KEY": PLANTED}})


# What a line says ---------------------------------------------------------------------------


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
    shown = to_readable(text.encode(), Masking([PLANTED]))
    assert secret not in shown
    assert "\u2026" in shown


def test_what_is_named_like_a_secret_is_known_at_any_depth() -> None:
    told = {
        "env": {"ANTHROPIC_AUTH_TOKEN": "a" * 8, "ANTHROPIC_MODEL": "m" * 20, "KEY": "short"},
        "model_providers": [{"http_headers": {"authorization": ["b" * 8]}}],
        "GIT_AUTHOR_NAME": "Ada Lovelace",
    }
    assert named_secrets(told) == {"a" * 8, "b" * 8}


def test_a_line_cannot_steer_a_terminal_or_begin_another() -> None:
    shown = to_readable("a\x1b]0;b\x07\n2026-01-01 \u202ec\x9b1m".encode(), Masking())
    assert shown == "a\u241b]0;b\u2407\u240a2026-01-01 <U+202E>c<U+009B>1m"


def test_pictures_are_cut_out_and_what_follows_them_stays() -> None:
    picture = base64.b64encode(os.urandom(200_000)).decode()
    said = json.dumps(
        {
            "data": picture,
            "url": f"data:image/png;base64,{picture}",
            "inner": json.dumps({"data": picture, "text": "the"}),
            "text": "end",
        }
    )
    shown = to_readable(said.encode(), Masking())
    assert len(shown) < 500 and picture[:100] not in shown
    assert shown.count(f"\u2026{len(picture):,} characters of base64") == 3
    assert '"url": "data:image/png;base64,\u2026' in shown
    assert shown.endswith('\\"text\\": \\"the\\"}", "text": "end"}')


def test_a_long_line_is_cut_and_says_how_long_it_was() -> None:
    shown = to_readable(b"one two " * 1_000_000, Masking())
    assert shown.endswith("\u2026 (cut: 8,000,000 bytes in all)")
    assert MAX_LINE - 1000 < len(shown.encode()) < MAX_LINE + 50


# Files ---------------------------------------------------------------------------------------


def numbered(numbers: Iterable[int], width: int) -> list[bytes]:
    return [f"{number:08} {'x' * (width - 10)}\n".encode() for number in numbers]


def test_two_files_are_kept_of_a_bounded_size_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "raw-logs" / "s"
    for first in range(0, 1200, 100):
        append(folder, numbered(range(first, first + 100), 10_000))
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    assert len(files) == 2 and all(file.stat().st_size <= MAX_FILE_SIZE for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)} == {0o700}
    tail = read(folder, None, None, 25_000, recording=True)
    assert tail.text == b"".join(numbered([1198, 1199], 10_000)).decode()
    assert tail.end == 12_000_000 and not tail.is_first


def test_one_reads_backwards_to_the_oldest_line_and_forwards_again(tmp_path: Path) -> None:
    append(tmp_path / "s", numbered(range(1000), 5000))
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


# The whole -----------------------------------------------------------------------------------


async def test_nothing_is_written_while_nobody_wants_it(
    workspace: Workspace, session: Session, record: Record
) -> None:
    record("\u2192", {"type": "prompt"})
    log = await log_of(workspace, session)
    assert (log.text, log.size, log.path, log.recording) == ("", 0, "", False)
    assert not workspace.directories.raw_logs.exists()


async def test_lines_have_their_direction_and_no_secret(
    workspace: Workspace, session: Session, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "of the environment")
    profile = {"name": "p", "settings_json": json.dumps({"env": {"SOME_KEY": "of a profile"}})}
    changes = {"custom_cli_profiles": [profile], "http_server_token": "of-the-server-0123"}
    await update_preferences(workspace, changes)
    await debug(workspace)
    said = f"{PLANTED}, of the environment, of a profile, of-the-server-0123"
    record("\u2192", {"text": said})
    record("\u2190", json.dumps({"text": said}).encode())
    record("\u2190", said, "stderr")
    log = await log_of(workspace, session)
    lines = [line[24:] for line in log.text.splitlines()]
    masked = "\u2026, \u2026, \u2026, \u2026"
    assert lines == [
        f'\u2192 {{"text":"{masked}"}}',
        f'\u2190 {{"text": "{masked}"}}',
        f"\u2190 stderr: {masked}",
    ]


async def test_what_does_not_fit_is_counted(
    workspace: Workspace, session: Session, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    await debug(workspace)
    monkeypatch.setattr(raw_logs, "MAX_QUEUED", 10_000)
    for _ in range(1000):
        record("\u2190", b"x" * 800)
    text = (await log_of(workspace, session)).text
    assert len(text.splitlines()) == 11
    assert text.endswith("\u00b7 990 lines dropped\n")
    record("\u2190", b"and on")
    assert (await log_of(workspace, session)).text.endswith("\u2190 and on\n")


async def test_a_full_disk_is_told_once_and_what_was_lost_is_counted(
    workspace: Workspace, session: Session, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    await debug(workspace)
    write, told = raw_files._write, workspace.bus.reader()

    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(raw_files, "_write", full)
    for _ in range(3):
        record("\u2190", b"lost")
        await workspace.raw_logs.flush()
    events = [entry.event for entry in told.take()[0]]
    [problem] = [event.detail for event in events if isinstance(event, TaskCompleted)]
    assert "The disk is full" in problem
    assert [each for each in await get_problems(workspace) if problem in str(each)]
    monkeypatch.setattr(raw_files, "_write", write)
    record("\u2190", b"again")
    lines = (await log_of(workspace, session)).text.splitlines()
    assert [line[24:] for line in lines] == ["\u2190 again", "\u00b7 3 lines dropped"]


async def test_the_log_goes_with_its_session_and_does_not_come_back(
    workspace: Workspace, session: Session, record: Record, eventually: Eventually
) -> None:
    await debug(workspace)
    record("\u2190", b"said")
    folder = workspace.directories.raw_logs / session.id
    assert (await log_of(workspace, session)).path == str(folder / "raw-0.log")
    record("\u2190", b"on its way")
    await delete_session(workspace, session.id)
    record("\u2190", b"too late")
    while folder.exists():
        await asyncio.sleep(0.01)
    record("\u2190", b"too late")
    await workspace.raw_logs.flush()
    assert not folder.exists()


async def test_the_log_goes_with_its_project(
    workspace: Workspace, session: Session, record: Record
) -> None:
    await debug(workspace)
    record("\u2190", b"said")
    folder = Path((await log_of(workspace, session)).path).parent
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
        return (await log_of(workspace, session)).text

    assert await say("one") == ""
    await debug(workspace)
    talk = await say("two")
    assert '\u2192 {"type":"prompt","text":"/demo say two"' in talk
    assert '\u2190 {"type": "finished"' in talk or '\u2190 {"type":"finished"' in talk
    assert "one" not in talk and "started in" not in talk, "it runs since before"
    await debug(workspace, on=False)
    assert await say("three") == talk
    await debug(workspace)
    await workspace.chats.end(session.id)
    talk = (await log_of(workspace, session)).text
    assert talk.splitlines()[-1][24:] == "\u00b7 ended: exit code 0"
