"""Short texts written by an agent: the prompt, the answer, and what can go wrong."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.backends.demo.backend import DemoBackend
from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.domain.events.projects import ProjectUpdated
from model.domain.events.sessions import UsageRecorded
from model.domain.projects import Project
from model.domain.requests import Question
from model.domain.usage import Usage
from model.domain.worktrees import Worktree
from model.preferences.prompts import PROMPTS
from model.runtime.workspace import Workspace
from model.writing import writer as writing
from model.writing.prompt_agents import PromptAgents
from model.writing.prompts import ROLE
from model.writing.writer import Writer
from tests.fakes import DONE, FakeAgent, FakeBackend, Script, silence

MATERIAL = {"commits": "Teach the otter to swim", "template": ""}
WRITTEN = "<title>Let otters swim</title>\n<body>\nThey can.\n</body>"


def answer_with(*texts: str) -> Script:
    def script(_: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        for number, text in enumerate(texts):
            yield agent_events.TextDelta(f"block {number}", text)
        yield DONE

    return script


def emit(*events: agent_events.AgentEvent) -> Script:
    return lambda _: events


async def write(workspace: Workspace, worktree: Worktree) -> dict[str, str]:
    writer = workspace.writer
    return await writer.write("pr_content", worktree, MATERIAL, ("title", "body"))


async def only_agent(workspace: Workspace, backend: FakeBackend) -> FakeAgent:
    """Close the writer and return the only agent that it started."""
    await workspace.writer.close()
    (agent,) = backend.agents.values()
    return agent


async def test_the_parts_of_the_answer_are_returned(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = answer_with(WRITTEN)
    assert await write(workspace, worktree) == {"title": "Let otters swim", "body": "They can."}


async def test_the_prompt_contains_the_task_the_material_and_the_form(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = answer_with(WRITTEN)
    await write(workspace, worktree)
    agent = await only_agent(workspace, backend)
    ((_, prompt), _) = agent.calls
    assert str(prompt).startswith(PROMPTS["pr_content"].default)
    assert "<commits>\nTeach the otter to swim\n</commits>" in str(prompt)
    assert "<template>" not in str(prompt)  # the material has no template
    assert str(prompt).endswith("<title>\n…\n</title>\n<body>\n…\n</body>")


async def test_the_agent_is_launched_for_text_only_and_leaves_no_session(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = answer_with(WRITTEN)
    workspace.bus.seal()
    reader = workspace.bus.reader()
    await write(workspace, worktree)
    launch = (await only_agent(workspace, backend)).launch
    assert (launch.settings.mode, launch.settings.thinking, launch.settings.model) == (
        "plan",
        "off",
        "haiku",
    )
    assert (launch.text_only, launch.system_prompt) == (True, ROLE)
    assert launch.worktree == Path(worktree.path)
    assert launch.environment["SPINNEY_OWNER"]
    assert workspace.store.state.sessions == {}
    workspace.bus.seal()
    published, _ = reader.take()
    assert [type(one.event) for one in published] == [UsageRecorded]


async def test_the_users_prompt_model_and_language_are_used(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = answer_with(WRITTEN)
    changes = {
        "magic_prompts": {"pr_content": "Write it as a haiku."},
        "magic_prompt_models": {"pr_content_model": "a-model-of-my-own"},
        "ai_language": "Finnish",
    }
    await update_preferences(workspace, changes)
    await write(workspace, worktree)
    agent = await only_agent(workspace, backend)
    prompt = str(agent.calls[0][1])
    assert prompt.startswith("Write it as a haiku.\n\nWrite in this language: Finnish.\n")
    assert prompt.endswith("</body>")  # the required form is kept
    assert agent.launch.settings.model == "a-model-of-my-own"


async def test_words_of_the_material_are_not_mentions_of_files(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = lambda prompt: answer_with(
        f"<title>Add {prompt.text.split('<differences>')[1].split()[1]}</title>"
    )(prompt)
    material = {"differences": "+ @/etc/passwd"}
    written = await workspace.writer.write("pr_content", worktree, material, ("title",))
    prompt = str((await only_agent(workspace, backend)).calls[0][1])
    assert "+ \u2060@/etc/passwd" in prompt
    assert written == {"title": "Add @/etc/passwd"}


UNUSABLE = {
    "nothing": answer_with(""),
    "words without the form": answer_with("A fine title\n\nAnd a body"),
    "half of the form": answer_with("<title>Let otters swim</title>"),
    "an empty part": answer_with("<title> </title><body>They can.</body>"),
    "the prompt again": lambda prompt: answer_with(prompt.text)(prompt),
    "a text without end": answer_with("<title>x</title><body>" + "otter " * 20_000),
    "a plan": emit(agent_events.PlanProposed("plan-1", WRITTEN)),
    "a question": emit(agent_events.QuestionAsked("question-1", (Question(question="Which?"),))),
    "a request for a tool": emit(agent_events.PermissionRequested("permission-1", "Bash", {})),
    "a failure": emit(agent_events.TurnFailed("The provider is overloaded.", "backend_error")),
}


@pytest.mark.parametrize("answer", UNUSABLE)
async def test_an_unusable_answer_is_an_error_and_the_agent_is_closed(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, answer: str
) -> None:
    backend.script = UNUSABLE[answer]
    with pytest.raises(SpinneyError) as refused:
        await write(workspace, worktree)
    assert refused.value.error_type == "backend_error"
    assert (await only_agent(workspace, backend)).closed


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (f"Here it is:\n\n{WRITTEN}\n\nDone.", "They can."),
        (f"```\n{WRITTEN}\n```", "They can."),
        ("<title>T</title><body>\n```markdown\nA\n```py\nx\n```\n```\n</body>", "A\n```py\nx\n```"),
        ("<title>T</title><body>```py\na < b\n```</body>", "```py\na < b\n```"),
        ("<title>T</title><body>See <details>this</details></body>", "See <details>this</details>"),
        ("<title>T</title><body>a\x1b[31mb\r\nc</body>", "a␛[31mb\nc"),
    ],
)
async def test_text_around_the_answer_is_removed(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend, answer: str, body: str
) -> None:
    backend.script = answer_with(answer)
    assert (await write(workspace, worktree))["body"] == body


async def test_thinking_and_dropped_blocks_are_not_part_of_the_text(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = emit(
        agent_events.TextDelta("thought", "<title>Hm</title>", "thinking"),
        agent_events.TextDelta("first try", "<title>Let ott"),
        agent_events.BlockDropped("first try"),
        agent_events.TextDelta("answer", "<title>Let otters sw"),
        agent_events.TextFinal("answer", WRITTEN),
        agent_events.TurnFinished("end_turn", Usage()),
    )
    assert (await write(workspace, worktree))["title"] == "Let otters swim"


async def test_an_agent_that_takes_too_long_is_closed(
    workspace: Workspace,
    worktree: Worktree,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writing, "TIMEOUT", 0.01)
    backend.script = silence
    with pytest.raises(SpinneyError, match="Claude Code took longer than") as refused:
        await write(workspace, worktree)
    assert refused.value.error_type == "timeout"
    assert (await only_agent(workspace, backend)).closed


async def test_an_agent_that_starts_too_late_is_closed_when_it_has_started(
    workspace: Workspace,
    worktree: Worktree,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writing, "TIMEOUT", 0.01)
    ready = asyncio.Event()
    opened = backend.open

    async def open_late(launch: base.Launch) -> base.Agent:
        await ready.wait()
        return await opened(launch)

    monkeypatch.setattr(backend, "open", open_late)
    with pytest.raises(SpinneyError, match="took longer than"):
        await write(workspace, worktree)
    ready.set()
    agent = await only_agent(workspace, backend)
    assert agent.calls == [("close",)]


async def test_an_agent_that_dies_or_does_not_start_is_an_error(
    workspace: Workspace,
    worktree: Worktree,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend.script = silence
    asking = asyncio.create_task(write(workspace, worktree))
    while not backend.agents:  # the task gets there without external events
        await asyncio.sleep(0)
    next(iter(backend.agents.values())).die()
    with pytest.raises(SpinneyError, match="exited before it answered"):
        await asking

    async def fail(_: base.Launch) -> base.Agent:
        raise RuntimeError("a bug of the adapter")

    monkeypatch.setattr(backend, "open", fail)
    with pytest.raises(SpinneyError, match="The agent failed"):
        await write(workspace, worktree)


async def test_a_canceled_request_closes_the_agent(
    workspace: Workspace, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = silence
    asking = asyncio.create_task(write(workspace, worktree))
    while not backend.agents:  # the task gets there without external events
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert (await only_agent(workspace, backend)).closed


class OtherBackend(FakeBackend):
    """Another backend, with the given result of `probe`."""

    found = base.Probe(program="/bin/true", signed_in=True)

    async def probe(self) -> base.Probe:
        return self.found


@pytest.fixture
def other(workspace: Workspace) -> OtherBackend:
    backend = OtherBackend("backend_b", script=answer_with(WRITTEN))
    assert isinstance(workspace.backends, dict)
    workspace.backends["backend_b"] = backend
    return backend


@pytest.mark.parametrize(
    ("prompts", "projects", "persons", "asked"),
    [
        ("backend_b", "backend_a", "backend_a", True),
        (None, "backend_b", "backend_a", True),
        (None, None, "backend_b", True),
        ("backend_a", "backend_b", "backend_b", False),
    ],
)
async def test_the_agent_is_that_of_the_prompt_or_the_project_or_the_user(
    workspace: Workspace,
    project: Project,
    worktree: Worktree,
    backend: FakeBackend,
    other: OtherBackend,
    prompts: str | None,
    projects: str | None,
    persons: str,
    asked: bool,
) -> None:
    backend.script = answer_with(WRITTEN)
    chosen = project.model_copy(update={"default_backend": projects})
    await workspace.store.accept(ProjectUpdated(project=chosen))
    changes = {
        "default_backend": persons,
        "magic_prompt_backends": {"pr_content_backend": prompts},
    }
    await update_preferences(workspace, changes)
    await write(workspace, worktree)
    assert (len(other.agents), len(backend.agents)) == ((1, 0) if asked else (0, 1))


async def test_another_agent_uses_its_own_model_instead_of_a_preset_it_lacks(
    workspace: Workspace, worktree: Worktree, other: OtherBackend
) -> None:
    changes = {
        "magic_prompt_backends": {"pr_content_backend": "backend_b"},
        "magic_prompt_models": {"pr_content_model": "model_1"},
        "selected_codex_model": "codex_model_3",
    }
    await update_preferences(workspace, changes)
    await write(workspace, worktree)
    settings = (await only_agent(workspace, other)).launch.settings
    assert (settings.model, settings.model_is_preset) == ("gpt-6-sol", True)


async def test_another_agent_writes_small_texts_with_its_own_small_model(
    workspace: Workspace, worktree: Worktree, other: OtherBackend
) -> None:
    changes = {
        "magic_prompt_backends": {"pr_content_backend": "backend_b"},
        "magic_prompt_models": {"pr_content_model": "model_5"},
    }
    await update_preferences(workspace, changes)
    await write(workspace, worktree)
    assert (await only_agent(workspace, other)).launch.settings.model == "gpt-6-luna"


@pytest.mark.parametrize(
    ("found", "there"),
    [
        (base.Probe(program=None), False),
        (base.Probe(program="/bin/true", signed_in=False), False),
        (base.Probe(program="/bin/true", signed_in=None), True),
        (base.Probe(program="/bin/true", signed_in=True), True),
    ],
)
async def test_an_agent_is_available_if_installed_and_not_signed_out(
    workspace: Workspace, worktree: Worktree, other: OtherBackend, found: base.Probe, there: bool
) -> None:
    other.found = found
    changes = {"magic_prompt_backends": {"pr_content_backend": "backend_b"}}
    await update_preferences(workspace, changes)
    assert await workspace.writer.is_available("pr_content", worktree) is there


async def test_an_unknown_agent_is_not_available(workspace: Workspace, worktree: Worktree) -> None:
    changes = {"magic_prompt_backends": {"pr_content_backend": "backend_c"}}
    await update_preferences(workspace, changes)
    assert not await workspace.writer.is_available("pr_content", worktree)
    with pytest.raises(SpinneyError, match="cannot run OpenCode here"):
        await write(workspace, worktree)


async def test_in_the_demo_the_demo_agent_writes_and_follows_no_directive(
    workspace: Workspace, worktree: Worktree, tmp_path: Path
) -> None:
    demo = DemoBackend(tmp_path / "memory")
    agents = PromptAgents(workspace.store, workspace.models, demo=True)
    writer = Writer(
        workspace.store, {"demo": demo}, workspace.models, agents, workspace.usage, lambda _: {}
    )
    assert await writer.is_available("pr_content", worktree)
    await update_preferences(workspace, {"magic_prompts": {"pr_content": "/demo write a.txt: x"}})
    written = await writer.write("pr_content", worktree, MATERIAL, ("title", "body"))
    assert written == dict.fromkeys(("title", "body"), "Teach the otter to swim")
    await writer.close()
    assert [*Path(worktree.path).iterdir(), *(tmp_path / "memory").iterdir()] == []
