"""The settings file: loading, saving and watching it without losing edits by other programs."""

import asyncio
import json
import os
import random
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from model.base import paths
from model.base.errors import SpinneyError
from model.preferences import file as preferences_file
from model.preferences.apply import apply_changes
from model.preferences.file import PreferencesFile
from model.preferences.schema import Preferences
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "preferences.json"


def read_stored(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes())


def write_old(path: Path, content: bytes) -> None:
    """Write the file with an old time, so that loading does not wait for an unfinished edit."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1_000_000_000, 1_000_000_000))


def list_kept(path: Path) -> list[Path]:
    return sorted(path.parent.glob("preferences.json.broken-*"))


# Loading --------------------------------------------------------------------------------------


async def test_a_missing_file_is_created_with_the_defaults(path: Path) -> None:
    before = os.umask(0)
    try:
        assert await PreferencesFile(path).load() == (Preferences(), [])
    finally:
        os.umask(before)
    assert read_stored(path) == Preferences().model_dump()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


GOOD = json.dumps(Preferences(theme="dark").model_dump(), indent=2).encode()
BROKEN = {
    "empty": b"",
    "one byte": b"{",
    "a list": b"[]",
    "a number": b"1",
    "binary": bytes(range(256)),
    "nested beyond reason": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number of 5000 digits": b'{"ui_font_size": ' + b"9" * 5000 + b"}",
    "50 MB": b" " * 50_000_000,
    **{f"cut at {tenth}0 %": GOOD[: len(GOOD) * tenth // 10] for tenth in range(1, 10)},
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_file_is_kept_under_a_dated_name_and_reported(
    path: Path, content: bytes
) -> None:
    write_old(path, content)
    preferences, problems = await PreferencesFile(path).load()
    assert preferences == Preferences()
    assert len(problems) == 1
    assert list_kept(path)[0].name in problems[0]
    assert list_kept(path)[0].read_bytes() == content
    assert read_stored(path) == Preferences().model_dump()
    assert await PreferencesFile(path).load() == (Preferences(), [])


USABLE = {
    "NaN": (b'{"ui_font_size": NaN, "theme": "dark"}', 1),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD, 0),
    "UTF-16": (GOOD.decode().encode("utf-16"), 0),
    "duplicate keys": (b'{"theme": "light", "theme": "dark"}', 0),
    "out of range": (b'{"zoom_level": 1000, "theme": "dark"}', 1),
    "wrong types": (b'{"keybindings": [], "editor": 3, "theme": "dark"}', 2),
    "nested deeply": (b'{"theme": "dark", "a": ' + b"[" * 400 + b"]" * 400 + b"}", 0),
    "unknown keys": (b'{"from_the_future": "\\ud800", "theme": "dark"}', 0),
}


@pytest.mark.parametrize(("content", "count"), USABLE.values(), ids=USABLE.keys())
async def test_a_file_with_bad_values_loses_only_these(
    path: Path, content: bytes, count: int
) -> None:
    write_old(path, content)
    file = PreferencesFile(path)
    preferences, problems = await file.load()
    assert preferences.theme == "dark"
    assert preferences.zoom_level == 90
    assert len(problems) == count
    assert path.read_bytes() == content
    assert list_kept(path) == []
    after = await file.save(apply_changes(preferences, {"zoom_level": 100}), preferences)
    assert (after.theme, read_stored(path)["zoom_level"]) == ("dark", 100)
    assert read_stored(path).keys() >= json.loads(content).keys()


async def test_an_earlier_kept_file_is_never_overwritten(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "strftime", lambda _: "20260102-030405")
    for number in range(3):
        write_old(path, b"broken %d" % number)
        await PreferencesFile(path).load()
    assert [
        (file.name.rpartition("broken-")[2], file.read_bytes()) for file in list_kept(path)
    ] == [
        ("20260102-030405", b"broken 0"),
        ("20260102-030405-2", b"broken 1"),
        ("20260102-030405-3", b"broken 2"),
    ]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
async def test_a_directory_or_pipe_in_place_of_the_file_is_moved_aside(
    path: Path, make: Callable[[Path], None]
) -> None:
    path.parent.mkdir()
    make(path)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    preferences, problems = await PreferencesFile(path).load()
    assert preferences == Preferences()
    assert "directory" in problems[0] or "not a regular file" in problems[0]
    assert path.is_file()


async def test_a_symbolic_link_is_kept(path: Path, tmp_path: Path) -> None:
    write_old(tmp_path / "dotfile", b'{"theme": "dark"}')
    path.parent.mkdir()
    path.symlink_to("../dotfile")
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    await file.save(apply_changes(preferences, {"zoom_level": 100}), preferences)
    assert path.is_symlink()
    assert read_stored(tmp_path / "dotfile")["zoom_level"] == 100


async def test_a_save_makes_a_readable_file_private_again(path: Path) -> None:
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    path.chmod(0o644)
    await file.save(apply_changes(preferences, {"theme": "dark"}), preferences)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_full_disk_at_the_start_is_reported_and_the_defaults_are_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(paths.os, "write", fail)
        preferences, problems = await PreferencesFile(path).load()
        assert preferences == Preferences()
        assert problems[0].startswith("The disk is full")
    assert (await PreferencesFile(path).load())[1] == []


# Saving ---------------------------------------------------------------------------------------


async def test_a_save_includes_changes_made_on_disk(path: Path) -> None:
    file = PreferencesFile(path)
    before, _ = await file.load()
    write_old(
        path, json.dumps({**read_stored(path), "editor": "cursor", "from_the_future": 1}).encode()
    )
    now = await file.save(apply_changes(before, {"theme": "dark"}), before)
    assert (now.theme, now.editor) == ("dark", "cursor")
    assert read_stored(path)["from_the_future"] == 1
    assert read_stored(path) == now.model_dump()


async def test_a_save_creates_a_deleted_file_again(path: Path) -> None:
    file = PreferencesFile(path)
    before, _ = await file.load()
    before = await file.save(apply_changes(before, {"editor": "cursor"}), before)
    path.unlink()
    now = await file.save(apply_changes(before, {"theme": "dark"}), before)
    assert (now.theme, now.editor) == ("dark", "cursor")
    assert read_stored(path) == now.model_dump()


async def test_a_save_over_a_broken_file_keeps_it_aside(path: Path) -> None:
    file = PreferencesFile(path)
    before, _ = await file.load()
    write_old(path, b'{"theme": "light",}')
    now = await file.save(apply_changes(before, {"editor": "cursor"}), before)
    assert now == Preferences(editor="cursor")
    assert list_kept(path)[0].read_bytes() == b'{"theme": "light",}'


async def test_a_save_is_repeated_after_a_concurrent_write(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PreferencesFile(path)
    before, _ = await file.load()
    real, edits = os.fsync, iter([{"editor": "cursor"}, {"terminal": "warp"}])

    def edit_concurrently(descriptor: int) -> None:
        real(descriptor)
        if edit := next(edits, None):
            path.write_text(json.dumps({**read_stored(path), **edit}))

    monkeypatch.setattr(paths.os, "fsync", edit_concurrently)
    now = await file.save(apply_changes(before, {"theme": "dark"}), before)
    assert now == Preferences(theme="dark", editor="cursor", terminal="warp")
    assert read_stored(path) == now.model_dump()


async def test_a_save_fails_if_another_program_keeps_writing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PreferencesFile(path)
    before, _ = await file.load()
    real = os.fsync

    def edit_for_ever(descriptor: int) -> None:
        real(descriptor)
        path.write_text(json.dumps({**read_stored(path), "n": random.random()}))

    monkeypatch.setattr(paths.os, "fsync", edit_for_ever)
    with pytest.raises(SpinneyError, match="another program keeps writing it"):
        await file.save(apply_changes(before, {"theme": "dark"}), before)
    assert read_stored(path)["theme"] == "system"


# Watching -------------------------------------------------------------------------------------


class WatchRecorder:
    """A callback for `watch` that records its calls and can wait for one."""

    def __init__(self) -> None:
        self.calls: list[tuple[Preferences, list[str]]] = []
        self._called = asyncio.Condition()

    async def __call__(self, preferences: Preferences, problems: list[str]) -> None:
        async with self._called:
            self.calls.append((preferences, problems))
            self._called.notify_all()

    async def wait_until(self, condition: Callable[[Preferences, list[str]], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._called:
            await self._called.wait_for(lambda: bool(self.calls) and condition(*self.calls[-1]))


@asynccontextmanager
async def watch_file(file: PreferencesFile) -> AsyncIterator[WatchRecorder]:
    recorder = WatchRecorder()
    task = asyncio.create_task(file.watch(recorder))
    try:
        yield recorder
    finally:
        task.cancel()
        await asyncio.wait([task], timeout=PATIENCE)
        assert task.cancelled()


def replace_file(path: Path, **edits: Any) -> None:
    """Save as most editors do: write a new file and rename it."""
    new = path.with_name("preferences.json~new")
    new.write_text(json.dumps({**read_stored(path), **edits}))
    new.replace(path)


async def test_every_external_edit_is_reported(path: Path) -> None:
    file = PreferencesFile(path)
    await file.load()
    async with watch_file(file) as recorder:
        for editor in ("cursor", "vscode", "xcode"):
            replace_file(path, editor=editor)
            await recorder.wait_until(lambda now, _, editor=editor: now.editor == editor)
        path.write_text(json.dumps({"theme": "dark"}))
        await recorder.wait_until(lambda now, _: now == Preferences(theme="dark"))
    assert len(recorder.calls) == 4


async def test_an_edit_before_the_watch_started_is_reported(path: Path) -> None:
    file = PreferencesFile(path)
    await file.load()
    replace_file(path, theme="dark")
    async with watch_file(file) as recorder:
        await recorder.wait_until(lambda now, _: now.theme == "dark")


async def test_own_writes_are_not_reported(path: Path) -> None:
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    async with watch_file(file) as recorder:
        for size in range(12, 20):
            preferences = await file.save(
                apply_changes(preferences, {"ui_font_size": size}), preferences
            )
        replace_file(path, theme="dark")
        await recorder.wait_until(lambda now, _: now.theme == "dark")
    assert len(recorder.calls) == 1
    assert recorder.calls[0][0].ui_font_size == 19


async def test_a_partly_written_file_is_waited_for_and_not_reset(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences_file, "UNFINISHED_SECONDS", PATIENCE)
    file = PreferencesFile(path)
    await file.load()
    whole = json.dumps({**read_stored(path), "theme": "dark"})
    async with watch_file(file) as recorder:
        with path.open("w") as edit:
            edit.write(whole[:100])
            edit.flush()
            await asyncio.sleep(0.15)
            edit.write(whole[100:])
        await recorder.wait_until(lambda now, _: now.theme == "dark")
    assert [problems for _, problems in recorder.calls] == [[]]
    assert list_kept(path) == []


async def test_a_broken_edit_is_reported_once_and_the_settings_are_kept(path: Path) -> None:
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    await file.save(apply_changes(preferences, {"editor": "cursor"}), preferences)
    async with watch_file(file) as recorder:
        path.write_text('{"theme": "dark",}')
        await recorder.wait_until(lambda now, problems: "line 1" in "".join(problems))
        assert recorder.calls[-1][0].editor == "cursor"
        path.write_text('{"theme": "dark"}')
        await recorder.wait_until(lambda now, problems: now.theme == "dark" and not problems)
    assert len(recorder.calls) == 2


async def test_the_end_of_a_problem_is_reported_even_if_no_setting_changed(
    path: Path,
) -> None:
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    async with watch_file(file) as recorder:
        path.write_text('{"theme": "dark",}')
        await recorder.wait_until(lambda now, problems: "line 1" in "".join(problems))
        path.write_text(json.dumps(preferences.model_dump()))
        await recorder.wait_until(lambda now, problems: not problems)
    assert recorder.calls[-1][0] == preferences


async def test_a_fix_right_after_reading_is_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fix_then_report_old(*_: object) -> bool:
        path.write_text('{"theme": "dark"}')
        return False

    file = PreferencesFile(path)
    await file.load()
    path.write_text('{"theme": "light",}')
    monkeypatch.setattr(preferences_file, "_is_recently_written", fix_then_report_old)
    async with watch_file(file) as recorder:
        await recorder.wait_until(lambda now, problems: now.theme == "dark" and not problems)


async def test_the_file_is_polled_if_it_cannot_be_watched(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("watchfiles.awatch", fail)
    monkeypatch.setattr(preferences_file, "POLL_MS", 20)
    file = PreferencesFile(path)
    await file.load()
    async with watch_file(file) as recorder:
        replace_file(path, theme="dark")
        await recorder.wait_until(lambda now, _: now.theme == "dark")


# Concurrent edits and crashes -----------------------------------------------------------------


def edit_in_place(path: Path, pause: float, **edits: Any) -> threading.Thread:
    """Save as simple editors do: truncate the file, and write it in a thread after `pause`."""
    content = json.dumps({**read_stored(path), **edits})
    file = path.open("w")

    def fill() -> None:
        time.sleep(pause)
        with file:
            file.write(content)

    filling = threading.Thread(target=fill)
    filling.start()
    return filling


async def test_no_edit_is_lost_at_any_point_of_a_save(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences_file, "UNFINISHED_SECONDS", PATIENCE)
    generator = random.Random(7)
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    calls_to_go = 0
    fillings: list[threading.Thread] = []
    edits = 0

    def edit_at_the_right_call() -> None:
        nonlocal calls_to_go, edits
        calls_to_go -= 1
        if calls_to_go == 0:
            edit = {f"other_{edits}": edits}
            edits += 1
            if generator.random() < 0.5:
                replace_file(path, **edit)
            else:
                pause = generator.choice([0, 0.01, 0.15])
                fillings.append(edit_in_place(path, pause, **edit))

    def with_edit(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            edit_at_the_right_call()
            return real(*arguments)

        return call

    for name in ("open", "fstat", "write", "fsync"):
        monkeypatch.setattr(os, name, with_edit(getattr(os, name)))

    for turn in range(60):
        calls_to_go = generator.randint(
            1, 5
        )  # a save makes five such calls before it renames the file
        change = {"ui_font_size": 12 + turn % 13}
        preferences = await file.save(apply_changes(preferences, change), preferences)
        for filling in fillings:
            filling.join()
        assert read_stored(path) == preferences.model_dump()
        assert preferences.ui_font_size == 12 + turn % 13
    assert edits == 60
    assert {f"other_{number}": number for number in range(60)}.items() <= read_stored(path).items()
    assert list_kept(path) == []


async def test_concurrent_saves_are_all_stored(path: Path) -> None:
    file = PreferencesFile(path)
    preferences, _ = await file.load()
    changes = [{"theme": "dark"}, {"editor": "cursor"}, {"terminal": "warp"}, {"zoom_level": 50}]
    await asyncio.gather(
        *(file.save(apply_changes(preferences, change), preferences) for change in changes)
    )
    assert (await PreferencesFile(path).load())[0] == Preferences(
        theme="dark", editor="cursor", terminal="warp", zoom_level=50
    )


KILLED_SAVER = """
import asyncio, os, random, signal, sys, time
from pathlib import Path
from model.preferences.schema import Preferences
from model.preferences.file import PreferencesFile

path = Path(sys.argv[1])

async def save_for_ever():
    file = PreferencesFile(path)
    now, problems = await file.load()
    assert not problems, problems
    while True:
        for size in range(12, 25):
            wanted = now.model_copy(update={"ui_font_size": size, "chat_font_size": size})
            now = await file.save(wanted, now)

async def check():
    now, problems = await PreferencesFile(path).load()
    assert not problems, problems
    assert now.ui_font_size == now.chat_font_size

for _ in range(30):
    child = os.fork()
    if child == 0:
        asyncio.run(save_for_ever())
    time.sleep(random.uniform(0.02, 0.15))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    asyncio.run(check())
assert len(list(path.parent.iterdir())) <= 2, list(path.parent.iterdir())
"""


@pytest.mark.longer
def test_a_program_killed_while_it_saves_leaves_old_or_new_settings(path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", KILLED_SAVER, str(path)], cwd=ROOT, timeout=60, check=True
    )
