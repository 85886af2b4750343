"""The message box: chips, mentions, commands, earlier messages, drafts, the editor."""

import asyncio
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Input, OptionList

from model.api.files import WorktreeFileList
from model.api.sessions import AddedImage
from model.base.errors import SpinneyError
from model.domain.events.sessions import SessionCreated
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.composer.draft_store import DraftStore
from tui.composer.widget import Composer
from tui.screens.dialog import AskText
from tui.screens.pick import Pick
from tui.shell.app import SpinneyApp
from tui.terminal.clipboard_image import read_clipboard_image
from tui.terminal.input_parser import InputParser


def sent_arguments(client: FakeClient) -> list[dict[str, Any]]:
    return client.called("send_chat_message")


async def paste(composer: Composer, pilot: Any, text: str) -> None:
    before = composer.text
    composer.post_message(events.Paste(text))
    await until(pilot, lambda: composer.text != before)


# Chips -------------------------------------------------------------------------------------------


async def test_a_folded_paste_is_unfolded_by_its_key_and_folded_again_by_undo(
    start: Start,
) -> None:
    text = "\n".join(f"line {number}" for number in range(50))
    async with start(a_client()) as (app, pilot):
        composer = app.main.chat.composer
        await pilot.press(*"see ")
        await paste(composer, pilot, text)
        assert composer.text == "see [pasted 50 lines]"
        await pilot.press("ctrl+l")
        await until(pilot, lambda: composer.text == f"see {text}")
        await pilot.press("ctrl+underscore")
        await until(pilot, lambda: composer.text == "see [pasted 50 lines]")
        assert composer.draft.text_to_send() == f"see {text}"


async def test_a_very_large_paste_cannot_be_unfolded_and_says_why(start: Start) -> None:
    client = a_client()
    text = "0123456789abcdef" * 65536
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        await paste(composer, pilot, text)
        assert composer.text == "[pasted 1,048,576 characters]"
        await pilot.press("ctrl+l")
        await until(pilot, lambda: notifications(app))
        assert composer.text == "[pasted 1,048,576 characters]"
        assert "too many for this box" in notifications(app)[0]
        await pilot.press("enter")
        await until(pilot, lambda: sent_arguments(client))
        assert sent_arguments(client)[0]["message"] == text


async def test_control_sequences_in_a_paste_are_escaped(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        composer = app.main.chat.composer
        await paste(composer, pilot, "a\x1b]52;c;AAAA\x07b\x1b[2J\x9bc\r\nd\re\x1b[31mf")
        assert composer.text == "a␛]52;c;AAAA␇b␛[2J<U+009B>c\nd\nef"


@pytest.mark.parametrize("form", ["{}", "'{}'", "file://{}"])
async def test_the_path_of_an_image_becomes_an_attachment(
    start: Start, tmp_path: Path, form: str
) -> None:
    image = tmp_path / "map.png"
    image.touch()
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"see ")
        await paste(app.main.chat.composer, pilot, form.format(image))
        assert app.main.chat.composer.text == "see [image map.png] "
        await pilot.press("enter")
        await until(pilot, lambda: sent_arguments(client))
        assert sent_arguments(client)[0]["images"] == [str(image)]
        assert sent_arguments(client)[0]["message"].strip() == "see [image map.png]"


async def test_a_local_image_is_not_attached_on_a_remote_server(tmp_path: Path) -> None:
    image = tmp_path / "map.png"
    image.touch()
    app = SpinneyApp(a_client, elsewhere="http://far:3456", environ={})
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: app.main.chat.key == "s1")
        await paste(app.main.chat.composer, pilot, str(image))
        assert app.main.chat.composer.text == str(image)
        assert "cannot be attached" in notifications(app)[0]


async def test_other_files_are_mentioned_and_undo_restores_the_path(
    start: Start, tmp_path: Path
) -> None:
    inside, outside = tmp_path / "tree" / "my notes.md", tmp_path / "log.txt"
    inside.parent.mkdir()
    inside.touch()
    outside.touch()
    client = FakeClient(a_state(a_project(), a_worktree(path=str(inside.parent)), a_session()))
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        await until(pilot, lambda: app.main.chat.key == "s1")
        await pilot.press(*"see ")
        await paste(composer, pilot, f"'{inside}' {outside}\n")
        assert composer.text == f'see @"my notes.md" @{outside} '
        await pilot.press("ctrl+underscore")
        assert composer.text == f"see '{inside}' {outside}"


@pytest.mark.parametrize("has_image", [True, False])
async def test_the_image_in_the_clipboard_is_attached(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_image: bool
) -> None:
    types = "text/plain\nimage/png" if has_image else "text/plain"
    program = tmp_path / "wl-paste"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --list-types ] && printf "{types}" && exit\nprintf "%s" "$*"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    client = a_client()
    client.answers["add_image"] = lambda given: AddedImage(path="/data/images/1.png")
    async with start(client) as (app, pilot):
        await pilot.press(*"see ", "ctrl+v")
        if not has_image:
            await until(pilot, lambda: "no image" in "".join(notifications(app)))
            return
        await until(pilot, lambda: app.main.chat.composer.text == "see [image 1.png] ")
        (given,) = client.called("add_image")
        assert b64decode(given["data"]) == b"--no-newline --type image/png"
        await pilot.press("enter")
        await until(pilot, lambda: sent_arguments(client))
        assert sent_arguments(client)[0]["images"] == ["/data/images/1.png"]


async def test_where_no_clipboard_can_be_read_another_way_is_named() -> None:
    for environ, way in (
        ({}, "no clipboard"),
        ({"DISPLAY": ":0", "PATH": ""}, "Install xclip"),
        ({"WAYLAND_DISPLAY": "wayland-0", "PATH": ""}, "Install wl-clipboard"),
    ):
        with pytest.raises(SpinneyError, match=way):
            await read_clipboard_image(environ, "linux")


async def test_a_path_of_no_file_stays_text(start: Start, tmp_path: Path) -> None:
    async with start(a_client()) as (app, pilot):
        for text in (f"{tmp_path}/none.png", "about map.png"):
            await paste(app.main.chat.composer, pilot, text)
        assert app.main.chat.composer.text == f"{tmp_path}/none.pngabout map.png"


async def test_keys_in_one_burst_keep_their_order(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await pilot.press(*"helko")
        for event in InputParser().feed("\x7f\x7flo,\x1b[D worl\x1b[Hoh \x1b[Fd"):
            app.post_message(event)
        await until(pilot, lambda: app.main.chat.composer.text == "oh hello worl,d")


# Mentions and commands ---------------------------------------------------------------------------


async def test_at_lists_files_over_the_chat_and_tab_completes_one(start: Start) -> None:
    client = a_client()
    client.answers["list_worktree_files"] = lambda given: WorktreeFileList(
        files=["src/parser.py", "src/my parser.py"]
    )
    async with start(client) as (app, pilot):
        region = app.main.chat.composer.region
        await pilot.press(*"see @par")
        await until(pilot, lambda: app.main.chat.completion.display)
        assert app.main.chat.composer.region == region
        assert client.called("list_worktree_files")[-1] == {"worktree_id": "w1", "query": "par"}
        await pilot.press("tab")
        assert app.main.chat.composer.text == "see @src/parser.py "
        await pilot.press("@", "down", "enter")
        await until(pilot, lambda: app.main.chat.completion.display is False)
        assert app.focused is app.main.chat.composer


async def test_a_name_with_a_space_is_quoted(start: Start) -> None:
    client = a_client()
    client.answers["list_worktree_files"] = lambda given: WorktreeFileList(files=["my parser.py"])
    async with start(client) as (app, pilot):
        await pilot.press("@")
        await until(pilot, lambda: app.main.chat.completion.display)
        await pilot.press("enter")
        assert app.main.chat.composer.text == '@"my parser.py" '
        assert not sent_arguments(client)


async def test_escape_closes_the_list_and_stops_nothing(start: Start) -> None:
    client = a_client(status="running")
    client.answers["list_worktree_files"] = lambda given: WorktreeFileList(files=["a"])
    async with start(client) as (app, pilot):
        await pilot.press("@")
        await until(pilot, lambda: app.main.chat.completion.display)
        await pilot.press("escape", "a")
        await pilot.pause()
        assert not app.main.chat.completion.display
        assert not client.called("stop_generation")


async def test_an_email_address_is_not_a_mention(start: Start) -> None:
    client = a_client()
    async with start(client) as (_, pilot):
        await pilot.press(*"ada@example")
        await pilot.pause()
        assert not client.called("list_worktree_files")


async def test_an_error_while_files_are_listed_is_shown_in_the_list(start: Start) -> None:
    client = a_client()
    client.refuse("list_worktree_files", "The disk [/] does not answer.")
    async with start(client) as (app, pilot):
        await pilot.press("@")
        await until(pilot, lambda: app.main.chat.completion.display)
        assert app.main.chat.completion.render().plain.strip() == "The disk [/] does not answer."


async def test_a_command_of_spinney_is_listed_and_executed(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo")
        rows = app.main.chat.completion.render
        await until(pilot, lambda: "/mode " in rows().plain and "/model " in rows().plain)
        await pilot.press(*"del", "enter")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("escape")
        assert app.main.chat.composer.text == ""
        assert not sent_arguments(client)


async def test_commands_of_the_agent_are_sent_to_it(start: Start) -> None:
    client = a_client()
    async with start(client) as (_, pilot):
        await pilot.press(*"/context now", "enter")
        await until(pilot, lambda: sent_arguments(client))
        await pilot.press(*"//model x", "enter")
        await until(pilot, lambda: len(sent_arguments(client)) == 2)
        assert [given["message"] for given in sent_arguments(client)] == [
            "/context now",
            "/model x",
        ]


@pytest.mark.parametrize("keys", [[*"/clear", "enter"], ["ctrl+t"]])
async def test_a_new_session_is_like_the_open_one(start: Start, keys: list[str]) -> None:
    client = a_client(backend="backend_b", model="loom-1", execution_mode="build")

    def create(_: dict[str, object]) -> object:
        session = a_session(id="new")
        client.feed(SessionCreated(session=session))
        return session

    client.answers["create_session"] = create
    async with start(client) as (app, pilot):
        await pilot.press(*keys)
        await until(pilot, lambda: app.main.session is not None and app.main.session.id == "new")
        (given,) = client.called("create_session")
        wanted = {"backend": "backend_b", "model": "loom-1", "execution_mode": "build"}
        assert wanted.items() <= given.items()
        assert not sent_arguments(client)


async def test_unexpected_arguments_of_a_command_are_kept(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/new it", "enter")
        await until(pilot, lambda: notifications(app))
        assert "takes no arguments" in notifications(app)[0]
        assert app.main.chat.composer.text == "/new it"
        assert not isinstance(app.screen, AskText)


# Drafts ------------------------------------------------------------------------------------------


def load_draft(folder: Path, key: str) -> str:
    drafts = DraftStore(folder / "terminal")
    drafts.load()
    return drafts.get(key).text


async def test_a_draft_is_saved_when_typing_pauses(start: Start, tmp_path: Path) -> None:
    client = a_client()
    app = SpinneyApp(lambda: client, data=tmp_path, environ={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.chat.key == "s1")
        await pilot.press(*"unsent")
        # Already on disk while the application runs, so a crash does not lose it.
        await until(pilot, lambda: load_draft(tmp_path, "s1") == "unsent")
    other = SpinneyApp(a_client, data=tmp_path, environ={})
    async with other.run_test() as pilot:
        await until(pilot, lambda: other.main.chat.key == "s1")
        assert other.main.chat.composer.text == "unsent"
        await pilot.press("!", "enter")
        await until(pilot, lambda: not list(tmp_path.glob("terminal/drafts/*")))
    third = SpinneyApp(a_client, data=tmp_path, environ={})
    async with third.run_test() as pilot:
        await until(pilot, lambda: third.main.chat.key == "s1")
        await pilot.press("up")
        assert third.main.chat.composer.text == "unsent!"


async def test_a_message_that_returns_is_put_before_newer_text(
    start: Start,
) -> None:
    client = a_client()
    written = asyncio.Event()

    async def refuse(given: dict[str, Any]) -> None:
        await written.wait()
        raise SpinneyError("The agent is gone.")

    client.answers["send_chat_message"] = refuse
    async with start(client) as (app, pilot):
        await pilot.press(*"first", "enter", *"second")
        written.set()
        await until(pilot, lambda: notifications(app))
        assert app.main.chat.composer.text == "first\n\nsecond"


# The editor --------------------------------------------------------------------------------------


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The path that $VISUAL names; tests write the program with `write_editor`."""
    path = tmp_path / "bin" / "ed it"
    path.parent.mkdir()
    monkeypatch.setenv("VISUAL", f"'{path}' --wait")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield path
    monkeypatch.setattr("tempfile.tempdir", None)


def write_editor(path: Path, script: str) -> None:
    path.write_text(f'#!/bin/sh\nfile="$2"\n{script}\n')
    path.chmod(0o755)


async def test_the_message_is_edited_in_the_editor_and_undo_restores_it(
    start: Start, editor: Path, tmp_path: Path
) -> None:
    write_editor(editor, 'sed -i "s/old/new/" "$file"; echo more >> "$file"')
    async with start(a_client()) as (app, pilot):
        composer = app.main.chat.composer
        await pilot.press(*"old")
        await pilot.press("ctrl+e")
        await until(pilot, lambda: composer.text == "newmore")
        await pilot.press("ctrl+underscore")
        await until(pilot, lambda: composer.text == "old")
    assert not list(tmp_path.glob("spinney-*"))


async def test_a_folded_paste_is_expanded_in_the_editor(start: Start, editor: Path) -> None:
    write_editor(editor, 'wc -l < "$file" > "$file.count"; cat "$file.count" > "$file"')
    async with start(a_client()) as (app, pilot):
        await paste(app.main.chat.composer, pilot, "x\n" * 77)
        await pilot.press("ctrl+e")
        await until(pilot, lambda: app.main.chat.composer.text.strip() == "77")


async def test_a_failed_editor_changes_nothing_and_says_where_its_text_is(
    start: Start, editor: Path, tmp_path: Path
) -> None:
    write_editor(editor, 'echo half > "$file"; exit 3')
    async with start(a_client()) as (app, pilot):
        await pilot.press(*"precious", "ctrl+e")
        await until(pilot, lambda: notifications(app))
        assert "exit code 3" in notifications(app)[0]
        assert app.main.chat.composer.text == "precious"
        kept = next(tmp_path.glob("spinney-*/message.md"))
        assert str(kept) in notifications(app)[0]


async def test_a_missing_editor_is_reported(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor -x")
    async with start(a_client()) as (app, pilot):
        await pilot.press(*"precious", "ctrl+e")
        await until(pilot, lambda: notifications(app))
        assert notifications(app) == [
            "$VISUAL is set to 'no-such-editor', which is not installed. Set it to your editor."
        ]
        assert app.main.chat.composer.text == "precious"


async def test_the_editor_is_opened_from_the_palette(start: Start, editor: Path) -> None:
    write_editor(editor, 'echo written > "$file"')
    async with start(a_client()) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main and app.screen.query(Input))
        await pilot.press(*"message in your editor")
        found = app.screen.query_one(OptionList)
        await until(pilot, lambda: found.option_count == 1 and found.highlighted == 0)
        await pilot.press("enter")
        await until(pilot, lambda: app.main.chat.composer.text == "written")


async def test_end_in_an_empty_box_scrolls_to_the_newest_message(start: Start) -> None:
    client = a_client()
    client.messages["s1"] = [a_message(f"message {number}") for number in range(80)]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        transcript = app.main.chat.transcript
        assert transcript is not None
        await until(pilot, lambda: transcript.viewport is not None)
        window = transcript.viewport
        assert window is not None
        await pilot.press("pageup")
        await until(pilot, lambda: window.anchor is not None)
        await pilot.press("a", "home", "end", "b")
        await until(pilot, lambda: app.main.chat.composer.text == "ab")
        assert window.anchor is not None
        await pilot.press("ctrl+u", "end")
        await until(pilot, lambda: window.anchor is None)
