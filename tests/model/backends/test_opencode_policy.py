"""OpenCode: permissions of the modes, plans in text, models, edits and error messages."""

import random
import time
from pathlib import Path
from typing import Any

import pytest

from model.backends.agent_events import ToolResult, ToolUse
from model.backends.base import Settings
from model.backends.opencode.edits import Edits
from model.backends.opencode.errors import give_up_failure, turn_failure
from model.backends.opencode.models import Models
from model.backends.opencode.plan_text import PlanFilter
from model.backends.opencode.policy import Verdict, build_configuration, judge
from model.backends.opencode.program import worktree_variables
from model.backends.opencode.rules import Rules
from model.backends.plan_markers import split_plan
from model.base.errors import ErrorType, SpinneyError
from model.domain.modes import Effort, ExecutionMode, ThinkingLevel
from tests.model.backends.agents import make_launch


@pytest.mark.parametrize(
    ("mode", "permission", "pattern", "verdict"),
    [
        ("yolo", "bash", "rm -rf /", "allow"),
        ("yolo", "external_directory", "/etc/*", "allow"),
        ("build", "edit", "a.txt", "allow"),
        ("build", "bash", "git status", "allow"),
        ("build", "bash", "ls -la src", "allow"),
        ("build", "bash", "git commit -m x", "ask"),
        ("build", "bash", "ls; rm x", "ask"),
        ("build", "bash", "cat $(touch x)", "ask"),
        ("build", "bash", "git diff --output=x", "ask"),
        ("build", "bash", "git diff --ext-d", "ask"),
        ("build", "bash", "git diff --outp=x", "ask"),
        ("build", "bash", "tree -o x", "ask"),
        ("build", "bash", "date -s 2020-01-01", "ask"),
        ("build", "bash", "file -C -m magic", "ask"),
        ("build", "bash", "'unclosed", "ask"),
        ("build", "bash", "ls " + "a" * 5_000, "ask"),
        ("build", "external_directory", "/etc/*", "ask"),
        ("build", "webfetch", "https://example.org", "ask"),
        ("build", "loom_weave", "*", "ask"),
        ("plan", "edit", "a.txt", "deny"),
        ("plan", "bash", "git log", "allow"),
        ("plan", "bash", "make", "ask"),
        ("plan", "webfetch", "https://example.org", "allow"),
    ],
)
def test_the_verdict_depends_on_mode_permission_and_pattern(
    mode: ExecutionMode, permission: str, pattern: str, verdict: str
) -> None:
    assert judge(Settings(mode), permission, [pattern]) == verdict


def test_the_web_can_be_denied_in_plan_mode() -> None:
    closed = Settings("plan", web_in_plan=False)
    assert judge(closed, "websearch", ["looms"]) == "deny"


def test_each_of_several_commands_must_be_read_only() -> None:
    assert judge(Settings("build"), "bash", ["git status", "git push"]) == "ask"


@pytest.mark.parametrize(
    ("mode", "permission", "own", "verdict"),
    [
        ("yolo", "bash", "deny", "deny"),
        ("yolo", "bash", "ask", "allow"),
        ("build", "bash", "allow", "allow"),
        ("build", "edit", "ask", "ask"),
        ("plan", "bash", "allow", "ask"),
        ("plan", "edit", "allow", "deny"),
        ("plan", "edit", "ask", "deny"),
        ("plan", "read", "allow", "allow"),
        ("plan", "webfetch", "ask", "ask"),
    ],
)
def test_the_users_rules_restrict_every_mode_and_extend_only_build(
    mode: ExecutionMode, permission: str, own: Verdict, verdict: str
) -> None:
    assert judge(Settings(mode), permission, ["make"], own) == verdict


def test_the_last_matching_rule_of_the_user_applies() -> None:
    own_rules = {
        "": [["*", "*", "ask"]],
        "build": [
            ["bash", "*", "deny"],
            ["bash", "git *", "allow"],
            ["bash", "git push *", "ask"],
            ["web*", "*", "allow"],
        ],
    }
    rules = Rules.parse([{"name": "spinney-rules", "options": {"rules": own_rules}}])
    assert rules.verdict("build", "bash", ["git", "git status -s"]) == "allow"
    assert rules.verdict("build", "bash", ["git log", "git push"]) == "ask"
    assert rules.verdict("build", "bash", ["git log", "rm x"]) == "deny"
    assert rules.verdict("build", "webfetch", ["https://example.org/a\nb"]) == "allow"
    assert rules.verdict("build", "edit", ["a.txt"]) is None
    assert rules.verdict("other", "edit", ["a.txt"]) == "ask"


@pytest.mark.parametrize("agents", [None, [], [{"name": "build"}]])
def test_missing_rules_are_an_error(agents: object) -> None:
    with pytest.raises(SpinneyError, match="OPENCODE_PURE") as raised:
        Rules.parse(agents)
    assert raised.value.error_type == "backend_unavailable"


def test_a_profile_is_kept_except_for_what_modes_require() -> None:
    profile: dict[str, Any] = {
        "provider": {"stub": {}},
        "agent": {"build": {"model": "stub/x", "permission": {"*": "allow"}}},
        "share": "auto",
    }
    settings = build_configuration(
        make_launch(Path("/w"), profile=profile, disabled_mcp_servers=frozenset({"two"}))
    )
    assert settings["provider"] == {"stub": {}}
    assert settings["agent"]["build"]["model"] == "stub/x"
    assert settings["share"] == "disabled"
    assert settings["mcp"] == {"two": {"enabled": False}}


def test_worktree_variables_exclude_those_of_the_server() -> None:
    environment = {"SPINNEY_OWNER": "x", "SPINNEY_BRANCH": "b", "COLOUR": "blue"}
    assert worktree_variables(make_launch(Path("/w"), environment=environment)) == {
        "SPINNEY_BRANCH": "b"
    }


@pytest.mark.parametrize("text", ["Here it is.\n\n<proposed_plan>\n1. Spin\n</proposed_plan>"])
def test_a_plan_is_never_shown_as_text_however_it_is_split(text: str) -> None:
    for seed in range(50):
        chance, shown, rest = random.Random(seed), "", text
        streamed = PlanFilter("text", looks_for_plan=True)
        while rest:
            size = chance.randint(1, 9)
            shown += streamed.add(rest[:size])
            rest = rest[size:]
        assert shown == "Here it is."
    assert split_plan(text) == ("Here it is.", "1. Spin")


def test_text_that_resembles_a_plan_is_shown() -> None:
    streamed = PlanFilter("text", looks_for_plan=True)
    assert "".join(map(streamed.add, ["a <pro", "s> and <", "b>"])) == "a <pros> and <b>"
    assert split_plan("no plan") == ("no plan", "")


@pytest.mark.parametrize(
    ("offered", "thinking", "effort", "variant"),
    [
        (("low", "medium", "high"), "think", "medium", "medium"),
        (("low", "medium", "high"), "ultrathink", "max", "high"),
        (("high", "max"), "think", "medium", None),
        (("high", "max"), "megathink", "high", "high"),
        (("none", "low"), "off", "low", "none"),
        (("low", "high"), "off", "max", "low"),
        ((), "ultrathink", "max", None),
    ],
)
def test_the_variant_matches_the_thinking_level_and_effort(
    offered: tuple[str, ...], thinking: ThinkingLevel, effort: Effort, variant: str | None
) -> None:
    model = {"limit": {"context": 100}, "variants": {name: {} for name in offered}}
    models = Models({"providers": [{"id": "stub", "models": {"one": model}}]})
    settings = Settings("build", thinking=thinking, effort=effort)
    assert models.variant("stub/one", settings) == variant
    assert models.context_window("stub/one") == 100


@pytest.mark.parametrize("reported", [None, [], {}, {"providers": [None, {"models": {"x": 1}}]}])
def test_unknown_models_have_no_limit_and_no_variants(reported: object) -> None:
    models = Models(reported)
    assert models.context_window("stub/one") is None
    assert models.variant("stub/one", Settings("build")) is None


def test_the_message_for_a_missing_model_lists_the_available_ones() -> None:
    models = Models({"providers": [{"id": "stub", "models": {"one": {}, "two": {}}}]})
    assert models.missing_message("stub/one") is None
    assert models.missing_message("") is None
    message = models.missing_message("opencode/gpt-5.3-codex")
    assert message is not None
    assert "'opencode/gpt-5.3-codex'" in message
    assert "stub/one, stub/two." in message


def test_the_message_for_a_missing_model_names_some_of_many() -> None:
    many = {f"m{number:02}": {} for number in range(30)}
    message = Models({"providers": [{"id": "stub", "models": many}]}).missing_message("other/one")
    assert message is not None
    assert "stub/m07 and 22 more." in message


def test_without_known_providers_there_is_no_message_for_a_missing_model() -> None:
    assert Models(None).missing_message("other/one") is None


def test_a_patch_of_several_files_is_one_edit_per_file(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n"
        "*** Add File: b.txt\n+new\n*** Delete File: c.txt\n*** End Patch"
    )
    uses = edits.normalize(ToolUse("t", "apply_patch", {"patchText": patch}))
    assert [(use.id, dict(use.input)) for use in uses] == [
        ("t", {"file_path": "a.txt", "old_content": "one\ntwo", "new_content": "one\n2"}),
        ("t:1", {"file_path": "b.txt", "old_content": "", "new_content": "new"}),
        ("t:2", {"file_path": "c.txt", "old_content": "", "new_content": ""}),
    ]
    ends = {"filepath": "a.txt", "diff": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\r\n+one\n"}
    from_request = edits.from_request(ends)
    assert (from_request["old_content"], from_request["new_content"]) == ("one\r", "one")
    results = edits.results(ToolResult("t", "Done"))
    assert [result.tool_use_id for result in results] == ["t", "t:1", "t:2"]


@pytest.mark.parametrize(
    ("error", "kind", "advice"),
    [
        ({"name": "ProviderAuthError", "data": {"message": "x"}}, "authentication_error", "login"),
        ({"name": "APIError", "data": {"statusCode": 403}}, "authentication_error", "login"),
        ({"name": "APIError", "data": {"statusCode": 402}}, "backend_error", "credit"),
        ({"name": "APIError", "data": {"statusCode": 413}}, "too_large", "Send less"),
        ({"name": "APIError", "data": {"statusCode": 503}}, "backend_error", "Try again"),
        ({"name": "ContextOverflowError", "data": {}}, "invalid_request", "new session"),
        ({"name": "MessageOutputLengthError"}, "backend_error", "smaller pieces"),
        ({"name": "UnknownError", "data": {"message": "Model not found: a/b."}},
         "invalid_request", "opencode models"),
        ({"name": "UnknownError", "data": {"message": "Unable to connect"}},
         "backend_error", "Try again"),
        ({"data": 7}, "backend_error", "Try again"),
        ({}, "backend_error", "Try again"),
    ],
)  # fmt: skip
def test_an_error_says_what_to_do(error: dict[str, Any], kind: ErrorType, advice: str) -> None:
    failed = turn_failure(error)
    assert failed.error_type == kind
    assert advice in failed.error


def test_a_rate_limit_error_has_a_retry_delay() -> None:
    headers = {"retry-after": "30"}
    error = {"name": "APIError", "data": {"statusCode": 429, "responseHeaders": headers}}
    assert turn_failure(error).retry_after == 30


@pytest.mark.parametrize(
    ("attempt", "message", "pause", "kind", "advice", "has_delay"),
    [
        (1, "Too busy just now.", 30, "rate_limit_error", "Wait", True),
        (3, "You exceeded your current quota", 9, "rate_limit_error", "add credit", False),
        (3, "Rate limit reached", 9, "rate_limit_error", "rate limit", False),
        (1, "Rate limit reached", 600, "rate_limit_error", "rate limit", True),
        (3, "Overloaded", 9, "backend_error", "Try again", False),
        (3, "self signed certificate", 9, "backend_error", "NODE_EXTRA_CA_CERTS", False),
    ],
)
def test_a_pause_is_reported_only_if_the_provider_requested_it(
    attempt: int, message: str, pause: float, kind: ErrorType, advice: str, has_delay: bool
) -> None:
    status = {"attempt": attempt, "message": message, "next": (time.time() + pause) * 1000}
    failed = give_up_failure(status)
    assert failed is not None
    assert (failed.error_type, failed.retry_after is not None) == (kind, has_delay)
    assert advice in failed.error


def test_a_turn_is_given_up_when_its_provider_fails_repeatedly() -> None:
    assert give_up_failure({"attempt": 1, "message": "overloaded", "next": 0}) is None
    failed = give_up_failure({"attempt": 3, "message": "overloaded", "next": 0})
    assert failed is not None
    assert failed.error_type == "backend_error"
