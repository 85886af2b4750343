"""The events of a turn of the real OpenCode, and its changes to the worktree."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.domain.usage import Usage
from tests.live.completions_stub import WINDOW, CompletionsStub
from tests.model.backends.agents import Open, get_resume_token, only, text

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_text_and_thinking_stream_and_the_usage_is_reported(open_opencode: Open) -> None:
    events = await (await open_opencode()).turn("think: about looms and threads")
    assert text(events, "thinking") == "about looms and threads"
    assert text(events) == "I thought about it."
    assert sum(isinstance(event, agent_events.TextDelta) for event in events) >= 2
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert finished.usage == Usage(input_tokens=120, output_tokens=5, cache_read_input_tokens=3)
    assert finished.context_tokens == 123
    assert finished.context_window == WINDOW


async def test_a_write_happens_on_disk_and_is_reported_as_an_edit(
    open_opencode: Open, worktree: Path
) -> None:
    events = await (await open_opencode()).turn("write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi"
    *_, edit = (event for event in events if isinstance(event, agent_events.ToolUse))
    assert edit.name == "edit"
    assert edit.input == {"file_path": "a.txt", "old_content": "", "new_content": "hi"}
    result = only(events, agent_events.ToolResult)
    assert (result.tool_use_id, result.is_error) == (edit.id, False)
    assert text(events).endswith("done")


async def test_an_edit_reports_what_it_replaces(open_opencode: Open, worktree: Path) -> None:
    (worktree / "a.txt").write_text("one two three")
    events = await (await open_opencode()).turn("edit a.txt: two => 2")
    assert (worktree / "a.txt").read_text() == "one 2 three"
    edits = [e.input for e in events if isinstance(e, agent_events.ToolUse) and e.name == "edit"]
    assert edits[-1] == {"file_path": "a.txt", "old_content": "two", "new_content": "2"}


async def test_an_overwritten_file_is_reported_with_its_old_content(
    open_opencode: Open, worktree: Path
) -> None:
    (worktree / "a.txt").write_text("before")
    for mode in ("build", "yolo"):
        conversation = await open_opencode(mode=mode)
        (worktree / "a.txt").write_text(f"before {mode}")
        events = await conversation.turn("write a.txt: after")
        edits = [
            e.input for e in events if isinstance(e, agent_events.ToolUse) and e.input["file_path"]
        ]
        assert {edit["old_content"] for edit in edits} == {f"before {mode}"}


async def test_a_sub_agents_tools_are_asked_for_and_reported_under_its_call(
    open_opencode: Open,
) -> None:
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("agent: bash: echo $((6 * 7))"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert asked.input["command"] == "echo $((6 * 7))"
    await conversation.agent.permit(asked.request_id, "allow")
    events = await conversation.rest()
    uses = {e.id: e for e in conversation.events if isinstance(e, agent_events.ToolUse)}
    task, command = uses.values()
    assert command.parent_tool_use_id == task.id
    assert asked.tool_use_id == command.id
    results = {e.tool_use_id: e.content for e in events if isinstance(e, agent_events.ToolResult)}
    assert results[command.id].strip() == "42"
    assert "done" in results[task.id]


async def test_a_to_do_list_is_reported(open_opencode: Open) -> None:
    events = await (await open_opencode()).turn("todo: spin | weave")
    use = [event for event in events if isinstance(event, agent_events.ToolUse)][-1]
    assert use.name == "TodoWrite"
    assert [todo["content"] for todo in use.input["todos"]] == ["spin", "weave"]


async def test_a_later_session_knows_the_earlier_turns(open_opencode: Open) -> None:
    before = await open_opencode()
    await before.turn("say: the colour is blue")
    await before.agent.close()
    after = await open_opencode(resume_token=get_resume_token(before))
    assert "the colour is blue" in text(await after.turn("remember?"))
    assert get_resume_token(after) == get_resume_token(before)


async def test_an_unknown_conversation_starts_a_new_one(open_opencode: Open) -> None:
    for unknown in ("ses_00000000000000000000000000", "nonsense"):
        conversation = await open_opencode(resume_token=unknown)
        events = await conversation.turn("say: hello")
        assert text(events) == "hello"
        assert "starts a new one" in only(events, agent_events.Notice).text
        assert get_resume_token(conversation) != unknown


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
    only(await conversation.rest(), agent_events.TurnFinished)
    sent = json.dumps(provider.requests[-1]["messages"])
    assert "warp and weft" in sent
    assert "data:image/png;base64" in sent
    assert "gone.txt" in sent


def git(where: Path, *words: str) -> str:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=where, check=True, capture_output=True, text=True
    )
    return done.stdout


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
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "allow")
    assert not only(await conversation.rest(), agent_events.ToolResult).is_error
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


@pytest.mark.parametrize(
    ("name", "content", "kind"), [("a.mp3", b"ID3", "audio"), ("a.pdf", b"%PDF-1.4\n", "pdf")]
)
async def test_an_attached_file_reaches_the_model_as_what_it_is(
    open_opencode: Open, worktree: Path, name: str, content: bytes, kind: str
) -> None:
    file = worktree / name
    file.write_bytes(content + bytes(200))
    conversation = await open_opencode()
    await conversation.agent.send(base.Prompt("listen", (file,)))
    # The model of the stub takes neither, and the program says so to it.
    assert f"this model does not support {kind} input" in text(await conversation.rest())
