"""Provider profiles: which holds, what is in it, and what reaches the agent that is started."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.sessions import get_messages, send_chat_message
from model.domain.events import ProjectUpdated
from model.domain.resources import Project, Session, TextBlock, Worktree
from model.preferences import profiles
from model.preferences.schema import CliProfile, Preferences
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend

GATEWAY = {"env": {"ANTHROPIC_BASE_URL": "http://gateway"}}
OF_CODEX = {"model_provider": "gateway"}


def profile(name: str, settings: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "settings_json": json.dumps(settings), **more}


def test_the_prompts_profile_goes_before_the_projects_before_the_persons() -> None:
    chosen = {"magic_prompt_providers": {"commit_message_provider": "prompts"}}
    person = Preferences.model_validate({"default_provider": "persons", **chosen})
    project = Project(id="p", name="a", path="/a", added_at=1, default_provider="projects")
    assert profiles.name_for(person, project, "commit_message") == "prompts"
    assert profiles.name_for(person, project, "session_naming") == "projects"
    assert profiles.name_for(person, None) == "persons"
    assert profiles.name_for(Preferences(), None) == ""


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([], "'work' no longer exists"),
        ([{"name": "work", "settings_json": "[]"}], "'work' are not a JSON object"),
        ([{"name": "work", "settings_json": "{"}], "'work' are not a JSON object"),
    ],
)
def test_a_profile_that_is_gone_or_broken_is_told(listed: Any, said: str) -> None:
    preferences = Preferences.model_validate({"custom_cli_profiles": listed})
    with pytest.raises(SpinneyError, match=said):
        profiles.read(profiles.named("work", preferences) or CliProfile(name="", settings_json=""))


def test_a_profiles_own_settings_stand_over_those_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps({"env": {"KEY": "of the file", "URL": "of the file"}}))
    own = CliProfile(name="work", settings_json='{"env": {"URL": "own"}}', file_path=str(file))
    assert profiles.read(own) == {"env": {"KEY": "of the file", "URL": "own"}}
    table = tmp_path / "gateway.toml"
    table.write_text('model_provider = "gw"\n[model_providers.gw]\nsince = 2026-01-02')
    of_codex = CliProfile(name="work", settings_json="{}", file_path=str(table))
    told = {"model_provider": "gw", "model_providers": {"gw": {"since": "2026-01-02"}}}
    assert profiles.read(of_codex) == told


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.json", "missing.json, cannot be read: No such file"),
        ("pipe", "pipe, cannot be read: it is not a regular file"),
        ("large.json", "large.json, cannot be read: it is larger than"),
        ("list.json", "list.json, does not contain a JSON object"),
        ("broken.toml", "broken.toml, does not contain valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_by_its_name(
    tmp_path: Path, name: str, said: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b" " * (profiles.MAX_BYTES + 1))
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "broken.toml").write_text("= no")
    named = CliProfile(name="work", settings_json="{}", file_path=str(tmp_path / name))
    with pytest.raises(SpinneyError, match="'work'") as refused:
        profiles.read(named)
    assert said in refused.value.message


def test_a_file_is_named_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.json").write_text("{}")
    assert profiles.read(CliProfile(name="w", settings_json="{}", file_path="~/own.json")) == {}
    with pytest.raises(SpinneyError, match="must be an absolute path"):
        profiles.read(CliProfile(name="w", settings_json="{}", file_path="own.json"))


@pytest.mark.parametrize(
    ("settings", "backend", "suits"),
    [
        (GATEWAY, "backend_a", True),
        (GATEWAY, "backend_b", False),
        (GATEWAY, "backend_c", False),
        (OF_CODEX, "backend_b", True),
        ({"model_providers.gw.base_url": "http://x"}, "backend_a", False),
        ({"provider": {}}, "backend_c", True),
        ({**GATEWAY, **OF_CODEX}, "backend_b", True),
        ({"model": "haiku"}, "backend_a", True),
        ({"model": "haiku"}, "acp:own", False),
        (GATEWAY, "demo", True),
        ({}, "acp:own", True),
    ],
)
def test_an_agent_is_started_with_what_is_not_plainly_anothers(
    settings: dict[str, Any], backend: str, suits: bool
) -> None:
    assert profiles.suits(settings, backend) is suits


# What reaches the agents -----------------------------------------------------------------------


async def choose(workspace: Workspace, *listed: dict[str, Any], **changes: Any) -> None:
    changes = {"custom_cli_profiles": list(listed), **changes}
    await update_preferences(workspace, changes)


async def test_a_difference_goes_to_the_account_that_the_profile_says(
    workspace: Workspace, project: Project, worktree: Worktree, backend: FakeBackend
) -> None:
    chosen = project.model_copy(update={"default_provider": "work"})
    await workspace.store.accept(ProjectUpdated(project=chosen))
    await choose(workspace, profile("work", GATEWAY), profile("home", {"model": "haiku"}))
    backend.script = lambda _: [base.TextDelta("answer", "<message>Swim</message>"), DONE]
    assert await wrote_with(workspace, worktree, backend) == GATEWAY
    of_prompt = {"commit_message_provider": "home"}
    await update_preferences(workspace, {"magic_prompt_providers": of_prompt})
    assert await wrote_with(workspace, worktree, backend) == {"model": "haiku"}


async def wrote_with(workspace: Workspace, worktree: Worktree, backend: FakeBackend) -> Any:
    """With which profile the agent is started that writes a commit's message."""
    backend.agents.clear()
    await write(workspace, worktree)
    (agent,) = backend.agents.values()
    return agent.launch.profile


async def write(workspace: Workspace, worktree: Worktree) -> None:
    material = {"differences": "+ otter"}
    await workspace.writer.write("commit_message", worktree, material, ["message"])


@pytest.mark.parametrize("settings", [OF_CODEX, None])
async def test_nothing_is_written_where_it_would_leave_by_another_account(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, settings: Any
) -> None:
    listed = [profile("work", settings)] if settings else []
    await choose(workspace, *listed, default_provider="work")
    with pytest.raises(SpinneyError, match=r"'work' (is not for Claude Code|no longer exists)"):
        await write(workspace, worktree)
    assert backend.agents == {}


async def test_an_agent_that_is_signed_out_writes_with_a_profile(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def signed_out() -> base.Probe:
        return base.Probe(program="/bin/true", signed_in=False)

    monkeypatch.setattr(backend, "probe", signed_out)
    assert not await workspace.writer.is_available("commit_message", worktree)
    await choose(workspace, profile("work", GATEWAY), default_provider="work")
    assert await workspace.writer.is_available("commit_message", worktree)


async def test_a_session_is_started_with_its_file_and_without_thinking_where_that_is_said(
    workspace: Workspace, session: Session, backend: FakeBackend, tmp_path: Path
) -> None:
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps(GATEWAY))
    more = {"file_path": str(file), "supports_thinking": False}
    await choose(workspace, profile("work", {}, **more), default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(lambda: session.id in backend.agents)
    launch = backend.agents[session.id].launch
    assert launch.profile == GATEWAY
    assert (launch.settings.thinking, launch.settings.effort) == ("off", "low")


async def test_a_file_that_is_gone_is_told_in_the_session(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    gone = profile("work", {}, file_path="/nowhere/gateway.json")
    await choose(workspace, gone, default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(
        lambda: workspace.store.state.sessions[session.id].status == "failed"
    )
    run = workspace.store.state.sessions[session.id].last_run
    assert run is not None
    assert "/nowhere/gateway.json, cannot be read" in (run.error or "")
    assert backend.agents == {}


async def test_a_session_of_another_agent_tells_that_it_has_an_account_of_its_own(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    await choose(workspace, profile("work", OF_CODEX), default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(lambda: session.id in backend.agents)
    assert backend.agents[session.id].launch.profile == {}
    await Eventually(workspace.bus)(
        lambda: workspace.store.state.sessions[session.id].last_run is not None
    )
    page = await get_messages(workspace, session.id)
    assert page.messages[-1].content[0] == TextBlock(
        text="> **Spinney:** The provider profile “work” is not for Claude Code, which works with"
        " its own account."
    )
