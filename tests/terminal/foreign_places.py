"""Dialogs, lists and passing words in which text of strangers stands, and the ways to them."""

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
from model.domain import events as e
from model.domain.findings import Finding
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.domain.output import ToolOutput
from model.domain.resources import AgentCommand, Branch, Message, TextBlock
from model.domain.scripts import Script, ScriptRun
from tests.tui.fake_client import FakeClient, a_session, a_worktree
from tui.screens.pick_field import PickField
from tui.shell.app import SpinneyApp

Reach = Callable[[SpinneyApp, FakeClient, "Pilot[Any]"], Awaitable[None]]


def answers(text: str) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """What commands answer, with the text in every field of other people's."""

    def refused(given: dict[str, Any]) -> Any:
        raise SpinneyError(text, "git_error")

    async def never(given: dict[str, Any]) -> Any:
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
    proposed = OpenPullRequest(number=7, title=text, head_ref_name=text, base_ref_name=text)
    found: dict[str, Any] = {
        "search_messages": [hit],
        "get_project_scripts": [Script(name="run", text=text, hash="h", trusted=True)],
        "get_script_output": ran,
        "get_project_branches": [Branch(name=text, current=True)],
        "list_issues": [OpenIssue(number=1, title=text)],
        "list_pull_requests": [proposed],
        "list_directories": [Directory(path=f"/{text}", holds="repository")],
        "list_worktree_files": WorktreeFileList(files=[text]),
        "list_agent_commands": [
            AgentCommand(name="seen", description=text, argument_hint=text),
        ],
        "get_clone_progress": CloneProgress(running=True, words=text),
        "get_removal_losses": RemovalLosses(files=[text], commits=1, sessions=1, running=[text]),
        "list_backends": [report],
        "list_agents": [AgentKind(name="backend_a", label=text, program=text, models=models)],
        "get_installation": Installation(version="1", log=text, findings=findings),
        "get_tool_output": ToolOutput(content=text, offset=0, next_offset=None, size=1),
    }

    def given_back(result: Any) -> Callable[[dict[str, Any]], Any]:
        return lambda given: result

    given = {name: given_back(result) for name, result in found.items()}
    refusals = ("commit_changes", "git_push", "rename_worktree", "write_commit_message")
    return given | dict.fromkeys(refusals, refused) | {"clone_project": never}


def put_away(text: str) -> Iterator[e.Event]:
    """What is in the archive, and what waits behind a run."""
    tree = a_worktree(id="w9", name=text, branch=text, archived_at=1.0)
    yield e.WorktreeCreated(worktree=tree)
    yield e.SessionCreated(session=a_session(id="s9", name=text, archived_at=1.0))
    waits = Message(
        id="q1", role="user", content=[TextBlock(text=text)], session_id="s1", timestamp=3.0
    )
    yield e.MessageQueued(session_id="s1", message=waits, status="sent")


def action(name: str, *keys: str) -> Reach:
    """A dialog of the key map."""

    async def reach(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.main.action_do(name)
        while app.screen is app.main:
            await pilot.pause(0.02)
        await pilot.pause()  # it has its fields only then
        await pilot.press(*keys)

    return reach


def picked(field: str) -> Reach:
    """The list of a field of the dialog for new worktrees."""

    async def reach(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        await action("new_worktree")(app, client, pilot)
        dialog = app.screen
        chosen = dialog.query_one(f"#{field}", PickField)
        while app.screen is dialog:
            chosen.focus()
            await pilot.pause(0.1)
            if app.focused is chosen:  # and not the field that the dialog begins with
                await pilot.press("s")

    return reach


def typed(*keys: str) -> Reach:
    """What is offered while one writes."""

    async def reach(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.main.chat.composer.text = ""
        app.main.focus_chat()
        await pilot.press(*keys)
        while not app.main.chat.completion.display:
            await pilot.pause(0.02)

    return reach


def told(name: str) -> Reach:
    """A passing word about something that was refused."""

    async def reach(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
        app.clear_notifications()
        app.main.action_do(name)
        while not app._notifications and app.screen is app.main:
            await pilot.pause(0.02)

    return reach


async def _renamed(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await action("rename_worktree")(app, client, pilot)
    first = app.screen
    app.screen.query_one(Input).value = "heron"
    await pilot.press("enter")
    while app.screen is first:
        await pilot.pause(0.02)


async def _committed(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await action("commit")(app, client, pilot)
    app.screen.query_one("#message").text = "words"  # type: ignore[attr-defined]
    await pilot.press("ctrl+s")


async def _cloned(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    await action("add_project", *"https://host.example/a/b.git")(app, client, pilot)
    first = app.screen
    await pilot.press("enter")
    while app.screen is first:
        await pilot.pause(0.02)


async def _output(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    transcript = app.main.chat.transcript
    assert transcript is not None
    transcript.focus()
    transcript.action_step(-1)
    transcript.action_step(-1)
    await pilot.press("v")
    while app.screen is app.main:
        await pilot.pause(0.02)


async def _copied(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    app.clear_notifications()
    app.copy(client.state.sessions["s1"].name)
    await pilot.pause()


async def _notified(app: SpinneyApp, client: FakeClient, pilot: "Pilot[Any]") -> None:
    app.post_message(events.AppBlur())
    while app.app_focus:
        await pilot.pause(0.02)
    client.feed(e.SessionUpdated(session_id="s1", updates={"status": "running"}))
    client.feed(e.SessionUpdated(session_id="s1", updates={"status": "idle"}))
    while app.main.state.sessions["s1"].status != "idle":
        await pilot.pause(0.02)
    app.post_message(events.AppFocus())


PLACES: dict[str, Reach] = {
    "search": action("search", "s", "e"),
    "archive": action("show_archive"),
    "scripts": action("show_scripts"),
    "a script's output": action("run_script"),
    "about": action("about"),
    "programs": action("check_agents"),
    "project": action("project_settings"),
    "models": action("choose_model"),
    "agents": action("choose_agent"),
    "losses": action("delete_worktree"),
    "pull requests": action("link_pull_request"),
    "base branches": picked("base"),
    "issues": picked("issue"),
    "pull requests to begin with": picked("pull-request"),
    "directories": action("add_project", "/", "tab"),
    "a clone": _cloned,
    "a refused name": _renamed,
    "a hook's words": _committed,
    "a new pull request": action("pull_request"),
    "a refused push": told("push"),
    "an output": _output,
    "mentions": typed("@", "s", "e"),
    "commands": typed("/", "s", "e"),
    "what was copied": _copied,
    "a notification": _notified,
}
