"""Model lists reported by agents: cached, saved and requested once; the model of a new session."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from model.agents.catalog import Catalog
from model.backends import agent_events, base
from model.backends.model_lists import ModelList, OfferedModel
from model.base.paths import Directories
from model.commands import doctor
from model.commands.doctor import list_agents, list_models
from model.commands.preferences import update_preferences
from model.commands.projects import update_project_settings
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend

REPORTED = ModelList(
    models=[OfferedModel(name="opus", label="Opus 9", answers_as="claude-opus-9")],
    default="claude-opus-9",
)


@dataclass
class ListingBackend(FakeBackend):
    """A backend whose agents report their models as soon as they are started."""

    program: Path = Path("/bin/true")
    opened: list[base.Launch] = field(default_factory=list)
    reported: ModelList = REPORTED
    starts: asyncio.Event | None = None
    """Agents start when it is set."""

    def list_model_sources(self, environment: Mapping[str, str]) -> Sequence[Path]:
        return [self.program]

    async def open(self, launch: base.Launch) -> base.Agent:
        self.opened.append(launch)
        await (self.starts.wait() if self.starts else asyncio.sleep(0))
        agent = await super().open(launch)
        self.agents[launch.session_id].say(agent_events.ModelsListed(self.reported))
        return agent


@pytest.fixture
def backend(tmp_path: Path) -> ListingBackend:
    program = tmp_path / "claude"
    program.write_text("first version")
    return ListingBackend(program=program)


def labels(workspace: Workspace) -> list[str]:
    return [row.label for row in workspace.catalog.models("backend_a")]


async def test_reported_models_are_offered_to_all_sessions_and_after_a_restart(
    workspace: Workspace, session: Session, backend: ListingBackend, eventually: Eventually
) -> None:
    await send_chat_message(workspace, session.id, "go")
    await eventually(lambda: labels(workspace) == ["Default (Opus 9)", "Opus 9"])
    (agent, *_) = await list_agents(workspace)
    assert [model.name for model in agent.models if model.is_offered] == ["", "opus"]
    await workspace.stop()
    again = Workspace(workspace.directories, {backend.name: backend}, Catalog())
    await again.start()
    assert labels(again) == ["Default (Opus 9)", "Opus 9"]
    assert again.models.resolve_model("backend_a", "model_5") == ("", True)
    await again.stop()


async def test_a_program_is_asked_once_for_concurrent_requests_and_again_after_it_changed(
    workspace: Workspace, backend: ListingBackend, eventually: Eventually
) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(list_models(workspace, "backend_a"))
    assert labels(workspace) == ["Default (Opus 9)", "Opus 9"]
    assert len(backend.opened) == 1
    assert backend.opened[0].text_only
    assert backend.agents[backend.opened[0].session_id].closed
    await workspace.models.refresh("backend_a")
    assert len(backend.opened) == 1
    backend.program.write_text("the second version")
    newer = [*REPORTED.models, OfferedModel(name="fable", label="Fable")]
    backend.reported = REPORTED.model_copy(update={"models": newer})
    await list_models(workspace, "backend_a")
    await eventually(lambda: labels(workspace)[-1] == "Fable")


async def test_the_list_of_a_slow_program_comes_after_the_client_stopped_waiting_for_it(
    workspace: Workspace,
    backend: ListingBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "_MODELS_TIMEOUT", 0)
    backend.starts = asyncio.Event()
    assert not any(model.is_default for model in await list_models(workspace, "backend_a"))
    backend.starts.set()
    await eventually(lambda: labels(workspace) == ["Default (Opus 9)", "Opus 9"])
    assert len(backend.opened) == 1


async def test_a_project_with_a_provider_profile_has_the_models_of_the_profile(
    workspace: Workspace, project: Project, session: Session, backend: ListingBackend
) -> None:
    profile = {"name": "gateway", "settings_json": '{"env": {"ANTHROPIC_BASE_URL": "http://gate"}}'}
    await update_preferences(workspace, {"custom_cli_profiles": [profile]})
    await update_project_settings(workspace, project.id, default_provider="gateway")
    gate = [OfferedModel(name="gate-1", label="Gate 1", efforts=["low"])]
    own, backend.reported = backend.reported, ModelList(models=gate, default="gate-1")
    models = await list_models(workspace, "backend_a", project_id=project.id)
    assert [model.label for model in models if model.is_offered] == ["Default (Gate 1)", "Gate 1"]
    assert "http://gate" in str(backend.opened[0].profile)
    assert labels(workspace)[0] == "Opus", "the account without a profile was not asked"
    backend.reported = own
    models = await list_models(workspace, "backend_a")
    assert [model.label for model in models if model.is_offered] == ["Default (Opus 9)", "Opus 9"]
    assert backend.opened[1].profile == {}


async def test_no_program_is_started_without_ask(
    workspace: Workspace, backend: ListingBackend
) -> None:
    models = await list_models(workspace, "backend_a", ask=False)
    assert [model.name for model in models] == [f"model_{number}" for number in range(1, 6)]
    assert backend.opened == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 99, "lists": {}}', b'{"lists": 3}'])
async def test_a_damaged_file_is_ignored(
    directories: Directories, backend: ListingBackend, content: bytes
) -> None:
    directories.reported_models.write_bytes(content)
    workspace = Workspace(directories, {backend.name: backend}, Catalog())
    await workspace.start()
    assert labels(workspace)[0] == "Opus"
    await workspace.stop()


@pytest.mark.parametrize(
    ("settings", "changes", "model"),
    [
        ({}, {}, "model_1"),
        ({"model": "haiku"}, {}, ""),
        ({"env": {"ANTHROPIC_MODEL": "haiku"}}, {}, ""),
        ({"model": "haiku"}, {"selected_model": "model_3"}, "model_3"),
        ([], {}, "model_1"),
    ],
)
async def test_the_model_of_the_agents_settings_replaces_the_default_preset(
    workspace: Workspace, worktree: Worktree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    settings: Any, changes: dict[str, Any], model: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    await update_preferences(workspace, changes)
    made = await create_session(workspace, worktree.id)
    assert made.model == model
    named = await create_session(workspace, worktree.id, model="model_1")
    assert named.model == "model_1"


async def test_the_answering_model_is_shown_until_another_is_chosen(
    workspace: Workspace, session: Session, backend: ListingBackend, eventually: Eventually
) -> None:
    backend.script = lambda prompt: [
        agent_events.ModelReported("claude-haiku-9", is_user_choice=True),
        DONE,
    ]
    await send_chat_message(workspace, session.id, "/model haiku")

    def now() -> Session:
        return workspace.store.state.sessions[session.id]

    await eventually(lambda: now().answering_model == now().model == "claude-haiku-9")
    await eventually(lambda: not now().is_active)
    await update_session(workspace, session.id, model="opus")
    assert (now().model, now().answering_model) == ("opus", "")
