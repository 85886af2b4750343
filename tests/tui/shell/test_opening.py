"""Opening files, folders, shells and web pages, and the errors where that is impossible."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.preferences.schema import Preferences
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.actions.editor import open_file, open_link
from tui.screens.choose import Choose
from tui.screens.dialog import Confirm
from tui.shell.app import SpinneyApp
from tui.terminal import open_commands
from tui.transcript.targets import Target

Programs = Callable[..., Mapping[str, str]]


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """A function that returns an environment with only these programs installed."""

    def installed(*names: str, **environ: str) -> Mapping[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).touch(mode=0o755)
        return {"PATH": str(folder), **environ}

    return installed


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which fake editor, browser and shell record how they were called."""
    noted, folder = tmp_path / "called", tmp_path / "programs"
    folder.mkdir()
    for name in ("nano", "xdg-open", "my-shell", "zed"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" "in $(pwd)" $SPINNEY_PORT >> "{noted}"\n')
        path.chmod(0o755)
    for name in ("SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("EDITOR", "nano")
    monkeypatch.setenv("SHELL", str(folder / "my-shell"))
    return noted


def client_with_worktree_at(place: Path, **preferences: object) -> FakeClient:
    place.mkdir(exist_ok=True)
    state = a_state(a_project(), a_worktree(path=str(place), port=12_340), a_session())
    client = FakeClient(state)
    changed = state.__class__(
        projects=state.projects,
        worktrees=state.worktrees,
        sessions=state.sessions,
        preferences=Preferences.model_validate(preferences),
    )
    client.reload(changed)
    return client


def read_calls(log: Path) -> str:
    """The recorded calls; the shell creates the file before it writes."""
    return log.read_text() if log.exists() else ""


# Commands ----------------------------------------------------------------------------------------


def test_the_preferred_editor_opens_its_window_at_the_line(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    environ = programs("code", "nano", DISPLAY=":0")
    preferences = Preferences(editor="vscode")
    opener = open_commands.find_editor(preferences, environ, tmp_path / "a.py", 12)
    assert opener.in_window
    assert opener.command == ("code", "--goto", f"{tmp_path}/a.py:12")


@pytest.mark.parametrize(
    ("installed", "environ"),
    [
        (("nano",), {"DISPLAY": ":0"}),
        (("zed", "nano"), {}),
        (("zed", "nano"), {"DISPLAY": ":0", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}),
    ],
)
def test_without_the_preferred_editor_or_a_desktop_the_terminal_editor_opens_the_file(
    programs: Programs,
    tmp_path: Path,
    installed: tuple[str, ...],
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    given = programs(*installed, EDITOR="nano", **environ)
    opener = open_commands.find_editor(Preferences(), given, tmp_path / "a.py", 12)
    assert not opener.in_window
    assert opener.command == ("nano", "+12", f"{tmp_path}/a.py")


def test_files_are_edited_in_the_terminal_if_preferred(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    environ = programs("zed", "nano", EDITOR="nano", DISPLAY=":0")
    inline = Preferences(file_edit_mode="inline")
    assert not open_commands.find_editor(inline, environ, tmp_path / "a.py").in_window
    assert open_commands.find_editor(inline, environ, tmp_path).in_window


def test_a_machine_without_an_editor_is_an_error(programs: Programs, tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="Set \\$EDITOR"):
        open_commands.find_text_editor(programs())


# Actions of the screen ---------------------------------------------------------------------------


async def test_a_shell_opens_in_the_worktree(start: Start, log: Path, tmp_path: Path) -> None:
    async with start(client_with_worktree_at(tmp_path / "tree")) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        await pilot.press("f7")
        await until(pilot, lambda: read_calls(log))
        assert log.read_text() == f"my-shell  in {tmp_path}/tree 12340\n"


@pytest.mark.parametrize(
    ("open_in", "expected"),
    [("editor", "nano {0} in {0} 12340\n"), ("terminal", "my-shell  in {0} 12340\n")],
)
async def test_the_worktree_opens_where_the_preference_says(
    start: Start, log: Path, tmp_path: Path, open_in: str, expected: str
) -> None:
    async with start(client_with_worktree_at(tmp_path / "tree", open_in=open_in)) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        app.main.action_do("open_worktree")
        await until(pilot, lambda: read_calls(log))
        assert log.read_text() == expected.format(tmp_path / "tree")


@pytest.mark.parametrize(
    ("open_in", "expected"), [("finder", "no desktop"), ("hosting", "no pull request yet")]
)
async def test_a_worktree_that_cannot_be_opened_says_why(
    start: Start, log: Path, tmp_path: Path, open_in: str, expected: str
) -> None:
    async with start(client_with_worktree_at(tmp_path / "tree", open_in=open_in)) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        app.main.action_do("open_worktree")
        await until(pilot, lambda: notifications(app))
        assert expected in notifications(app)[0]


async def test_files_on_another_machine_are_not_opened_on_this_one(
    log: Path, tmp_path: Path
) -> None:
    client = client_with_worktree_at(tmp_path / "tree")
    app = SpinneyApp(lambda: client, elsewhere="http://far:3456", environ={})
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: app.main.chat.key == "s1")
        for action in ("open_shell", "open_editor"):
            app.main.action_do(action)
        await until(pilot, lambda: len(notifications(app)) == 2)
        assert all("They are on http://far:3456" in sentence for sentence in notifications(app))
        assert not log.exists()


async def test_a_file_opens_at_the_line_of_the_edit(
    start: Start, log: Path, tmp_path: Path
) -> None:
    client = client_with_worktree_at(tmp_path / "tree")
    file = tmp_path / "tree" / "a.py"
    file.write_text("one\ntwo\nthree\n")
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        assert app.main.is_connected
        app.main.start(open_file(app.main, str(file), having="three\n"))
        await until(pilot, lambda: read_calls(log))
        assert log.read_text() == f"nano +3 {file} in {tmp_path}/tree 12340\n"
        app.main.start(open_file(app.main, "gone.py"))
        await until(pilot, lambda: notifications(app))
        assert "The file" in notifications(app)[0]


async def test_one_of_several_files_is_chosen_from_a_list(
    start: Start, log: Path, tmp_path: Path
) -> None:
    client = client_with_worktree_at(tmp_path / "tree")
    for name in ("a.py", "b.py"):
        (tmp_path / "tree" / name).touch()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        assert app.main.is_connected
        app.main.start(app.main.open_targets([Target("a.py", 1), Target("b.py", 2)]))
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: read_calls(log))
        assert log.read_text() == f"nano +2 {tmp_path}/tree/b.py in {tmp_path}/tree 12340\n"


async def test_a_page_opens_after_its_whole_address_is_confirmed(
    start: Start, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    address = "https://example.com/[/]?q=1"
    async with start(client_with_worktree_at(tmp_path / "tree")) as (app, pilot):
        assert app.main.is_connected
        for answer in ("escape", "enter"):
            await until(pilot, lambda: app.screen is app.main)
            app.main.start(open_link(app.main, address))
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            assert not log.exists()
            assert address in str(app.screen.query("Static").first().render())
            await pilot.press(answer)
        await until(pilot, lambda: read_calls(log))
        assert log.read_text().startswith(f"xdg-open {address} in ")


@pytest.mark.parametrize("href", ["file:///etc/passwd", "javascript:alert(1)", "vscode://x"])
async def test_only_http_links_are_opened(
    start: Start, log: Path, tmp_path: Path, href: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    async with start(client_with_worktree_at(tmp_path / "tree")) as (app, pilot):
        assert app.main.is_connected
        app.main.start(open_link(app.main, href))
        await until(pilot, lambda: len(notifications(app)) == 2)
        assert "Only http and https" in notifications(app)[1]
        assert not isinstance(app.screen, Confirm)
        assert not log.exists()


async def test_the_page_of_a_worktrees_server_is_opened(
    start: Start, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_with_worktree_at(tmp_path / "tree")
    listening: list[int] = []
    client.answers["get_listening_ports"] = lambda given: listening
    monkeypatch.setenv("DISPLAY", ":0")
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.key == "s1")
        app.main.action_do("open_port")
        await until(pilot, lambda: notifications(app))
        assert "Nothing listens on the ports 12340 to 12349." in notifications(app)[0]
        listening += [12_341, 12_345]
        app.main.action_do("open_port")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("enter")
        await until(pilot, lambda: read_calls(log))
        assert log.read_text().startswith("xdg-open http://localhost:12345 in ")
