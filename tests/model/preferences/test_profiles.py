"""Provider profiles: precedence, reading their settings, and starting agents with them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.sessions import get_messages, send_chat_message
from model.domain.events.projects import ProjectUpdated
from model.domain.messages import TextBlock
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences import profiles
from model.preferences.schema import CliProfile, Preferences
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend

GATEWAY = {"env": {"ANTHROPIC_BASE_URL": "http://gateway"}}
CODEX_SETTINGS = {"model_provider": "gateway"}


def profile(name: str, settings: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "settings_json": json.dumps(settings), **more}


def test_the_profile_is_that_of_the_prompt_or_the_project_or_the_user() -> None:
    chosen = {"magic_prompt_providers": {"commit_message_provider": "prompts"}}
    person = Preferences.model_validate({"default_provider": "persons", **chosen})
    project = Project(id="p", name="a", path="/a", added_at=1, default_provider="projects")
    assert profiles.resolve_name(person, project, "commit_message") == "prompts"
    assert profiles.resolve_name(person, project, "session_naming") == "projects"
    assert profiles.resolve_name(person, None) == "persons"
    assert profiles.resolve_name(Preferences(), None) == ""


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([], "'work' no longer exists"),
        ([{"name": "work", "settings_json": "[]"}], "'work' are not a JSON object"),
        ([{"name": "work", "settings_json": "{"}], "'work' are not a JSON object"),
    ],
)
def test_a_missing_or_invalid_profile_is_an_error(listed: Any, said: str) -> None:
    preferences = Preferences.model_validate({"custom_cli_profiles": listed})
    with pytest.raises(SpinneyError, match=said):
        profiles.read_settings(
            profiles.find_profile("work", preferences) or CliProfile(name="", settings_json="")
        )


def test_a_profiles_own_settings_override_those_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps({"env": {"KEY": "of the file", "URL": "of the file"}}))
    own = CliProfile(name="work", settings_json='{"env": {"URL": "own"}}', file_path=str(file))
    assert profiles.read_settings(own) == {"env": {"KEY": "of the file", "URL": "own"}}
    table = tmp_path / "gateway.toml"
    table.write_text('model_provider = "gw"\n[model_providers.gw]\nsince = 2026-01-02')
    of_codex = CliProfile(name="work", settings_json="{}", file_path=str(table))
    expected = {"model_provider": "gw", "model_providers": {"gw": {"since": "2026-01-02"}}}
    assert profiles.read_settings(of_codex) == expected


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
def test_the_error_for_an_unusable_file_names_it(tmp_path: Path, name: str, said: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b" " * (profiles.MAX_BYTES + 1))
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "broken.toml").write_text("= no")
    named = CliProfile(name="work", settings_json="{}", file_path=str(tmp_path / name))
    with pytest.raises(SpinneyError, match="'work'") as refused:
        profiles.read_settings(named)
    assert said in refused.value.message


def test_the_path_of_a_file_must_be_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.json").write_text("{}")
    assert (
        profiles.read_settings(CliProfile(name="w", settings_json="{}", file_path="~/own.json"))
        == {}
    )
    with pytest.raises(SpinneyError, match="must be an absolute path"):
        profiles.read_settings(CliProfile(name="w", settings_json="{}", file_path="own.json"))


@pytest.mark.parametrize(
    ("settings", "backend", "suits"),
    [
        (GATEWAY, "backend_a", True),
        (GATEWAY, "backend_b", False),
        (GATEWAY, "backend_c", False),
        (CODEX_SETTINGS, "backend_b", True),
        ({"model_providers.gw.base_url": "http://x"}, "backend_a", False),
        ({"provider": {}}, "backend_c", True),
        ({**GATEWAY, **CODEX_SETTINGS}, "backend_b", True),
        ({"model": "haiku"}, "backend_a", True),
        ({"model": "haiku"}, "acp:own", False),
        (GATEWAY, "demo", True),
        ({}, "acp:own", True),
    ],
)
def test_settings_are_compatible_unless_they_are_for_another_agent(
    settings: dict[str, Any], backend: str, suits: bool
) -> None:
    assert profiles.is_compatible(settings, backend) is suits


# Starting agents -------------------------------------------------------------------------------


async def set_profiles(workspace: Workspace, *listed: dict[str, Any], **changes: Any) -> None:
    changes = {"custom_cli_profiles": list(listed), **changes}
    await update_preferences(workspace, changes)


async def test_texts_are_written_with_the_chosen_profile(
    workspace: Workspace, project: Project, worktree: Worktree, backend: FakeBackend
) -> None:
    chosen = project.model_copy(update={"default_provider": "work"})
    await workspace.store.accept(ProjectUpdated(project=chosen))
    await set_profiles(workspace, profile("work", GATEWAY), profile("home", {"model": "haiku"}))
    backend.script = lambda _: [agent_events.TextDelta("answer", "<message>Swim</message>"), DONE]
    assert await write_and_get_profile(workspace, worktree, backend) == GATEWAY
    of_prompt = {"commit_message_provider": "home"}
    await update_preferences(workspace, {"magic_prompt_providers": of_prompt})
    assert await write_and_get_profile(workspace, worktree, backend) == {"model": "haiku"}


async def write_and_get_profile(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> Any:
    """Write a commit message and return the profile that the agent was started with."""
    backend.agents.clear()
    await write(workspace, worktree)
    (agent,) = backend.agents.values()
    return agent.launch.profile


async def write(workspace: Workspace, worktree: Worktree) -> None:
    material = {"differences": "+ otter"}
    await workspace.writer.write("commit_message", worktree, material, ["message"])


@pytest.mark.parametrize("settings", [CODEX_SETTINGS, None])
async def test_nothing_is_written_with_an_incompatible_or_missing_profile(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, settings: Any
) -> None:
    listed = [profile("work", settings)] if settings else []
    await set_profiles(workspace, *listed, default_provider="work")
    with pytest.raises(SpinneyError, match=r"'work' (is not for Claude Code|no longer exists)"):
        await write(workspace, worktree)
    assert backend.agents == {}


async def test_an_agent_that_is_signed_out_is_available_with_a_profile(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def probe_signed_out() -> base.Probe:
        return base.Probe(program="/bin/true", signed_in=False)

    monkeypatch.setattr(backend, "probe", probe_signed_out)
    assert not await workspace.writer.is_available("commit_message", worktree)
    await set_profiles(workspace, profile("work", GATEWAY), default_provider="work")
    assert await workspace.writer.is_available("commit_message", worktree)


async def test_a_session_uses_the_file_and_the_thinking_support_of_its_profile(
    workspace: Workspace, session: Session, backend: FakeBackend, tmp_path: Path
) -> None:
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps(GATEWAY))
    more = {"file_path": str(file), "supports_thinking": False}
    await set_profiles(workspace, profile("work", {}, **more), default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(lambda: session.id in backend.agents)
    launch = backend.agents[session.id].launch
    assert launch.profile == GATEWAY
    assert (launch.settings.thinking, launch.settings.effort) == ("off", "low")


async def test_a_session_fails_if_the_file_of_its_profile_is_missing(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    gone = profile("work", {}, file_path="/nowhere/gateway.json")
    await set_profiles(workspace, gone, default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(
        lambda: workspace.store.state.sessions[session.id].status == "failed"
    )
    run = workspace.store.state.sessions[session.id].last_run
    assert run is not None
    assert "/nowhere/gateway.json, cannot be read" in (run.error or "")
    assert backend.agents == {}


async def test_a_session_reports_that_its_profile_is_for_another_agent(
    workspace: Workspace, session: Session, backend: FakeBackend
) -> None:
    await set_profiles(workspace, profile("work", CODEX_SETTINGS), default_provider="work")
    await send_chat_message(workspace, session.id, "go")
    await Eventually(workspace.bus)(lambda: session.id in backend.agents)
    assert backend.agents[session.id].launch.profile == {}
    await Eventually(workspace.bus)(
        lambda: workspace.store.state.sessions[session.id].last_run is not None
    )
    page = await get_messages(workspace, session.id)
    assert page.messages[-1].content[0] == TextBlock(
        text="> **Spinney:** The provider profile 'work' is not for Claude Code, which uses its own"
        " account instead."
    )
