"""The models that programs told: noted, kept, asked for once, and what a new session gets."""

import asyncio
import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from model.agents.catalog import Catalog
from model.backends import base, known_models
from model.backends.model_lists import ModelList, OfferedModel
from model.base.paths import Directories
from model.commands.doctor import list_agents, list_models
from model.commands.preferences import update_preferences
from model.commands.projects import update_project_settings
from model.commands.sessions import create_session, send_chat_message, update_session
from model.domain.resources import Project, Session, Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend
from tests.patience import PATIENCE

TOLD = ModelList(
    models=[OfferedModel(name="opus", label="Opus 9", answers_as="claude-opus-9")],
    default="claude-opus-9",
)


@dataclass
class Lister(FakeBackend):
    """Its program lists its models as soon as it is started."""

    program: Path = Path("/bin/true")
    opened: list[base.Launch] = field(default_factory=list)
    told: ModelList = TOLD

    def models_stand_on(self, environment: Mapping[str, str]) -> Sequence[Path]:
        return [self.program]

    async def open(self, launch: base.Launch) -> base.Agent:
        self.opened.append(launch)
        await asyncio.sleep(0)
        agent = await super().open(launch)
        self.agents[launch.session_id].say(base.ModelsKnown(self.told))
        return agent


@pytest.fixture
def backend(tmp_path: Path) -> Lister:
    program = tmp_path / "claude"
    program.write_text("first version")
    return Lister(program=program)


def labels(workspace: Workspace) -> list[str]:
    return [row.label for row in workspace.catalog.models("backend_a")]


async def test_what_an_agent_tells_is_offered_to_all_and_known_at_the_next_start(
    workspace: Workspace, session: Session, backend: Lister, eventually: Eventually
) -> None:
    await send_chat_message(workspace, session.id, "go")
    await eventually(lambda: labels(workspace) == ["Default (Opus 9)", "Opus 9"])
    (agent, *_) = await list_agents(workspace)
    assert [model.name for model in agent.models if model.is_offered] == ["", "opus"]
    await workspace.stop()
    again = Workspace(workspace.directories, {backend.name: backend}, Catalog())
    await again.start()
    assert labels(again) == ["Default (Opus 9)", "Opus 9"]
    assert again.models.resolve("backend_a", "model_5") == ("", True)
    await again.stop()


async def test_a_program_is_asked_once_for_all_who_want_to_choose_and_again_when_it_changed(
    workspace: Workspace, backend: Lister, eventually: Eventually
) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(list_models(workspace, "backend_a"))
    assert labels(workspace) == ["Default (Opus 9)", "Opus 9"]
    assert len(backend.opened) == 1
    assert backend.opened[0].text_only
    assert backend.agents[backend.opened[0].session_id].closed
    await workspace.models.ask("backend_a")
    assert len(backend.opened) == 1
    backend.program.write_text("the second version")
    newer = [*TOLD.models, OfferedModel(name="fable", label="Fable")]
    backend.told = TOLD.model_copy(update={"models": newer})
    await list_models(workspace, "backend_a")
    await eventually(lambda: labels(workspace)[-1] == "Fable")


async def test_who_looked_at_a_program_while_another_asked_it_asks_it_no_more(
    workspace: Workspace, backend: Lister, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, looks = known_models._signature, itertools.count()
    both_look, was_told = threading.Event(), threading.Event()

    def slow_for_one(driver: base.ModelLister, environment: Mapping[str, str]) -> str:
        match next(looks):
            case 0:
                both_look.wait(PATIENCE)
            case 1:
                both_look.set()
                was_told.wait(PATIENCE)
        return look(driver, environment)

    monkeypatch.setattr(known_models, "_signature", slow_for_one)
    asking = [asyncio.create_task(workspace.models.ask("backend_a")) for _ in range(2)]
    await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    was_told.set()
    await asyncio.gather(*asking)
    assert len(backend.opened) == 1


async def test_a_project_with_a_provider_profile_has_the_models_of_that(
    workspace: Workspace, project: Project, session: Session, backend: Lister
) -> None:
    profile = {"name": "gateway", "settings_json": '{"env": {"ANTHROPIC_BASE_URL": "http://gate"}}'}
    await update_preferences(workspace, {"custom_cli_profiles": [profile]})
    await update_project_settings(workspace, project.id, default_provider="gateway")
    gate = [OfferedModel(name="gate-1", label="Gate 1", efforts=["low"])]
    own, backend.told = backend.told, ModelList(models=gate, default="gate-1")
    models = await list_models(workspace, "backend_a", project_id=project.id)
    assert [model.label for model in models if model.is_offered] == ["Default (Gate 1)", "Gate 1"]
    assert "http://gate" in str(backend.opened[0].profile)
    assert labels(workspace)[0] == "Opus", "the plain account was not asked"
    backend.told = own
    models = await list_models(workspace, "backend_a")
    assert [model.label for model in models if model.is_offered] == ["Default (Opus 9)", "Opus 9"]
    assert backend.opened[1].profile == {}


async def test_nothing_is_started_where_nobody_wants_that(
    workspace: Workspace, backend: Lister
) -> None:
    models = await list_models(workspace, "backend_a", ask=False)
    assert [model.name for model in models] == [f"model_{number}" for number in range(1, 6)]
    assert backend.opened == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 99, "told": {}}', b'{"told": 3}'])
async def test_a_broken_file_is_as_none(
    directories: Directories, backend: Lister, content: bytes
) -> None:
    directories.told_models.write_bytes(content)
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
async def test_the_persons_own_model_goes_before_the_preset_that_nobody_chose(
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


async def test_what_answers_is_shown_until_another_model_is_chosen(
    workspace: Workspace, session: Session, backend: Lister, eventually: Eventually
) -> None:
    backend.script = lambda prompt: [base.ModelAnswers("claude-haiku-9", chosen=True), DONE]
    await send_chat_message(workspace, session.id, "/model haiku")

    def now() -> Session:
        return workspace.store.state.sessions[session.id]

    await eventually(lambda: now().answering_model == now().model == "claude-haiku-9")
    await eventually(lambda: not now().is_active)
    await update_session(workspace, session.id, model="opus")
    assert (now().model, now().answering_model) == ("opus", "")
