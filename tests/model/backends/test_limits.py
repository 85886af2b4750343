"""Which failures of the programs are limits, after which a turn can go on later."""

import time
from datetime import datetime
from typing import Any

import pytest

from model.backends.agent_events import Limit, TurnFailed
from model.backends.claude import errors as claude
from model.backends.claude.protocol import ClaudeStream
from model.backends.codex import errors as codex
from model.backends.opencode import errors as opencode


def test_a_usage_limit_of_claude_code_ends_when_its_event_says() -> None:
    stream = ClaudeStream("build", lambda given: False)
    stream.begin_turn()
    resets_at = int(time.time()) + 600
    lines: list[dict[str, Any]] = [
        {
            "type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": resets_at},
        },
        {"type": "assistant", "error": "rate_limit", "uuid": "u", "message": {"content": []}},
        {
            "type": "result", "subtype": "success", "is_error": True, "api_error_status": 429,
            "result": "You've hit your 5-hour limit · resets 11:40am (UTC)",
        },
    ]  # fmt: skip
    events = [event for line in lines for event in stream.events(line)]
    [failed] = [event for event in events if isinstance(event, TurnFailed)]
    assert (failed.limit, failed.error_type) == ("usage_limit", "rate_limit_error")
    assert failed.retry_after is not None and 590 < failed.retry_after <= 600


@pytest.mark.parametrize(
    ("code", "text", "status", "limit"),
    [
        ("rate_limit", "", 429, "usage_limit"),
        ("overloaded", "", 529, "overloaded"),
        ("", "", 500, "overloaded"),
        ("", "API Error: Connection error.", None, "network"),
        ("server_error", "API Error: Unable to connect to API", None, "network"),
        ("server_error", "API Error: 502", 502, "overloaded"),
        ("authentication_failed", "", 401, None),
        ("billing_error", "Your credit balance is too low", 400, None),
        ("", "The network of roads", 400, None),
    ],
)
def test_limits_of_claude_code(
    code: str, text: str, status: int | None, limit: Limit | None
) -> None:
    assert claude.find_limit(code, text, status) == limit


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        ({"codexErrorInfo": "usageLimitExceeded"}, "usage_limit"),
        (
            {"codexErrorInfo": {"responseTooManyFailedAttempts": {"httpStatusCode": 429}}},
            "usage_limit",
        ),
        ({"codexErrorInfo": "serverOverloaded"}, "overloaded"),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": None}}}, "network"),
        ({"message": "stream disconnected before completion"}, "network"),
        ({"codexErrorInfo": "unauthorized"}, None),
        ({"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 401}}}, None),
    ],
)
def test_limits_of_codex(error: dict[str, Any], limit: Limit | None) -> None:
    assert codex.find_limit(error) == limit


def test_the_message_of_codex_names_the_reset_in_local_time() -> None:
    now = datetime(2026, 11, 27, 10, 0).timestamp()
    said = "You’ve hit your usage limit. Upgrade to Pro, or try again at 11:56 AM."
    assert codex.find_reset({"message": said}, now) == 116 * 60
    for other in ("", "try again at once", "try again at Dec 3rd, 2026 11:56 AM."):
        assert codex.find_reset({"message": other}, now) is None


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        ({"statusCode": 429, "message": "Rate limit reached"}, "usage_limit"),
        ({"statusCode": 429, "message": "quota exceeded"}, None),
        (
            {"statusCode": 429, "message": "quota", "responseHeaders": {"retry-after": "60"}},
            "usage_limit",
        ),
        ({"statusCode": 503, "message": "busy"}, "overloaded"),
        ({"message": "Unable to connect. Is the computer able to access the url?"}, "network"),
        ({"statusCode": 401, "message": "no"}, None),
    ],
)
def test_limits_of_opencode(data: dict[str, Any], limit: Limit | None) -> None:
    assert opencode.turn_failure({"name": "APIError", "data": data}).limit == limit
