"""A conversation that the provider refuses for good: what is said leads out of it."""

import pytest

from model.backends.acp import errors as acp
from model.backends.claude import errors as claude
from model.backends.codex import errors as codex
from model.backends.opencode import errors as opencode

SAID = "messages.3: image dimensions exceed 2000 pixels"


@pytest.mark.parametrize(
    "message",
    [
        claude.describe_error("invalid_request", SAID, 400)[0],
        claude.describe_error("", SAID, 400)[0],
        codex.describe_error({"codexErrorInfo": "badRequest", "message": SAID})[0],
        codex.describe_error(
            {"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 400}}, "message": SAID}
        )[0],
        opencode.turn_failure(
            {"name": "APIError", "data": {"statusCode": 400, "message": SAID}}
        ).error,
        acp.describe_error("Loom", {"code": -32603, "message": f"400 {SAID}"}, ())[0],
        acp.describe_error("Loom", {"message": f"invalid_request_error: {SAID}"}, ())[0],
    ],
)
def test_it_names_rewind_and_fork_and_what_the_provider_said(message: str) -> None:
    assert "Change the message." in message
    assert "rewind it by undoing its last turns, or fork the session" in message
    assert SAID in message
