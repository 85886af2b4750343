"""The demo agent's directives, run by its real program through its adapter."""

import asyncio
import time
from pathlib import Path

import pytest

from model.backends import agent_events, base, channel
from model.backends.demo import texts
from tests.model.backends.agents import Open, only, text
from tests.patience import PATIENCE


async def test_say_streams_the_text_word_by_word(
    open_demo: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pieces waiting for a reader are merged; this test counts each of them.
    monkeypatch.setattr(channel, "_merge", lambda earlier, later: None)
    events = await (await open_demo()).turn("/demo say Three little words")
    assert text(events) == "Three little words"
    assert sum(isinstance(event, agent_events.TextDelta) for event in events) == 3
    finished = only(events, agent_events.TurnFinished)
    assert finished.stop_reason == "end_turn"
    assert (finished.usage.input_tokens, finished.usage.output_tokens) == (5, 3)
    assert (finished.context_tokens, finished.context_window) == (5, 20_000)
    assert finished.cost_usd == pytest.approx(0.008)


async def test_used_reports_a_window(open_demo: Open) -> None:
    before = time.time()
    events = await (await open_demo()).turn("/demo used 83 20")
    [window] = only(events, agent_events.LimitsReported).windows
    assert (window.id, window.used, window.minutes, window.reached) == (
        "five_hour",
        0.83,
        300,
        False,
    )
    assert window.resets_at is not None
    assert before + 1200 <= window.resets_at <= time.time() + 1200


async def test_think_streams_thinking(open_demo: Open) -> None:
    events = await (await open_demo()).turn("/demo think Hm, well")
    assert (text(events, "thinking"), text(events)) == ("Hm, well", "")


async def test_several_directives_run_in_order(open_demo: Open) -> None:
    events = await (await open_demo()).turn("/demo say One\n/demo think Two\nsay Three")
    blocks = [
        (event.kind, event.text) for event in events if isinstance(event, agent_events.TextDelta)
    ]
    assert blocks == [("text", "One"), ("thinking", "Two"), ("text", "Three")]


async def test_write_edits_a_file(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo()
    await conversation.turn("/demo write src/a.txt: first")
    events = await conversation.turn("/demo write src/a.txt: second\nand more")
    assert (worktree / "src" / "a.txt").read_text() == "second\nand more\n"
    use = only(events, agent_events.ToolUse)
    assert use.name == "edit"
    assert use.input == {
        "file_path": "src/a.txt",
        "old_content": "first\n",
        "new_content": "second\nand more\n",
    }
    result = only(events, agent_events.ToolResult)
    assert (result.tool_use_id, result.is_error) == (use.id, False)


@pytest.mark.parametrize("path", ["../out.txt", "link/out.txt", ".git/hooks/x", "/tmp/../out.txt"])
async def test_write_never_leaves_the_worktree(
    open_demo: Open, worktree: Path, tmp_path: Path, path: str
) -> None:
    (worktree / "link").symlink_to(tmp_path)
    events = await (await open_demo()).turn(f"/demo write {path}: x")
    result = only(events, agent_events.ToolResult)
    assert result.is_error
    assert "outside the worktree" in result.content
    assert not [found for found in tmp_path.rglob("*") if found.name in ("out.txt", "x")]


async def test_run_shows_the_output(open_demo: Open, worktree: Path) -> None:
    events = await (await open_demo()).turn("/demo run pwd; echo oops >&2")
    assert only(events, agent_events.ToolUse).name == "bash"
    assert only(events, agent_events.ToolResult).content == f"{worktree}\noops\n"


async def test_run_reports_a_failure(open_demo: Open) -> None:
    result = only(
        await (await open_demo()).turn("/demo run echo no; exit 3"), agent_events.ToolResult
    )
    assert (result.content, result.is_error) == ("no\n\nexit code 3", True)


async def test_run_does_not_wait_for_background_processes(open_demo: Open) -> None:
    async with asyncio.timeout(PATIENCE):
        events = await (await open_demo()).turn("/demo run sleep 60 & echo started")
    assert only(events, agent_events.ToolResult).content == "started\n"


@pytest.mark.parametrize("directive", ["write a.txt: x", "run touch a.txt"])
async def test_plan_mode_changes_nothing(open_demo: Open, worktree: Path, directive: str) -> None:
    events = await (await open_demo("plan")).turn(f"/demo {directive}")
    result = only(events, agent_events.ToolResult)
    assert result.is_error
    assert "Plan mode changes nothing" in result.content
    assert list(worktree.iterdir()) == []


async def test_a_plan_is_carried_out_when_approved(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.send(base.Prompt("/demo plan write a.txt: hi; Feel good"))
    plan = await conversation.until(agent_events.PlanProposed)
    assert "1. write a.txt: hi\n2. Feel good" in plan.text
    assert list(worktree.iterdir()) == []
    await conversation.agent.approve(plan.request_id, base.Settings("build"), None)
    events = await conversation.rest()
    assert only(events, agent_events.ModeChanged).mode == "build"
    assert (worktree / "a.txt").read_text() == "hi\n"
    assert text(events) == "Feel good"


async def test_the_steps_of_a_plan_may_be_on_separate_lines(open_demo: Open) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.send(base.Prompt("/demo plan\n- say one\n- say two"))
    plan = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.approve(plan.request_id, base.Settings("yolo"), None)
    assert text(await conversation.rest()) == "onetwo"


async def test_an_edited_plan_is_carried_out_as_edited(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.send(base.Prompt("/demo plan write a.txt: hi"))
    plan = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.approve(
        plan.request_id, base.Settings("build"), "Better:\n1. write b.txt: ho\n"
    )
    await conversation.rest()
    assert [path.name for path in worktree.iterdir()] == ["b.txt"]


async def test_a_discussed_plan_is_proposed_again(open_demo: Open) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.send(base.Prompt("/demo plan say one"))
    plan = await conversation.until(agent_events.PlanProposed)
    await conversation.agent.discuss(plan.request_id, base.Prompt("and be brief"))
    again = await conversation.until(agent_events.PlanProposed)
    assert again.request_id != plan.request_id
    assert "2. say and be brief" in again.text


async def test_a_plan_outside_plan_mode_is_carried_out_at_once(open_demo: Open) -> None:
    assert text(await (await open_demo()).turn("/demo plan say one; say two")) == "onetwo"


async def test_a_plan_whose_process_is_gone_is_carried_out_by_another(
    open_demo: Open, worktree: Path
) -> None:
    events = await (await open_demo()).turn("Carry this out.\n\n## Plan\n\n1. write a.txt: hi")
    assert (worktree / "a.txt").read_text() == "hi\n"
    assert text(events) == ""


async def test_ask_waits_for_the_answer_and_repeats_it(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo ask Tea or coffee? | Tea | Coffee"))
    asked = await conversation.until(agent_events.QuestionAsked)
    (question,) = asked.questions
    assert question.question == "Tea or coffee?"
    assert [option.label for option in question.options] == ["Tea", "Coffee"]
    await conversation.agent.answer(asked.request_id, {question.question: "Water, please"})
    assert text(await conversation.rest()) == "You answered: Water, please"


async def test_permission_asks_first(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo permission touch a.txt"))
    asked = await conversation.until(agent_events.PermissionRequested)
    assert (asked.tool_name, asked.input) == ("bash", {"command": "touch a.txt"})
    assert list(worktree.iterdir()) == []
    await conversation.agent.permit(asked.request_id, "allow")
    await conversation.rest()
    assert (worktree / "a.txt").exists()


async def test_a_denied_command_does_not_run(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo()
    await conversation.agent.send(base.Prompt("/demo permission touch a.txt"))
    asked = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(asked.request_id, "deny", "Write a test first.")
    result = only(await conversation.rest(), agent_events.ToolResult)
    assert result.is_error
    assert "denied" in result.content
    assert "Write a test first." in result.content
    assert list(worktree.iterdir()) == []


async def test_yolo_mode_asks_nothing(open_demo: Open) -> None:
    events = await (await open_demo("yolo")).turn("/demo permission echo one")
    assert only(events, agent_events.ToolResult).content == "one\n"


async def test_a_changed_mode_applies_from_the_next_turn(open_demo: Open, worktree: Path) -> None:
    conversation = await open_demo("plan")
    await conversation.agent.configure(base.Settings("build"))
    await conversation.turn("/demo write a.txt: x")
    assert (worktree / "a.txt").exists()


async def test_stream_numbers_and_times_its_pieces_and_keeps_its_rate(open_demo: Open) -> None:
    conversation = await open_demo()
    await conversation.turn("/demo help")  # starts the program
    asked = time.time()
    events = await conversation.turn("/demo stream 4000 4000")
    said = "".join(event.text for event in events if isinstance(event, agent_events.TextDelta))
    numbers, times = zip(*(piece.split(":") for piece in said.split()), strict=True)
    assert [int(number) for number in numbers] == list(range(1, 4001))
    took = float(times[-1]) - asked  # the first piece may be late without delaying the others
    assert took > 0.99  # never faster than requested; a slow machine may be slower
    assert all(len(moment.partition(".")[2]) == 6 for moment in times)
    assert abs(time.time() - float(times[-1])) < PATIENCE


async def test_markdown_has_the_size_and_is_the_same_every_time(open_demo: Open) -> None:
    conversation = await open_demo()
    first = text(await conversation.turn("/demo markdown 20"))
    assert text(await conversation.turn("/demo markdown 20")) == first
    assert 19.5 * 1024 < len(first.encode()) <= 20 * 1024
    assert all(part in first for part in ("```python", "```rust", "```sh", "```json", "| thread |"))


async def test_wait_waits(open_demo: Open) -> None:
    conversation = await open_demo()
    before = time.monotonic()
    await conversation.turn("/demo wait 0.3")
    assert time.monotonic() - before >= 0.3


@pytest.mark.parametrize("message", ["/demo", "/demo help", "/demo dance a jig"])
async def test_an_unknown_directive_is_answered_with_the_list(
    open_demo: Open, message: str
) -> None:
    assert text(await (await open_demo()).turn(message)) == texts.DIRECTIVES


@pytest.mark.parametrize(
    "message",
    ["/demo stream x", "/demo wait long", "/demo write no colon", "/demo fail x", "/demo plan ;"],
)
async def test_a_wrong_argument_is_explained(open_demo: Open, message: str) -> None:
    events = await (await open_demo()).turn(message)
    assert "failed:" in text(events)
    assert only(events, agent_events.TurnFinished).stop_reason == "end_turn"
