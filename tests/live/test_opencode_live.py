"""The real OpenCode behind its adapter, answered by a scripted provider on loopback.

One server of OpenCode is for all tests here, as it is for all sessions of a person.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from model.backends import base, process_table
from model.backends import program as backend_program
from model.backends.opencode import OpenCodeBackend
from model.errors import SpinneyError
from model.resources import Usage
from tests.live.completions_stub import MODEL, PROVIDER, WINDOW, CompletionsStub, configuration
from tests.live.conftest import ROOT
from tests.live.opencode_home import environment_in
from tests.model.backends.agents import Conversation, Open, a_launch, becomes, lives, only, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS = ("OPENCODE", "ANTHROPIC", "OPENAI", "AWS_", "GOOGLE_", "XDG_", "SPINNEY_")
"""Beginnings of the names of variables that would change what the program does."""


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    """The real `opencode`, on PATH or in `.tools`, found by Spinney from now on."""
    tools = ROOT / ".tools" / "node_modules" / ".bin"
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(tools)])
    found = shutil.which("opencode", path=path)
    if found is None:
        pytest.skip("needs OpenCode (npm install -g opencode-ai)")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(OTHERS):
                patch.delenv(name)
        patch.setenv("PATH", path)
        yield Path(found)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[CompletionsStub]:
    """The scripted provider, running."""
    stub = CompletionsStub()
    async with stub.running():
        yield stub


@pytest.fixture(scope="module")
def environment(
    program: Path, provider: CompletionsStub, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Variables with which `opencode` knows nobody's account and talks to the stub alone."""
    home = tmp_path_factory.mktemp("home")
    return environment_in(home, configuration(provider.base_url))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenCodeBackend]:
    backend = OpenCodeBackend(tmp_path_factory.mktemp("data"))
    yield backend
    await backend.close()


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest_asyncio.fixture(loop_scope="module")
async def open_opencode(
    backend: OpenCodeBackend, environment: dict[str, str], worktree: Path
) -> AsyncIterator[Open]:
    opened: list[base.Agent] = []

    async def open_opencode(**launch: Any) -> Conversation:
        usual = {"model": f"{PROVIDER}/{MODEL}", "thinking": "think", "environment": environment}
        where = launch.pop("worktree", worktree)
        agent = await backend.open(a_launch(where, **{**usual, **launch}))
        opened.append(agent)
        return Conversation(agent)

    yield open_opencode
    await asyncio.gather(*(agent.close() for agent in opened))


def git(where: Path, *words: str) -> str:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=where, check=True, capture_output=True, text=True
    )
    return done.stdout


def files(worktree: Path) -> list[str]:
    return sorted(entry.name for entry in worktree.iterdir())


def token(conversation: Conversation) -> str:
    return only(conversation.told, base.ConversationIdentified).resume_token


async def test_text_and_thinking_stream_and_the_usage_is_told(open_opencode: Open) -> None:
    told = await (await open_opencode()).turn("think: about looms and threads")
    assert text(told, "thinking") == "about looms and threads"
    assert text(told) == "I thought about it."
    assert sum(isinstance(event, base.TextDelta) for event in told) >= 2
    finished = only(told, base.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(input_tokens=120, output_tokens=5, cache_read_input_tokens=3)
    assert finished.context_tokens == 123
    assert finished.context_window == WINDOW


async def test_a_write_happens_on_disk_and_is_told_as_an_edit(
    open_opencode: Open, worktree: Path
) -> None:
    told = await (await open_opencode()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi"
    _announced, edit = (event for event in told if isinstance(event, base.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    result = only(told, base.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(told).endswith("done")


async def test_an_edit_tells_what_it_replaces(open_opencode: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one two three")
    told = await (await open_opencode()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one 2 three"
    edits = [e.input for e in told if isinstance(e, base.ToolUse) and e.name == "edit"]
    assert edits[-1] == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}


async def test_a_file_that_is_written_over_is_told_with_what_stood_there(
    open_opencode: Open, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("before")
    for mode in ("build", "yolo"):
        conversation = await open_opencode(mode=mode)
        (worktree / "a.txt").write_text(f"before {mode}")
        told = await conversation.turn("write a.txt: after")
        edits = [e.input for e in told if isinstance(e, base.ToolUse) and e.input["file_path"]]
        assert {edit["old_content"] for edit in edits} == {f"before {mode}"}


async def test_build_mode_asks_before_a_command_and_a_denial_holds(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("bash: touch a"))
    asked = await conversation.until(base.PermissionAsked)
    uses = [event for event in conversation.told if isinstance(event, base.ToolUse)]
    assert (asked.tool_name, asked.tool_use_id) == ("Bash", uses[-1].id)
    assert asked.input == uses[-1].input == {"command": "touch a", "description": "Run a command"}
    await conversation.agent.permit(asked.request_id, "deny", "Not on a Sunday.")
    told = await conversation.rest()
    result = only(told, base.ToolResult)
    assert result.is_error
    assert "Not on a Sunday." in result.content
    assert text(told) == "done"  # the agent goes on
    assert files(worktree) == []


async def test_what_is_allowed_once_is_asked_again(open_opencode: Open) -> None:
    conversation = await open_opencode()
    for _ in range(2):
        await conversation.agent.send(base.Prompt("bash: echo $((6 * 7))"))
        asked = await conversation.until(base.PermissionAsked)
        await conversation.agent.permit(asked.request_id, "allow")
        assert only(await conversation.rest(), base.ToolResult).content.strip() == "42"


async def test_what_is_allowed_for_the_session_is_not_asked_again_but_in_others(
    open_opencode: Open,
) -> None:
    conversation = await open_opencode()
    command = "bash: python3 -c 'print(6 * 7)'"
    await conversation.agent.send(base.Prompt(command))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow_session")
    assert only(await conversation.rest(), base.ToolResult).content.strip() == "42"
    assert only(await conversation.turn(command), base.ToolResult).content.strip() == "42"
    other = await open_opencode()
    await other.agent.send(base.Prompt(command))
    await other.until(base.PermissionAsked)


async def test_yolo_mode_runs_without_asking(open_opencode: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    told = await (await open_opencode(mode="yolo")).turn(f"bash: touch {outside}")
    assert not any(isinstance(event, base.PermissionAsked) for event in told)
    assert outside.exists()


async def test_plan_mode_changes_nothing(open_opencode: Open, worktree: Path) -> None:
    told = await (await open_opencode(mode="plan")).turn("write a.txt: hi")
    result = only(told, base.ToolResult)
    assert result.is_error
    assert "Plan mode" in result.content
    assert files(worktree) == []


async def test_the_mode_changes_between_turns(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.turn("write a.txt: x")
    assert files(worktree) == []
    await conversation.agent.configure(base.Settings("build", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("write a.txt: x")
    assert files(worktree) == ["a.txt"]
    await conversation.agent.configure(base.Settings("yolo", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("bash: touch b.txt")
    assert files(worktree) == ["a.txt", "b.txt"]
    await conversation.agent.configure(base.Settings("plan", f"{PROVIDER}/{MODEL}"))
    await conversation.turn("write c.txt: x")
    assert files(worktree) == ["a.txt", "b.txt"]


async def test_an_approved_plan_is_carried_out_in_the_same_turn(
    open_opencode: Open, worktree: Path
) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    assert plan.text == "weave a scarf"
    assert text(conversation.told) == "Here is a plan."
    assert files(worktree) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    told = await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "weave a scarf\n"
    assert only(told, base.TurnFinished).stop_reason == "end_turn"
    await conversation.turn("write later.txt: x")
    assert (worktree / "later.txt").exists()  # the mode stays


async def test_a_plan_is_carried_out_as_the_person_changed_it_and_set_it(
    open_opencode: Open, worktree: Path, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    settings = base.Settings("yolo", f"{PROVIDER}/stub-2", "megathink", "high")
    await conversation.agent.approve(plan.request_id, settings, "knit a hat")
    await conversation.rest()
    assert (worktree / "planned.txt").read_text() == "knit a hat\n"
    assert provider.requests[-1]["model"] == "stub-2"
    assert provider.requests[-1]["reasoning_effort"] == "high"


async def test_a_discussed_plan_is_revised(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="plan")
    await conversation.agent.send(base.Prompt("plan: weave a scarf"))
    plan = await conversation.until(base.PlanProposed)
    await conversation.agent.discuss(plan.request_id, "In blue, please")
    assert (await conversation.until(base.PlanProposed)).text == "weave a scarf, revised"
    assert files(worktree) == []


async def test_a_question_is_answered(open_opencode: Open) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("ask: Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(base.QuestionAsked)
    (question,) = asked.questions
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water"})
    assert "Water" in text(await conversation.rest())


async def test_several_questions_with_several_answers(open_opencode: Open) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("ask twice: Wool? | Silk?"))
    asked = await conversation.until(base.QuestionAsked)
    assert [(q.question, q.multi_select) for q in asked.questions] == [
        ("Wool?", True),
        ("Silk?", True),
    ]
    await conversation.agent.answer(asked.request_id, {"Wool?": "Yes, Perhaps", "Silk?": "If red"})
    heard = text(await conversation.rest())
    for part in ("Yes", "Perhaps", "If red"):
        assert part in heard


async def test_what_a_sub_agent_does_is_asked_and_told_under_its_use(open_opencode: Open) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("agent: bash: echo $((6 * 7))"))
    asked = await conversation.until(base.PermissionAsked)
    assert asked.input["command"] == "echo $((6 * 7))"
    await conversation.agent.permit(asked.request_id, "allow")
    told = await conversation.rest()
    uses = {e.id: e for e in conversation.told if isinstance(e, base.ToolUse)}
    task, command = uses.values()
    assert command.parent_tool_use_id == task.id
    assert asked.tool_use_id == command.id
    results = {e.tool_use_id: e.content for e in told if isinstance(e, base.ToolResult)}
    assert results[command.id].strip() == "42"
    assert "done" in results[task.id]


async def test_plan_mode_and_yolo_hold_for_sub_agents(open_opencode: Open, worktree: Path) -> None:
    await (await open_opencode(mode="plan")).turn("agent: write a.txt: hi")
    assert files(worktree) == []
    told = await (await open_opencode(mode="yolo")).turn("agent: bash: touch b.txt")
    assert files(worktree) == ["b.txt"]
    assert not any(isinstance(event, base.PermissionAsked) for event in told)


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_without_sub_agents_their_tool_is_refused(open_opencode: Open, mode: str) -> None:
    conversation = await open_opencode(mode=mode, sub_agents=0)
    result = only(await conversation.turn("agent: say: hello"), base.ToolResult)
    assert result.is_error
    assert "no sub-agents" in result.content


async def test_a_list_of_things_to_do_is_told(open_opencode: Open) -> None:
    told = await (await open_opencode()).turn("todo: spin | weave")
    use = [event for event in told if isinstance(event, base.ToolUse)][-1]
    assert use.name == "TodoWrite"
    assert [todo["content"] for todo in use.input["todos"]] == ["spin", "weave"]


@pytest.mark.parametrize("stage", ["start", "text", "tool", "permission", "question", "plan"])
async def test_stop_at_every_stage_keeps_the_conversation_usable(
    open_opencode: Open, worktree: Path, stage: str
) -> None:
    prompts = {
        "start": "slow",
        "text": "slow",
        "tool": "bash: touch ready; sleep 60",
        "permission": "bash: sleep 60",
        "question": "ask: Tea or coffee? | Tea | Coffee",
        "plan": "plan: weave a scarf",
    }
    waits: dict[str, Any] = {
        "text": base.TextDelta,
        "permission": base.PermissionAsked,
        "question": base.QuestionAsked,
        "plan": base.PlanProposed,
    }
    mode = {"tool": "yolo", "plan": "plan"}.get(stage, "build")
    conversation = await open_opencode(mode=mode)
    await conversation.agent.send(base.Prompt(prompts[stage]))
    if stage in waits:
        await conversation.until(waits[stage])
    if stage == "tool":
        await becomes((worktree / "ready").exists, 30)
    async with asyncio.timeout(10):  # the command and the whole answer take a minute
        _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    asked = [e.request_id for e in conversation.told if hasattr(e, "request_id")]
    withdrawn = [e.request_id for e in told if isinstance(e, base.RequestWithdrawn)]
    assert set(asked) == set(withdrawn)
    assert text(await conversation.turn("say: still here")) == "still here"


async def test_stop_ends_all_that_the_command_started(open_opencode: Open, worktree: Path) -> None:
    conversation = await open_opencode(mode="yolo")
    command = "setsid sleep 60 & echo $! > pid; mv pid ready; wait"
    await conversation.agent.send(base.Prompt(f"bash: {command}"))
    await becomes((worktree / "ready").exists, 30)
    _, told = await asyncio.gather(conversation.agent.stop(), conversation.rest())
    assert only(told, base.TurnFinished).stop_reason == "stopped"
    assert only(told, base.ToolResult).is_error
    pid = int((worktree / "ready").read_text())
    await becomes(lambda: not lives(pid))
    assert working_in(worktree) == []


async def test_closing_in_mid_command_leaves_nothing_but_the_server(
    open_opencode: Open, worktree: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = await open_opencode(worktree=elsewhere)
    conversation = await open_opencode(mode="yolo")
    await conversation.agent.send(base.Prompt("bash: touch ready; setsid sleep 60"))
    await becomes((worktree / "ready").exists, 30)
    async with asyncio.timeout(5):
        await conversation.agent.close()
    await becomes(lambda: working_in(worktree) == [])
    assert text(await other.turn("say: still here")) == "still here"


def working_in(worktree: Path) -> list[int]:
    """The processes whose working directory is there."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == worktree:
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if lives(pid)]


async def test_a_later_session_knows_the_earlier_turns(open_opencode: Open) -> None:
    before = await open_opencode()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_opencode(resume_token=token(before))
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert token(after) == token(before)


async def test_an_unknown_conversation_begins_afresh(open_opencode: Open) -> None:
    for unknown in ("ses_00000000000000000000000000", "nonsense"):
        conversation = await open_opencode(resume_token=unknown)
        told = await conversation.turn("say: hello")
        assert text(told) == "hello"
        assert "begins afresh" in only(told, base.Notice).text
        assert token(conversation) != unknown


async def test_what_worktrees_have_of_their_own_reaches_their_commands_alone(
    open_opencode: Open, environment: dict[str, str], tmp_path: Path
) -> None:
    seen = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        own = {**environment, "SPINNEY_BRANCH": name}
        conversation = await open_opencode(mode="yolo", worktree=folder, environment=own)
        told = await conversation.turn(
            "bash: echo $SPINNEY_BRANCH ${OPENCODE_SERVER_PASSWORD:-none} $SPINNEY_AGENT"
        )
        seen.append(only(told, base.ToolResult).content.split())
    (one, first_password, first), (two, second_password, second) = seen
    assert (one, two) == ("one", "two")
    assert (first_password, second_password) == ("none", "none")
    assert first == second  # the same server


@pytest.mark.parametrize(
    ("status", "error_type", "advice"),
    [
        (401, "authentication_error", "opencode auth login"),
        (400, "invalid_request", "start a new session"),
    ],
)
async def test_a_providers_error_fails_the_turn_and_the_next_one_works(
    open_opencode: Open, status: int, error_type: str, advice: str
) -> None:
    conversation = await open_opencode()
    failed = only(await conversation.turn(f"error {status}"), base.TurnFailed)
    assert failed.error_type == error_type
    assert advice in failed.error
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_rate_limit_tells_when_it_ends(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    provider.headers, provider.error = {"retry-after": "600"}, "Rate limit reached"
    try:
        failed = only(await conversation.turn("error 429"), base.TurnFailed)
    finally:
        provider.headers, provider.error = {}, ""
    assert failed.error_type == "rate_limit_error"
    assert 500 < (failed.retry_after or 0) <= 600
    assert text(await conversation.turn("say: again")) == "again"


async def test_an_unknown_model_fails_the_turn_and_the_next_one_works(open_opencode: Open) -> None:
    conversation = await open_opencode(model="nobody/nothing")
    failed = only(await conversation.turn("say: hello"), base.TurnFailed)
    assert failed.error_type == "invalid_request"
    assert "opencode models" in failed.error
    await conversation.agent.configure(base.Settings("build", f"{PROVIDER}/{MODEL}"))
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_conversation_that_is_too_long_is_shortened(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    provider.error = "prompt is too long: maximum context length exceeded"
    try:
        told = await conversation.turn("error 400")
    finally:
        provider.error = ""
    notices = [event.text for event in told if isinstance(event, base.Notice)]
    assert notices == [
        "Shortening the conversation…",
        "The conversation so far was shortened to a summary.",
    ]
    assert only(told, base.TurnFinished).stop_reason == "end_turn"


@pytest.mark.parametrize("stage", ["overloaded", "no network"])
async def test_a_provider_out_of_reach_fails_the_turn_soon(
    open_opencode: Open, environment: dict[str, str], tmp_path: Path, stage: str
) -> None:
    profile: dict[str, Any] = {}
    if stage == "no network":
        options = {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "dummy"}
        profile = {"provider": {PROVIDER: {"options": options}}}
    conversation = await open_opencode(profile=profile)
    told = await conversation.turn("error 529")
    failed = only(told, base.TurnFailed)
    assert failed.error_type == "backend_error"
    assert "Try again" in failed.error
    assert "Retrying" in next(e.text for e in told if isinstance(e, base.Notice))


async def test_mcp_servers_are_told_also_those_that_are_off(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit(1)"]
    profile = {
        "mcp": {
            "one": {"type": "local", "command": command},
            "two": {"type": "local", "command": command},
        }
    }
    conversation = await open_opencode(profile=profile, mcp_off=frozenset({"two", "gone"}))
    await conversation.agent.send(base.Prompt("say: hello"))
    seen = await conversation.until(base.McpServersSeen)
    assert {"one", "two"} <= set(seen.names)


async def test_changed_settings_reach_the_provider(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(system_prompt="Speak of looms.", effort="low")
    await conversation.turn("say: one")
    assert "Speak of looms." in json.dumps(provider.requests[-1]["messages"])
    assert provider.requests[-1]["reasoning_effort"] == "low"
    settings = base.Settings("build", f"{PROVIDER}/stub-2", "megathink", "high")
    await conversation.agent.configure(settings)
    await conversation.turn("say: two")
    assert provider.requests[-1]["model"] == "stub-2"
    assert provider.requests[-1]["reasoning_effort"] == "high"


async def test_a_text_alone_has_no_tools_and_is_not_kept(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode(text_only=True, mode="plan", system_prompt="Write a name.")
    assert text(await conversation.turn("say: Loom")) == "Loom"
    assert not provider.requests[-1].get("tools")
    assert "Write a name." in json.dumps(provider.requests[-1]["messages"])
    await conversation.agent.close()
    again = await open_opencode(resume_token=token(conversation))
    assert "begins afresh" in only(await again.turn("say: hello"), base.Notice).text


async def test_a_command_of_the_project_is_carried_out_and_can_be_stopped(
    open_opencode: Open, worktree: Path, environment: dict[str, str]
) -> None:
    settings = json.loads(Path(environment["OPENCODE_CONFIG"]).read_text())
    commands = {"weave": {"template": "say: woven $ARGUMENTS"}, "idle": {"template": "slow"}}
    (worktree / "opencode.json").write_text(json.dumps({**settings, "command": commands}))
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("/idle"))
    await conversation.until(base.TextDelta)
    await conversation.agent.stop()
    assert only(await conversation.rest(), base.TurnFinished).stop_reason == "stopped"
    told = await conversation.turn("/weave a long scarf")
    assert text(told) == "woven a long scarf"
    assert only(told, base.TurnFinished).stop_reason == "end_turn"
    assert text(await conversation.turn("say: again")) == "again"


async def test_its_commands_are_told_and_those_in_files_are_seen_before_it_runs(
    backend: OpenCodeBackend,
    open_opencode: Open,
    worktree: Path,
    environment: dict[str, str],
) -> None:
    (worktree / ".opencode/command/area").mkdir(parents=True)
    weave = "---\ndescription: Weave a cloth\n---\nsay: woven $1 in $2\n"
    (worktree / ".opencode/command/area/weave.md").write_text(weave)
    (worktree / ".claude/skills/wind").mkdir(parents=True)
    skill = "---\nname: wind\ndescription: Wind yarn\n---\nsay: wound\n"
    (worktree / ".claude/skills/wind/SKILL.md").write_text(skill)
    seen = {each.name for each in await backend.commands(worktree, environment)}
    assert seen == {"area/weave", "wind", "compact"}
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("/area/weave wool red"))
    told = {each.name: each for each in (await conversation.until(base.CommandsKnown)).commands}
    assert text(await conversation.rest()) == "woven wool in red"
    assert told["area/weave"].description == "Weave a cloth"
    assert told["area/weave"].argument_hint == "[1] [2]"
    assert told["init"].description
    assert seen <= set(told)
    assert "wound" in text(await conversation.turn("/wind"))


@pytest.mark.parametrize("model", [f"{PROVIDER}/{MODEL}", ""])
async def test_compact_shortens_the_conversation(open_opencode: Open, model: str) -> None:
    conversation = await open_opencode(model=model)
    await conversation.turn("say: the colour is blue")
    told = await conversation.turn("/compact")
    notices = [event.text for event in told if isinstance(event, base.Notice)]
    assert "The conversation so far was shortened to a summary." in notices
    assert only(told, base.TurnFinished).stop_reason == "end_turn"
    assert text(await conversation.turn("say: again")) == "again"


async def test_a_command_that_it_does_not_know_is_sent_as_text(
    open_opencode: Open, provider: CompletionsStub
) -> None:
    conversation = await open_opencode()
    only(await conversation.turn("/etc/hosts is what?"), base.TurnFinished)
    assert "/etc/hosts is what?" in json.dumps(provider.requests[-1]["messages"])


async def test_files_and_pictures_reach_the_provider(
    open_opencode: Open, provider: CompletionsStub, worktree: Path, tmp_path: Path
) -> None:
    (worktree / "notes.txt").write_text("warp and weft")
    picture = tmp_path / "dot.png"
    picture.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
            "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
        )
    )
    conversation = await open_opencode()
    notes, gone = worktree / "notes.txt", worktree / "gone.txt"
    await conversation.agent.send(base.Prompt("say: seen", (notes, gone), (picture,)))
    only(await conversation.rest(), base.TurnFinished)
    sent = json.dumps(provider.requests[-1]["messages"])
    assert "warp and weft" in sent
    assert "data:image/png;base64" in sent
    assert "gone.txt" in sent


async def test_an_agent_commits_in_a_linked_worktree(open_opencode: Open, tmp_path: Path) -> None:
    repository, linked = tmp_path / "repository", tmp_path / "linked"
    repository.mkdir()
    git(repository, "init", "--quiet")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    git(repository, "worktree", "add", "--quiet", "-b", "topic", str(linked))
    conversation = await open_opencode(worktree=linked)
    await conversation.turn("write a.txt: hi")
    who = "-c user.name=T -c user.email=t@example.org"
    await conversation.agent.send(base.Prompt(f"bash: git add a.txt && git {who} commit -m Add"))
    asked = await conversation.until(base.PermissionAsked)
    await conversation.agent.permit(asked.request_id, "allow")
    assert not only(await conversation.rest(), base.ToolResult).is_error
    assert git(linked, "log", "-1", "--format=%s").strip() == "Add"


async def test_many_sessions_work_at_once_on_one_server(
    open_opencode: Open, tmp_path: Path
) -> None:
    async def one(name: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        conversation = await open_opencode(worktree=folder)
        return text(await conversation.turn(f"say: {name}"))

    names = ["a", "b", "c", "d"]
    assert await asyncio.gather(*map(one, names)) == names


async def test_a_killed_server_fails_the_turn_and_the_conversation_goes_on_in_a_new_one(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data")
    launch = a_launch(worktree, model=f"{PROVIDER}/{MODEL}", environment=environment)
    try:
        before = Conversation(await backend.open(launch))
        await before.turn("say: the colour is blue")
        await before.agent.send(base.Prompt("slow"))
        await before.until(base.TextDelta)
        os.kill(server_of(tmp_path / "data"), signal.SIGKILL)
        failed = only(await before.rest(), base.TurnFailed)
        assert failed.error_type == "backend_error"
        assert "SIGKILL" in failed.error
        await before.end()
        await before.agent.close()
        known = token(before)
        resumed = a_launch(
            worktree,
            model=f"{PROVIDER}/{MODEL}",
            environment=environment,
            resume_token=known,
        )
        after = Conversation(await backend.open(resumed))
        assert "the colour is blue" in text(await after.turn("remember?"))
        assert token(after) == known
        await after.agent.close()
    finally:
        await backend.close()
    assert servers_of(tmp_path / "data") == []


def servers_of(data: Path) -> list[int]:
    """The processes of the servers that this backend started."""
    file = str(data / "worktrees.json")
    marked = process_table.environment_entries("SPINNEY_OPENCODE_WORKTREES")
    return [pid for pid, value in marked if value == file]


def server_of(data: Path) -> int:
    return min(servers_of(data))


async def test_a_server_that_nobody_uses_ends(
    environment: dict[str, str], worktree: Path, tmp_path: Path
) -> None:
    backend = OpenCodeBackend(tmp_path / "data", unused_limit=0.1)
    agent = await backend.open(a_launch(worktree, environment=environment))
    assert servers_of(tmp_path / "data")
    await agent.close()
    await becomes(lambda: servers_of(tmp_path / "data") == [], 30)
    await backend.close()


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a shell script on PATH in the place of the program."""

    def pretended(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "opencode"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return program

    return pretended


async def test_a_program_that_does_not_start_is_told_with_its_last_words(
    pretended: Callable[[str], Path], worktree: Path, tmp_path: Path
) -> None:
    pretended("echo 'the loom is broken' >&2; exit 3")
    backend = OpenCodeBackend(tmp_path / "data")
    with pytest.raises(SpinneyError, match="the loom is broken") as error:
        await backend.open(a_launch(worktree))
    assert error.value.error_type == "backend_unavailable"
    await backend.close()


async def test_a_program_that_is_not_there_is_told_with_its_installation(
    worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    backend = OpenCodeBackend(tmp_path / "data")
    assert "npm install" in ((await backend.probe()).problem or "")
    with pytest.raises(SpinneyError, match="npm install") as error:
        await backend.open(a_launch(worktree))
    assert error.value.error_type == "backend_unavailable"


async def test_the_probe_tells_of_a_version_that_is_too_old(
    pretended: Callable[[str], Path], backend: OpenCodeBackend
) -> None:
    pretended("echo 1.2.3")
    probe = await backend.probe()
    assert probe.version == "1.2.3"
    assert "opencode upgrade" in (probe.problem or "")


async def test_the_probe_of_a_program_that_hangs_ends(
    pretended: Callable[[str], Path], backend: OpenCodeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_program, "PATIENCE", 0.2)
    pretended("exec sleep 60")
    assert "opencode --version" in ((await backend.probe()).problem or "")


async def test_the_probe_finds_the_program_and_its_version(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, backend: OpenCodeBackend
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    probe = await backend.probe()
    assert probe.program is not None
    assert Path(probe.program).name == "opencode"
    assert probe.version is not None
    assert probe.signed_in is None  # the stub is a provider of the person's own
    assert probe.problem is None


async def test_the_probe_tells_how_to_sign_in(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: OpenCodeBackend
) -> None:
    for name, value in environment_in(tmp_path, {}).items():
        monkeypatch.setenv(name, value)
    probe = await backend.probe()
    assert probe.signed_in is False
    assert "opencode auth login" in (probe.problem or "")
