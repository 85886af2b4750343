"""What the modes allow with OpenCode, how a plan is told from text, what its errors mean."""

import random
import time
from pathlib import Path
from typing import Any

import pytest

from model.backends.base import Settings, ToolResult, ToolUse
from model.backends.opencode.edits import Edits
from model.backends.opencode.errors import give_up_failure, turn_failure
from model.backends.opencode.models import Models
from model.backends.opencode.plan_text import PlanFilter
from model.backends.opencode.policy import Verdict, build_configuration, judge
from model.backends.opencode.program import worktree_variables
from model.backends.opencode.rules import Rules
from model.backends.plan_markers import parted
from model.base.errors import ErrorType, SpinneyError
from model.domain.resources import Effort, ExecutionMode, ThinkingLevel
from tests.model.backends.agents import a_launch


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
        ("build", "external_directory", "/etc/*", "ask"),
        ("build", "webfetch", "https://example.org", "ask"),
        ("build", "loom_weave", "*", "ask"),
        ("plan", "edit", "a.txt", "deny"),
        ("plan", "bash", "git log", "allow"),
        ("plan", "bash", "make", "ask"),
        ("plan", "webfetch", "https://example.org", "allow"),
    ],
)
def test_who_decides(mode: ExecutionMode, permission: str, pattern: str, verdict: str) -> None:
    assert judge(Settings(mode), permission, [pattern]) == verdict


def test_the_web_can_be_closed_to_plan_mode() -> None:
    closed = Settings("plan", web_in_plan=False)
    assert judge(closed, "websearch", ["looms"]) == "deny"


def test_of_several_commands_each_must_only_read() -> None:
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
def test_the_persons_own_rules_narrow_a_mode_and_widen_build_alone(
    mode: ExecutionMode, permission: str, own: Verdict, verdict: str
) -> None:
    assert judge(Settings(mode), permission, ["make"], own) == verdict


def test_the_last_of_the_persons_rules_that_matches_holds_as_in_the_program() -> None:
    told = {
        "": [["*", "*", "ask"]],
        "build": [
            ["bash", "*", "deny"],
            ["bash", "git *", "allow"],
            ["bash", "git push *", "ask"],
            ["web*", "*", "allow"],
        ],
    }
    rules = Rules.parse([{"name": "spinney-rules", "options": {"rules": told}}])
    assert rules.verdict("build", "bash", ["git", "git status -s"]) == "allow"
    assert rules.verdict("build", "bash", ["git log", "git push"]) == "ask"
    assert rules.verdict("build", "bash", ["git log", "rm x"]) == "deny"
    assert rules.verdict("build", "webfetch", ["https://example.org/a\nb"]) == "allow"
    assert rules.verdict("build", "edit", ["a.txt"]) is None
    assert rules.verdict("other", "edit", ["a.txt"]) == "ask"


@pytest.mark.parametrize("agents", [None, [], [{"name": "build"}]])
def test_nothing_runs_where_the_modes_do_not_hold(agents: object) -> None:
    with pytest.raises(SpinneyError, match="OPENCODE_PURE") as raised:
        Rules.parse(agents)
    assert raised.value.error_type == "backend_unavailable"


def test_a_profile_is_kept_but_for_what_modes_need() -> None:
    profile: dict[str, Any] = {
        "provider": {"stub": {}},
        "agent": {"build": {"model": "stub/x", "permission": {"*": "allow"}}},
        "share": "auto",
    }
    settings = build_configuration(
        a_launch(Path("/w"), profile=profile, mcp_off=frozenset({"two"}))
    )
    assert settings["provider"] == {"stub": {}}
    assert settings["agent"]["build"]["model"] == "stub/x"
    assert settings["share"] == "disabled"
    assert settings["mcp"] == {"two": {"enabled": False}}


def test_what_worktrees_have_of_their_own_is_not_the_servers() -> None:
    environment = {"SPINNEY_OWNER": "x", "SPINNEY_BRANCH": "b", "COLOUR": "blue"}
    assert worktree_variables(a_launch(Path("/w"), environment=environment)) == {
        "SPINNEY_BRANCH": "b"
    }


@pytest.mark.parametrize("text", ["Here it is.\n\n<proposed_plan>\n1. Spin\n</proposed_plan>"])
def test_a_plan_is_never_shown_as_text_however_it_comes(text: str) -> None:
    for seed in range(50):
        chance, shown, rest = random.Random(seed), "", text
        streamed = PlanFilter("text", looks_for_plan=True)
        while rest:
            size = chance.randint(1, 9)
            shown += streamed.add(rest[:size])
            rest = rest[size:]
        assert shown == "Here it is."
    assert parted(text) == ("Here it is.", "1. Spin")


def test_what_only_looks_like_a_plan_is_shown() -> None:
    streamed = PlanFilter("text", looks_for_plan=True)
    assert "".join(map(streamed.add, ["a <pro", "s> and <", "b>"])) == "a <pros> and <b>"
    assert parted("no plan") == ("no plan", "")


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
def test_a_model_thinks_as_hard_as_it_can_be_told(
    offered: tuple[str, ...], thinking: ThinkingLevel, effort: Effort, variant: str | None
) -> None:
    model = {"limit": {"context": 100}, "variants": {name: {} for name in offered}}
    models = Models({"providers": [{"id": "stub", "models": {"one": model}}]})
    settings = Settings("build", thinking=thinking, effort=effort)
    assert models.variant("stub/one", settings) == variant
    assert models.context_window("stub/one") == 100


@pytest.mark.parametrize("told", [None, [], {}, {"providers": [None, {"models": {"x": 1}}]}])
def test_of_unknown_models_nothing_is_told(told: object) -> None:
    models = Models(told)
    assert models.context_window("stub/one") is None
    assert models.variant("stub/one", Settings("build")) is None


def test_a_model_that_the_program_does_not_have_is_told_with_those_that_it_has() -> None:
    models = Models({"providers": [{"id": "stub", "models": {"one": {}, "two": {}}}]})
    assert models.missing_message("stub/one") is None
    assert models.missing_message("") is None
    told = models.missing_message("opencode/gpt-5.3-codex")
    assert told is not None
    assert "'opencode/gpt-5.3-codex'" in told
    assert "stub/one, stub/two." in told


def test_of_many_models_some_are_named() -> None:
    many = {f"m{number:02}": {} for number in range(30)}
    told = Models({"providers": [{"id": "stub", "models": many}]}).missing_message("other/one")
    assert told is not None
    assert "stub/m07 and 22 more." in told


def test_where_no_provider_is_told_of_the_program_says_itself_what_it_lacks() -> None:
    assert Models(None).missing_message("other/one") is None


def test_a_patch_of_several_files_is_as_many_edits(tmp_path: Path) -> None:
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


def test_a_limit_tells_its_end_in_seconds() -> None:
    headers = {"retry-after": "30"}
    told = {"name": "APIError", "data": {"statusCode": 429, "responseHeaders": headers}}
    assert turn_failure(told).retry_after == 30


@pytest.mark.parametrize(
    ("attempt", "said", "pause", "kind", "advice", "tells"),
    [
        (1, "Too busy just now.", 30, "rate_limit_error", "Wait", True),
        (3, "You exceeded your current quota", 9, "rate_limit_error", "add credit", False),
        (3, "Rate limit reached", 9, "rate_limit_error", "rate limit", False),
        (1, "Rate limit reached", 600, "rate_limit_error", "rate limit", True),
        (3, "Overloaded", 9, "backend_error", "Try again", False),
        (3, "self signed certificate", 9, "backend_error", "NODE_EXTRA_CA_CERTS", False),
    ],
)
def test_a_pause_is_told_where_it_is_the_providers_and_not_the_programs_own(
    attempt: int, said: str, pause: float, kind: ErrorType, advice: str, tells: bool
) -> None:
    status = {"attempt": attempt, "message": said, "next": (time.time() + pause) * 1000}
    failed = give_up_failure(status)
    assert failed is not None
    assert (failed.error_type, failed.retry_after is not None) == (kind, tells)
    assert advice in failed.error


def test_a_turn_is_given_up_when_its_provider_fails_again_and_again() -> None:
    assert give_up_failure({"attempt": 1, "message": "overloaded", "next": 0}) is None
    failed = give_up_failure({"attempt": 3, "message": "overloaded", "next": 0})
    assert failed is not None
    assert failed.error_type == "backend_error"
