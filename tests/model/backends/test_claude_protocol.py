"""Parsing Claude Code's lines: provisional and final blocks, tools, and the ends of turns."""

import pytest

from model.backends import agent_events
from model.backends.agent_events import BlockDropped, TextDelta, TextFinal, ToolResult, ToolUse
from model.backends.claude.protocol import ClaudeStream
from model.domain.agent_commands import AgentCommand
from model.domain.modes import ExecutionMode
from model.domain.usage import Usage, UsageWindow
from tests.model.backends import claude_lines as say
from tests.model.backends.claude_lines import Line


def make_stream(mode: ExecutionMode = "build") -> ClaudeStream:
    return ClaudeStream(
        mode, lambda tool_input: str(tool_input.get("file_path")).startswith("/plans/")
    )


def parse(*lines: Line, stream: ClaudeStream | None = None) -> list[agent_events.AgentEvent]:
    """The events for the lines, without what a turn used so far."""
    stream = stream or make_stream()
    events = [event for line in lines for event in stream.events(line)]
    return [event for event in events if not isinstance(event, agent_events.UsageReported)]


def parse_ending(*lines: Line) -> agent_events.TurnFinished | agent_events.TurnFailed:
    event = parse(*lines)[-1]
    assert isinstance(event, agent_events.TurnFinished | agent_events.TurnFailed)
    return event


def test_text_and_thinking_stream_into_blocks_of_their_own_and_become_final() -> None:
    assert parse(
        say.message_start("m"),
        say.thinking_delta("Hm", 0),
        say.assistant("m", {"type": "thinking", "thinking": "Hm."}),
        say.text_delta("He", 1),
        say.text_delta("y", 1),
        say.assistant("m", say.text("Hey")),
        say.message_stop(),
    ) == [
        TextDelta("m:0", "Hm", "thinking"),
        TextFinal("m:0", "Hm.", "thinking"),
        TextDelta("m:1", "He"),
        TextDelta("m:1", "y"),
        TextFinal("m:1", "Hey"),
    ]


def test_an_answer_that_never_streamed_comes_as_a_whole() -> None:
    first, second = parse(say.assistant("u", say.text("One")), say.assistant("u", say.text("Two")))
    assert isinstance(first, TextFinal)
    assert isinstance(second, TextFinal)
    assert (first.text, second.text) == ("One", "Two")
    assert first.block != second.block


@pytest.mark.parametrize(
    "next_line", [say.message_start("m2"), say.assistant("m2", say.text("Again"))]
)
def test_blocks_of_a_broken_stream_are_dropped(next_line: Line) -> None:
    events = parse(
        say.message_start("m1"), say.text_delta("Par"), say.tool_start("t", "Bash", 1), next_line
    )
    assert BlockDropped("m1:0") in events
    assert ToolResult("t", "Cut off before it was called.", is_error=True) in events


def test_final_blocks_of_a_broken_stream_are_kept() -> None:
    events = parse(
        say.message_start("m1"),
        say.text_delta("Whole", 0),
        say.assistant("m1", say.text("Whole")),
        say.text_delta("Par", 1),
        say.message_start("m2"),
    )
    assert [event for event in events if isinstance(event, BlockDropped)] == [BlockDropped("m1:1")]


def test_a_tool_is_announced_early_and_completed_with_its_input() -> None:
    assert parse(
        say.message_start("m"),
        say.tool_start("t", "Bash"),
        say.assistant("m", say.tool_use("t", "Bash", command="ls")),
        say.tool_result("t", "a.txt"),
        say.message_stop(),
        say.result(),
    )[:-1] == [
        ToolUse("t", "Bash", {}),
        ToolUse("t", "Bash", {"command": "ls"}),
        ToolResult("t", "a.txt"),
    ]


def test_a_result_of_several_blocks_is_one_text() -> None:
    blocks = [say.text("one"), {"type": "image", "source": {}}, say.text("two")]
    assert parse(say.tool_result("t", blocks)) == [ToolResult("t", "one\n[image]\ntwo")]


def test_plans_and_questions_are_not_reported_as_tools() -> None:
    assert parse(
        say.assistant("m", say.tool_use("p", "ExitPlanMode", plan="x")),
        say.assistant("m", say.tool_use("q", "AskUserQuestion")),
        say.tool_result("p", "approved"),
        say.tool_result("q", "answered"),
    ) == []  # fmt: skip


def test_the_programs_own_plan_file_is_not_reported_as_an_edit() -> None:
    write = say.assistant("m", say.tool_use("w", "Write", file_path="/plans/a.md", content="x"))
    events = parse(
        say.message_start("m"),
        say.tool_start("w", "Write"),
        write,
        say.tool_result("w", "written"),
        stream=make_stream("plan"),
    )
    assert events == []


def test_an_edit_in_plan_mode_is_reported_once_known_not_to_be_the_plan() -> None:
    write = say.assistant("m", say.tool_use("w", "Write", file_path="/x/a.md", content="x"))
    announced = say.message_start("m"), say.tool_start("w", "Write")
    stream = make_stream("plan")
    assert parse(*announced, stream=stream) == []
    (use,) = parse(write, stream=stream)
    assert isinstance(use, ToolUse)
    assert use.name == "Write"


def test_a_sub_agents_tools_name_its_call_and_its_text_is_not_reported() -> None:
    use = say.assistant("m", say.tool_use("t", "Read", file_path="/a"))
    words = say.assistant("m", say.text("inner"))
    nested = say.stream({"type": "message_start", "message": {"id": "x"}}, parent="agent")
    assert parse(
        {**use, "parent_tool_use_id": "agent"}, {**words, "parent_tool_use_id": "agent"}, nested
    ) == [ToolUse("t", "Read", {"file_path": "/a"}, "agent")]


def test_repeated_lines_are_reported_once() -> None:
    line = say.assistant("m", say.text("Once"), uuid="u-1")
    assert len(parse(line, line)) == 1


def test_unknown_lines_are_ignored() -> None:
    unknown: list[Line] = [
        {},
        {"type": "news"},
        {"type": "system"},
        {"type": "stream_event"},
        {"type": "assistant"},
        {"type": "user", "message": {"content": "text"}},
        say.stream({"type": "content_block_delta"}),
        say.assistant("m", {"type": "new_block"}),
        say.tool_start("t", "Bash"),
    ]
    assert parse(*unknown) == []


def test_the_conversation_id_is_reported_once_and_when_it_changes() -> None:
    assert parse(say.init(session="a"), say.init(session="a"), say.init(session="b")) == [
        agent_events.ConversationIdentified("a"),
        agent_events.ModelReported("opus"),
        agent_events.ConversationIdentified("b"),
    ]


def test_a_mode_changed_by_the_program_is_reported() -> None:
    stream = make_stream()
    stream.session_id = "s-1"
    parse(say.init(), stream=stream)
    assert parse(say.init(), say.status(permissionMode="plan"), stream=stream) == [
        agent_events.ModeChanged("plan")
    ]
    assert parse(say.status(permissionMode="acceptEdits"), stream=stream) == [
        agent_events.ModeChanged("build")
    ]


def test_mcp_servers_are_listed_once_and_when_they_change() -> None:
    def servers(*names: str) -> Line:
        known = [{"name": name, "status": "connected"} for name in names]
        return {**say.init(), "mcp_servers": known}

    events = parse(servers("b", "a"), servers("a", "b"), servers("a"), servers())
    seen = [event for event in events if isinstance(event, agent_events.McpServersListed)]
    assert seen == [
        agent_events.McpServersListed(("a", "b")),
        agent_events.McpServersListed(("a",)),
    ]


def test_yolo_mode_stays_when_the_program_reports_another_mode() -> None:
    stream = make_stream("yolo")
    assert parse(say.status(permissionMode="acceptEdits"), stream=stream) == []


def test_retries_and_compaction_become_notices() -> None:
    retry = {"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 4}
    assert parse({**retry, "error": "overloaded"}, say.status(status="compacting")) == [
        agent_events.Notice("Retrying (2 of 4): the provider is overloaded"),
        agent_events.Notice("Shortening the conversation…"),
    ]


def test_the_delay_of_a_retry_is_reported_in_seconds() -> None:
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 4}
    limit = {**retry, "error": "rate_limit", "retry_delay_ms": 14_000}
    assert parse(limit) == [
        agent_events.Notice("Retrying in 14 s (1 of 4): the rate limit is reached")
    ]


# How a turn ends -------------------------------------------------------------------------------


def test_a_finished_turn_reports_its_usage_and_context_size() -> None:
    lines = say.init(), say.message_start("m"), say.message_stop(), say.result()
    assert parse_ending(*lines) == agent_events.TurnFinished(
        "end_turn",
        Usage(
            input_tokens=10,
            output_tokens=7,
            cache_creation_input_tokens=5,
            cache_read_input_tokens=1,
        ),
        context_tokens=16,
        context_window=200_000,
    )


def test_answers_and_those_of_sub_agents_add_up_while_a_turn_runs() -> None:
    stream = make_stream()
    usage = {"input_tokens": 10, "output_tokens": 2, "cache_creation_input_tokens": 5}
    done = say.stream({"type": "message_delta", "usage": usage})
    inner = say.assistant("n", say.text("inner"), parent_tool_use_id="agent")
    inner["message"]["usage"] = {"input_tokens": 100}
    lines = say.message_start("m"), done, inner, inner, say.message_start("o")
    reports = [each for line in lines for each in stream.events(line)]
    used = [each.usage for each in reports if isinstance(each, agent_events.UsageReported)]
    assert [usage.total for usage in used] == [16, 17, 117, 133]
    stream.begin_turn()
    [begun] = [*stream.events(say.message_start("p"))]
    assert begun == agent_events.UsageReported(
        Usage(input_tokens=10, cache_creation_input_tokens=5, cache_read_input_tokens=1)
    )


def test_the_tokens_and_the_cost_of_a_turn_are_those_of_all_its_models() -> None:
    def used(tokens: int, cost: float) -> Line:
        return {
            "inputTokens": tokens,
            "outputTokens": 1,
            "cacheReadInputTokens": 2,
            "cacheCreationInputTokens": 3,
            "costUSD": cost,
        }

    models = {"opus": used(10, 0.5), "haiku": used(20, 0.25)}
    finished = parse_ending(say.result(total_cost_usd=9, model_usage_since_last_result=models))
    assert finished.cost_usd == 0.75
    assert finished.usage == Usage(
        input_tokens=30,
        output_tokens=2,
        cache_creation_input_tokens=6,
        cache_read_input_tokens=4,
    )


@pytest.mark.parametrize(
    ("is_new", "costs"), [(True, [0.25, 0.5]), (False, [None, 0.5])], ids=["new", "resumed"]
)
def test_an_older_program_reports_only_the_sum_of_the_cost(
    is_new: bool, costs: list[float | None]
) -> None:
    stream = ClaudeStream("build", lambda _: False, is_new=is_new)
    reported = [parse(say.result(total_cost_usd=sum_), stream=stream)[-1] for sum_ in (0.25, 0.75)]
    assert [getattr(finished, "cost_usd", 0) for finished in reported] == costs


def test_a_cost_of_nothing_is_unknown() -> None:
    assert parse_ending(say.result(total_cost_usd=0)).cost_usd is None


@pytest.mark.parametrize("reason", ["aborted_streaming", "aborted_tools"])
def test_a_stopped_turn_is_not_an_error_and_keeps_the_streamed_text(reason: str) -> None:
    stopped = say.result(
        subtype="error_during_execution",
        is_error=True,
        terminal_reason=reason,
        errors=["[ede_diagnostic] inner"],
        usage={"input_tokens": 0},
    )
    events = parse(say.message_start("m"), say.thinking_delta("Hm"), stopped)
    assert not any(isinstance(event, BlockDropped) for event in events)
    finished = events[-1]
    assert isinstance(finished, agent_events.TurnFinished)
    assert finished.stop_reason == "stopped"
    assert finished.usage.input_tokens == 10


def test_reaching_the_turn_limit_is_not_an_error() -> None:
    limit = say.result(subtype="error_max_turns", is_error=True, errors=["too many"])
    finished = parse_ending(limit)
    assert isinstance(finished, agent_events.TurnFinished)
    assert finished.stop_reason == "max_turns"


@pytest.mark.parametrize(
    ("word", "status", "error_type", "advice"),
    [
        ("authentication_failed", None, "authentication_error", "Run: claude auth login"),
        ("unknown", 401, "authentication_error", "claude auth login"),
        ("rate_limit", 429, "rate_limit_error", "Wait a while"),
        ("server_error", 529, "backend_error", "Try again"),
        ("unknown", 503, "backend_error", "Try again"),
        ("model_not_found", 404, "invalid_request", "Choose another model"),
        ("invalid_request", 400, "invalid_request", "Change the message"),
        ("invalid_request", 413, "too_large", "Send less"),
        ("billing_error", 400, "backend_error", "credit"),
        ("a new word", None, "backend_error", "its own words"),
    ],
)
def test_a_failed_turn_says_what_to_do(
    word: str, status: int | None, error_type: str, advice: str
) -> None:
    error = say.assistant("u", say.text("its own words"), error=word)
    failed = say.result(is_error=True, api_error_status=status, result="its own words")
    events = parse(error, failed)
    assert len(events) == 1  # the text is part of the error, not a response
    assert isinstance(events[0], agent_events.TurnFailed)
    assert events[0].error_type == error_type
    assert advice in events[0].error


def test_the_error_for_a_too_long_conversation_suggests_compaction() -> None:
    failed = parse_ending(
        say.result(is_error=True, api_error_status=400, result="Prompt is too long")
    )
    assert isinstance(failed, agent_events.TurnFailed)
    assert "/compact" in failed.error


def test_a_rate_limit_error_has_a_retry_delay() -> None:
    retry = {"type": "system", "subtype": "api_retry", "retry_delay_ms": 2500.0}
    error = say.assistant("u", say.text("limit"), error="rate_limit")
    failed = parse_ending(retry, error, say.result(is_error=True, api_error_status=429))
    assert isinstance(failed, agent_events.TurnFailed)
    assert failed.retry_after == 2.5


def test_a_subscription_limit_error_has_a_retry_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000.0)
    limit = {"status": "rejected", "resetsAt": 4_600}
    error = say.assistant("u", say.text("limit"), error="rate_limit")
    failed = parse_ending(
        {"type": "rate_limit_event", "rate_limit_info": limit},
        error,
        say.result(is_error=True, api_error_status=429),
    )
    assert isinstance(failed, agent_events.TurnFailed)
    assert failed.retry_after == 3_600


def test_windows_of_a_subscription_are_reported() -> None:
    five_hours = {"utilization": 0.91, "resetsAt": 5_000, "status": "rejected"}
    limit = {
        "status": "rejected",
        "resetsAt": 5_000,
        "rateLimitType": "five_hour",
        "unifiedWindows": {
            "five_hour": five_hours,
            "seven_day_opus": {"utilization": 0.4, "resetsAt": 10**400, "status": "allowed"},
        },
    }
    assert parse({"type": "rate_limit_event", "rate_limit_info": limit}) == [
        agent_events.LimitsReported(
            (
                UsageWindow(id="five_hour", used=0.91, resets_at=5_000, minutes=300, reached=True),
                UsageWindow(id="seven_day_opus", used=0.4, minutes=10_080),
            )
        )
    ]
    without_windows = {"status": "allowed", "isUsingOverage": False}
    assert parse({"type": "rate_limit_event", "rate_limit_info": without_windows}) == []


def test_a_sub_agents_failure_does_not_decide_the_turns_error() -> None:
    inner = say.assistant("u", say.text("limit"), error="rate_limit")
    failed = parse_ending({**inner, "parent_tool_use_id": "agent"}, say.result(is_error=True))
    assert isinstance(failed, agent_events.TurnFailed)
    assert failed.error_type == "backend_error"


# Commands ----------------------------------------------------------------------------------------

INITIALIZE_RESPONSE: Line = {
    "commands": [
        {"name": "weave", "description": "Weave a cloth", "argumentHint": "[yarn]"},
        {"name": "compact", "description": None, "argumentHint": 7, "aliases": ["c"]},
        {"description": "nameless"},
        "garbage",
    ]
}


def test_commands_are_listed_at_initialization_and_when_they_change() -> None:
    stream = make_stream()
    weave = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn]")
    (known,) = stream.handle_initialize(INITIALIZE_RESPONSE)
    assert isinstance(known, agent_events.CommandsListed)
    assert [command.name for command in known.commands] == ["weave", "compact"]
    assert known.commands[0] == weave

    def list_commands(names: object) -> list[agent_events.AgentEvent]:
        line = {**say.init(), "slash_commands": names}
        return [e for e in parse(line, stream=stream) if isinstance(e, agent_events.CommandsListed)]

    assert list_commands(["weave", "compact"]) == []
    assert list_commands("garbage") == []
    new = (weave, AgentCommand(name="mcp__loom__spin"))
    assert list_commands(["weave", "mcp__loom__spin"]) == [agent_events.CommandsListed(new)]


@pytest.mark.parametrize("response", [{}, {"commands": None}, {"commands": {"name": "x"}}])
def test_an_initialize_response_without_commands_lists_none(response: Line) -> None:
    assert list(make_stream().handle_initialize(response)) == []
