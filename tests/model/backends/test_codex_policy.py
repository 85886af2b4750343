"""Codex: modes, preferences, worktrees, edits, requests and error messages."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.backends import agent_events
from model.backends.base import Settings
from model.backends.codex import policy, startup_notices
from model.backends.codex.approvals import (
    build_response,
    decide_by_policy,
    parse_request,
    stricter_mode,
)
from model.backends.codex.edits import parse_edits
from model.backends.codex.errors import describe_error, format_retry_notice
from model.backends.codex.stream import CodexStream, unwrap_shell
from model.domain.modes import Effort, ThinkingLevel
from model.preferences.precedence import choose_effort, max_own_effort
from model.preferences.schema import Preferences
from tests.model.backends.agents import make_launch
from tests.patience import PATIENCE


@pytest.mark.parametrize(
    ("preferred", "thinking", "expected"),
    [
        ("xhigh", "ultrathink", "xhigh"),
        ("medium", "ultrathink", "medium"),
        ("high", "off", "low"),
    ],
)
def test_the_preferred_reasoning_effort_goes_with_each_turn(
    tmp_path: Path, preferred: Effort, thinking: ThinkingLevel, expected: str
) -> None:
    preferences = Preferences(default_codex_reasoning_effort=preferred)
    settings = Settings("build", "m", thinking, choose_effort("backend_b", thinking, preferences))
    effort = policy.choose_effort(settings, "", ["low", "medium", "high", "xhigh"])
    turn = policy.build_turn_params(make_launch(tmp_path), settings, "m", effort, [])
    assert turn["collaborationMode"]["settings"]["reasoning_effort"] == expected
    assert turn["summary"] == ("none" if thinking == "off" else "auto")


@pytest.mark.parametrize(
    ("wanted", "supported", "expected"),
    [
        ("max", ["low", "medium", "high", "xhigh", "max", "ultra"], "max"),
        ("max", ["low", "medium", "high"], "high"),
        ("low", ["medium", "high"], "medium"),
        ("max", [], "xhigh"),
        ("high", [], "high"),
    ],
)
def test_only_supported_efforts_are_chosen(
    wanted: Effort, supported: list[str], expected: str
) -> None:
    assert policy.choose_effort(Settings("build", effort=wanted), "ultra", supported) == expected


@pytest.mark.parametrize(
    ("own", "thinking", "expected"),
    [
        ("medium", "ultrathink", "medium"),
        ("xhigh", "ultrathink", "xhigh"),
        ("ultra", "ultrathink", "ultra"),
        ("xhigh", "think", "medium"),
        ("minimal", "ultrathink", "high"),  # not supported by the model
        ("", "ultrathink", "high"),
    ],
)
def test_the_users_own_effort_applies_if_none_was_chosen(
    own: str, thinking: ThinkingLevel, expected: str
) -> None:
    preferences = Preferences()
    settings = Settings(
        "build",
        thinking=thinking,
        effort=choose_effort("backend_b", thinking, preferences),
        user_effort_limit=max_own_effort("backend_b", thinking, preferences),
    )
    supported = ["low", "medium", "high", "xhigh", "max", "ultra"]
    assert policy.choose_effort(settings, own, supported) == expected


def test_the_writable_git_folders_exclude_hooks(tmp_path: Path) -> None:
    repository, linked = tmp_path / "repository", tmp_path / "linked"
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (
        ["init", "-q", str(repository)],
        ["-C", str(repository), *who, "commit", "-q", "--allow-empty", "-m", "Begin"],
        ["-C", str(repository), "worktree", "add", "-q", str(linked)],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True, timeout=PATIENCE)
    common = repository.resolve() / ".git"
    assert policy.find_git_folders(linked) == [
        common / "worktrees" / "linked",
        *(common / name for name in ("objects", "refs", "logs")),
    ]
    assert policy.find_git_folders(repository) == [common]
    assert policy.find_git_folders(tmp_path) == []
    for pointer in (f"gitdir: {tmp_path}\n", "gitdir: \0", "x" * 2_000_000):
        (linked / ".git").write_text(pointer)
        assert policy.find_git_folders(linked) == [], "no folder of the user may be writable"


def test_disabled_servers_stay_disabled_even_if_a_profile_enables_them(tmp_path: Path) -> None:
    wheel = {"command": "wheel", "enabled": True}
    profile = {"mcp_servers": {"wheel": wheel, "loom": {"command": "loom"}}}
    launch = make_launch(
        tmp_path, profile=profile, disabled_mcp_servers=frozenset({"wheel", "spindle"})
    )
    servers = ["loom", "spindle", "wheel"]
    config = policy.build_thread_config(launch, launch.settings, "mark", servers)
    assert config["mcp_servers"] == {
        "loom": {"command": "loom"},
        "spindle": {"enabled": False},
        "wheel": {"command": "wheel", "enabled": False},
    }


def test_a_patch_is_an_edit_for_each_file() -> None:
    changes = [
        {"path": "/w/new.txt", "kind": {"type": "add"}, "diff": "one\n"},
        {"path": "/w/old.txt", "kind": {"type": "delete"}, "diff": "two\n"},
        {
            "path": "/w/a.txt",
            "kind": {"type": "update", "move_path": "/w/b.txt"},
            "diff": "@@ -1 +1 @@\n kept\n-out\n+in\n@@ -9 +9 @@\n-far\n+near\n",
        },
        {"path": "/etc/motd", "kind": {"type": "update", "move_path": None}, "diff": ""},
    ]
    edits = list(parse_edits({"id": "p", "changes": changes}, Path("/w"), "parent"))
    assert [use.id for use in edits] == ["p", "p#2", "p#3", "p#4"]
    assert {(use.name, use.parent_tool_use_id) for use in edits} == {("edit", "parent")}
    new, old, moved, outside = (use.input for use in edits)
    assert new == {"file_path": "new.txt", "old_content": "", "new_content": "one\n"}
    assert old == {"file_path": "old.txt", "old_content": "two\n", "new_content": ""}
    assert (moved["file_path"], moved["moved_to"]) == ("a.txt", "b.txt")
    assert moved["old_content"] == "kept\nout\n…\nfar\n"
    assert moved["new_content"] == "kept\nin\n…\nnear\n"
    assert outside["file_path"] == "/etc/motd"


@pytest.mark.parametrize(
    ("wrapped", "command"),
    [
        ("/bin/bash -lc 'echo \"a b\" | wc'", 'echo "a b" | wc'),
        ("/usr/bin/zsh -c ls", "ls"),
        ("python3 -c 'print(1)'", "python3 -c 'print(1)'"),
        ("/bin/bash -lc 'it is not closed", "/bin/bash -lc 'it is not closed"),
        (f"/bin/bash -lc '{'long' * 5_000}'", f"/bin/bash -lc '{'long' * 5_000}'"),
        (None, ""),
    ],
)
def test_a_command_is_shown_without_the_shell_around_it(wrapped: object, command: str) -> None:
    assert unwrap_shell(wrapped) == command


def test_a_sub_agent_activity_is_a_tool_with_nested_tools() -> None:
    stream = CodexStream(Path("/w"), "main")

    def parse(thread: str, word: str, **item: Any) -> list[Any]:
        return list(stream.events(f"item/{word}", {"threadId": thread, "item": item}))

    activity = {"type": "subAgentActivity", "agentThreadId": "sub"}
    path = {"agentPath": "/root/weaver"}
    (use,) = parse("main", "started", id="call", kind="started", **activity, **path)
    assert (use.id, use.name, use.input) == ("call", "agent", {"description": "weaver"})
    assert parse("main", "completed", id="call", kind="started", **activity, **path) == []
    command = {"type": "commandExecution", "command": "ls", "aggregatedOutput": "a\n"}
    (inner,) = parse("sub", "started", id="run", **command)
    assert inner.parent_tool_use_id == "call"
    (result,) = parse("sub", "completed", id="run", exitCode=0, status="completed", **command)
    assert (result.tool_use_id, result.content, result.is_error) == ("run", "a", False)
    assert parse("sub", "completed", id="m", type="agentMessage", text="Woven.") == []
    (result,) = parse("main", "completed", id="end", kind="completed", **activity)
    assert (result.tool_use_id, result.content) == ("call", "Woven.")


def test_several_questions_are_answered_by_their_ids() -> None:
    questions = [
        {"id": "q1", "header": "Drink", "question": "Tea?", "options": [{"label": "Yes"}]},
        {"id": "q2", "header": "Size", "question": "Large?", "options": None},
        {"id": "q3", "header": "Why", "question": "Why?", "options": []},
    ]
    params = {"turnId": "t", "questions": questions}
    asked = parse_request(0, "item/tool/requestUserInput", params, CodexStream(Path("/w"), "main"))
    assert asked is not None
    assert [question.question for question in asked.questions] == ["Tea?", "Large?", "Why?"]
    assert asked.questions[0].options[0].label == "Yes"
    assert asked.build_answers({"Large?": "No", "Tea?": "Yes", "Milk?": "?"}) == {
        "answers": {"q1": {"answers": ["Yes"]}, "q2": {"answers": ["No"]}}
    }


def test_an_elicitation_without_fields_needs_permission_and_one_with_a_form_is_declined() -> None:
    stream = CodexStream(Path("/w"), "main")
    method = "mcpServer/elicitation/request"
    plain = {"serverName": "loom", "mode": "form", "message": "Weave?", "requestedSchema": {}}
    asked = parse_request(1, method, plain, stream)
    assert asked is not None
    assert asked.permission is not None
    assert (asked.permission.tool_name, asked.permission.description) == ("mcp__loom", "Weave?")
    assert decide_by_policy(asked, "build") is None
    assert build_response(asked, "allow") == {"action": "accept", "content": {}}
    form = {**plain, "requestedSchema": {"properties": {"name": {"type": "string"}}}}
    asked = parse_request(1, method, form, stream)
    assert asked is not None
    assert decide_by_policy(asked, "build") == "deny"
    assert build_response(asked, "deny") == {"action": "decline"}


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}},
         "authentication_error", "codex login"),
        ({"codexErrorInfo": "usageLimitExceeded"}, "rate_limit_error", "usage limit"),
        ({"codexErrorInfo": "contextWindowExceeded"}, "invalid_request", "too long"),
        ({"codexErrorInfo": "serverOverloaded"}, "backend_error", "overloaded"),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": None}}},
         "backend_error", "Check the network"),
        ({"codexErrorInfo": "other", "message": '{"error": {"message": "bad picture"}}'},
         "invalid_request", "bad picture"),
        ({"codexErrorInfo": "other", "message": "stream disconnected before completion: x"},
         "backend_error", "Check the network"),
        ({"codexErrorInfo": "other", "message": "Missing environment variable: `K`."},
         "authentication_error", "Set the variable"),
        ({"codexErrorInfo": "newWord", "message": "The loom is on fire."},
         "backend_error", "The loom is on fire."),
        ({}, "backend_error", "without giving a reason"),
    ],
)  # fmt: skip
def test_an_error_says_what_to_do(error: dict[str, Any], kind: str, words: str) -> None:
    sentence, error_type, _ = describe_error(error)
    assert error_type == kind
    assert words in sentence


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 11.5s.", 11.5),
        ("Please try again in 800ms.", 0.8),
        ("Please try again in 2m 5s.", 125.0),
        ("Too many requests.", None),
    ],
)
def test_a_rate_limit_error_has_a_retry_delay(message: str, seconds: float | None) -> None:
    error = {"codexErrorInfo": "rateLimitExceeded", "message": message}
    assert describe_error(error)[1:] == ("rate_limit_error", seconds)


def test_the_notice_of_a_retry_has_its_number_and_reason() -> None:
    info = {"responseStreamDisconnected": {"httpStatusCode": 503}}
    error = {"message": "Reconnecting... 2/5", "codexErrorInfo": info}
    assert format_retry_notice(error) == "Retrying (2 of 5): the provider failed"


def test_text_of_a_lost_connection_is_kept_until_it_is_sent_again() -> None:
    stream = CodexStream(Path("/w"), "main")
    lost = {"threadId": "main", "willRetry": True, "error": {"message": "Reconnecting... 1/5"}}

    def send_delta(item: str, text: str) -> list[agent_events.AgentEvent]:
        params = {"threadId": "main", "itemId": item, "delta": text}
        return list(stream.events("item/agentMessage/delta", params))

    send_delta("a", "Warp")
    assert [type(event) for event in stream.events("error", lost)] == [agent_events.Notice]
    assert send_delta("b", "Warp and") == [
        agent_events.BlockDropped("a"),
        agent_events.TextDelta("b", "Warp and", "text"),
    ]
    list(stream.events("error", lost))
    command = {"type": "commandExecution", "id": "c", "command": "ls"}
    began = stream.events("item/started", {"threadId": "main", "item": command})
    assert next(began) == agent_events.BlockDropped("b")


def test_a_mode_chosen_during_a_turn_can_only_restrict_it() -> None:
    assert stricter_mode("yolo", "plan") == "plan"
    assert stricter_mode("build", "yolo") == "build"


def test_configuration_warnings_are_reported_except_harmless_ones() -> None:
    warning = {"summary": "Unknown key `modle`.", "details": None, "path": "config.toml"}
    assert startup_notices.describe_warning(warning) == "Codex reports: Unknown key `modle`."
    harmless = {"summary": "Codex could not find bubblewrap on PATH. Install it."}
    assert startup_notices.describe_warning(harmless) == ""
    assert len(startup_notices.describe_warning({"message": "x" * 9000})) < 400


def test_a_warning_of_every_turn_is_reported_once() -> None:
    stream = CodexStream(Path("/w"), "main")
    events = []
    for _ in range(2):
        stream.begin_turn()
        warned = {"threadId": "main", "message": "Model metadata for `m` not found."}
        events += list(stream.events("warning", warned))
    assert events == [agent_events.Notice("Model metadata for `m` not found.")]
