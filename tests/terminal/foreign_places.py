"""Dialogs, lists and notifications that show untrusted text, with functions that open them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from model.api.cloning import CloneProgress
from model.api.directories import Directory
from model.api.doctor import AgentKind, AgentModel, BackendReport, Installation
from model.api.files import WorktreeFileList
from model.api.search import SearchHit
from model.api.worktrees import RemovalLosses
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.branches import Branch, Remote
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued
from model.domain.events.notices import NoticesSent
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.findings import Finding
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.domain.messages import Message, TextBlock
from model.domain.output import ToolOutput
from model.domain.scripts import Script, ScriptRun
from tests.terminal import foreign_landing
from tests.tui.builders import a_session, a_worktree
from tests.tui.fake_client import FakeClient
from tui.diff.screen import Diff
from tui.hosting.pull_request_screen import PullRequestScreen
from tui.screens.pick_field import PickField
from tui.shell.app import SpinneyApp
from tui.widgets.row_list import RowList

SEEN = "seen"
"""Part of each text, so that a place that does not show it is found."""

Open = Callable[[SpinneyApp, FakeClient, "Pilot[Any]"], Awaitable[None]]


def command_results(text: str) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Return results of commands, with the text in every field that may be untrusted."""

    def refused(given: dict[str, Any]) -> Any:
        raise SpinneyError(text, "git_error")

    async def wait_forever(given: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    report = BackendReport(
        name="backend_a", label=text, program=None, version=text, supported=False,
        signed_in=False, problem=text, fix=text,
    )  # fmt: skip
    models = [AgentModel(name=text, passed=text, label=text)]
    findings = [Finding("git", False, text, text, text), Finding(text, False, text, text)]
    hit = SearchHit(
        session=a_session(name=text), message_id="m2", role="user", timestamp=1.0, snippet=text
    )
    ran = ScriptRun(
        worktree_id="w1", script="run", status="failed", started_at=1.0, ended_at=2.0,
        error=text, output=text,
    )  # fmt: skip
    proposed = OpenPullRequest(id="7", number=7, title=text, head_ref_name=text, base_ref_name=text)
    found: dict[str, Any] = {
        "search_messages": [hit],
        "get_project_scripts": [Script(name="run", text=text, hash="h", trusted=True)],
        "get_script_output": ran,
        "get_project_branches": [Branch(name=text, current=True)],
        "list_issues": [OpenIssue(id="1", number=1, title=text)],
        "list_pull_requests": [proposed],
        "list_directories": [Directory(path=f"/{text}", holds="repository")],
        "list_worktree_files": WorktreeFileList(files=[text]),
        "list_agent_commands": [
            AgentCommand(name="seen", description=text, argument_hint=text),
        ],
        "get_git_remotes": [Remote(name=text, url=text)],
        "get_clone_progress": CloneProgress(running=True, words=text),
        "get_removal_losses": RemovalLosses(files=[text], commits=1, sessions=1, running=[text]),
        "list_backends": [report],
        "list_agents": [AgentKind(name="backend_a", label=text, program=text, models=models)],
        "get_installation": Installation(version="1", log=text, findings=findings),
        "get_tool_output": ToolOutput(content=text, offset=0, next_offset=None, size=1),
    }

    def returning(result: Any) -> Callable[[dict[str, Any]], Any]:
        return lambda given: result

    given = {name: returning(result) for name, result in found.items()}
    refusals = ("commit_changes", "git_push", "rename_worktree", "write_commit_message")
    given |= dict.fromkeys(refusals, refused) | {"clone_project": wait_forever}
    return given | foreign_landing.command_results(text)


def archived_events(text: str) -> Iterator[Event]:
    """Yield events for an archived worktree and session and for a queued message."""
    tree = a_worktree(id="w9", name=text, branch=text, archived_at=1.0)
    yield WorktreeCreated(worktree=tree)
    yield SessionCreated(session=a_session(id="s9", name=text, archived_at=1.0))
    waits = Message(
        id="q1", role="user", content=[TextBlock(text=text)], session_id="s1", timestamp=3.0
    )
    yield MessageQueued(session_id="s1", message=waits, status="sent")


def is_shown(app: SpinneyApp) -> bool:
    """Whether the text is on the screen."""
    strips = app.screen._compositor.render_strips(app.screen.size)
    return any(SEEN in "".join(part.text for part in strip) for strip in strips)


def dialog_of(name: str, *keys: str) -> Open:
    """Return a function that opens a dialog by its action and presses keys."""

    async def open_place(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.main.action_do(name)
        while app.screen is app.main:
            await pilot.pause(0.02)
        await pilot.pause()  # until its fields are mounted
        await pilot.press(*keys)

    return open_place


def field_list(field: str) -> Open:
    """Return a function that opens the list of a field of the new worktree dialog."""

    async def open_place(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        await dialog_of("new_worktree")(app, client, pilot)
        dialog = app.screen
        chosen = dialog.query_one(f"#{field}", PickField)
        while app.screen is dialog:
            chosen.focus()
            await pilot.pause(0.1)
            if app.focused is chosen:  # not the field that has the focus first
                await pilot.press("s")

    return open_place


def completion(*keys: str) -> Open:
    """Return a function that types in the composer until completions are shown."""

    async def open_place(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.main.chat.composer.text = ""
        app.main.focus_chat()
        await pilot.press(*keys)
        while not app.main.chat.completion.display:
            await pilot.pause(0.02)

    return open_place


def refused_action(name: str) -> Open:
    """Return a function that runs a refused action and waits for its notification."""

    async def open_place(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.clear_notifications()
        app.main.action_do(name)
        while not app._notifications and app.screen is app.main:
            await pilot.pause(0.02)

    return open_place


async def _open_refused_rename(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await dialog_of("rename_worktree")(app, client, pilot)
    first = app.screen
    app.screen.query_one(Input).value = "heron"
    await pilot.press("enter")
    while app.screen is first:
        await pilot.pause(0.02)


async def _open_hook_output(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await dialog_of("commit")(app, client, pilot)
    app.screen.query_one("#message").text = "words"  # type: ignore[attr-defined]
    await pilot.press("ctrl+s")


async def _open_clone(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await dialog_of("add_project", *"https://host.example/a/b.git")(app, client, pilot)
    first = app.screen
    await pilot.press("enter")
    while app.screen is first:
        await pilot.pause(0.02)


async def _open_tool_output(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    transcript = app.main.chat.transcript
    assert transcript is not None
    transcript.focus()
    transcript.action_step(-1)
    transcript.action_step(-1)
    await pilot.press("v")
    while app.screen is app.main:
        await pilot.pause(0.02)


def in_screen(name: str, *keys: str) -> Open:
    """Return a function that opens a full screen by its action, and presses keys in it, each as
    soon as its rows are shown.
    """

    async def open_place(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        client.feed(foreign_landing.link_pull_request(client.state.worktrees["w1"]))
        app.main.action_do(name)
        while app.screen is app.main:
            await pilot.pause(0.02)
        for key in keys:
            while not _is_ready(app):
                await pilot.pause(0.02)
            before = app.screen
            await pilot.press(key)
            while app.screen is before:
                await pilot.pause(0.02)

    return open_place


def _is_ready(app: SpinneyApp) -> bool:
    lists = app.screen.query(RowList)
    return is_shown(app) and (not lists or any(one.items for one in lists))


async def _open_log(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await in_screen("pull_request")(app, client, pilot)
    screen = app.screen
    assert isinstance(screen, PullRequestScreen)
    while not screen.page.go_to(("check", "red", 0)):
        await pilot.pause(0.02)
    await pilot.press("enter")
    while app.screen is screen:
        await pilot.pause(0.02)


async def _open_findings(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await in_screen("open_diff")(app, client, pilot)
    diff = app.screen
    while not isinstance(diff, Diff) or not diff.view.notes:
        await pilot.pause(0.02)
    await pilot.press("L")
    while app.screen is diff:
        await pilot.pause(0.02)


async def _show_copied(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    app.clear_notifications()
    app.copy(client.state.sessions["s1"].name)
    await pilot.pause()


async def _send_notification(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    app.post_message(events.AppBlur())
    while app.app_focus:
        await pilot.pause(0.02)
    client.feed(SessionUpdated(session_id="s1", updates={"status": "running"}))
    name = client.state.sessions["s1"].name
    client.feed(NoticesSent(channel="terminal", notice_ids=["n1"], at=0.0, title=name, text=name))
    client.feed(SessionUpdated(session_id="s1", updates={"status": "idle"}))
    while app.main.state.sessions["s1"].status != "idle":
        await pilot.pause(0.02)
    app.post_message(events.AppFocus())


PLACES: dict[str, Open] = {
    "search": dialog_of("search", "s", "e"),
    "archive": dialog_of("show_archive"),
    "scripts": dialog_of("show_scripts"),
    "a script's output": dialog_of("run_script"),
    "about": dialog_of("about"),
    "programs": dialog_of("check_agents"),
    "project": dialog_of("project_settings"),
    "models": dialog_of("choose_model"),
    "agents": dialog_of("choose_agent"),
    "losses": dialog_of("delete_worktree"),
    "pull requests": dialog_of("link_pull_request"),
    "base branches": field_list("base"),
    "issues": field_list("issue"),
    "pull requests to begin with": field_list("pull-request"),
    "directories": dialog_of("add_project", "/", "tab"),
    "a clone": _open_clone,
    "a refused name": _open_refused_rename,
    "a hook's words": _open_hook_output,
    "a new pull request": dialog_of("pull_request"),
    "a refused push": refused_action("push"),
    "an output": _open_tool_output,
    "mentions": completion("@", "s", "e"),
    "commands": completion("/", "s", "e"),
    "the landing desk": in_screen("show_landing"),
    "a landing": in_screen("show_landing", "l"),
    "a train": in_screen("show_landing", "t"),
    "the output of a check in a train": in_screen("show_landing", "t", "enter"),
    "the sweep": in_screen("show_sweep"),
    "a pull request": in_screen("pull_request"),
    "the log of a check": _open_log,
    "open work": in_screen("open_work"),
    "an issue": in_screen("open_work", "enter"),
    "findings of a review": _open_findings,
    "what was copied": _show_copied,
    "a notification": _send_notification,
}
