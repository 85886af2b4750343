"""The channels besides Spinney's own screens: what they send, and why they cannot."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from model.access.actions import ActionDecision
from model.base.errors import SpinneyError
from model.base.paths import is_alive
from model.domain.notices import Notice
from model.notices.channels.apprise_urls import AppriseChannel
from model.notices.channels.command import CommandChannel
from model.notices.channels.ntfy import NtfyChannel
from model.notices.links import Links, is_loopback
from model.notices.outgoing import DeliveryError, Outgoing, compose
from model.preferences.schema import Preferences
from tests.model.notices.night import make_no_token
from tests.patience import PATIENCE

NO_LINKS = Links(lambda: "", make_no_token)


async def make_token(session_id: str, request_id: str, decision: ActionDecision, more: str) -> str:
    return f"{decision}-{more}-{session_id}-{request_id}"


LINKS = Links(lambda: "https://spinney.example/", make_token)


def a_message(reason: str = "permission", **fields: Any) -> Outgoing:
    notice = Notice.model_validate(
        {
            "id": f"{reason}.s1", "reason": reason, "session_id": "s1", "worktree_id": "w",
            "title": "login asks for permission", "text": "Bash: make", "created_at": 1,
            "request_id": "r1", **fields,
        }
    )  # fmt: skip
    return compose([notice], details="summary", is_reminder=False)


@dataclass
class Service:
    """A service on this machine that keeps what it is sent."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Any, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        text = await request.text()
        body = json.loads(text) if text.startswith("{") else text
        login = request.headers.get("Authorization", "")
        self.requests.append((request.method, request.path, body, login))
        return web.json_response({}, status=self.status, headers=self.headers)


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    made = Service()
    app = web.Application()
    app.add_routes([web.route("*", "/{path:.*}", made.answer)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


# ntfy -------------------------------------------------------------------------------------------


async def test_ntfy_gets_one_request_with_priority_link_and_buttons(service: Service) -> None:
    preferences = Preferences(
        notify_ntfy_url=f"{service.url}/base/secret-topic", notify_ntfy_token="tk_1"
    )
    channel = NtfyChannel(LINKS)
    where = await channel.send(a_message(), preferences)
    assert where in service.url
    [(method, path, body, login)] = service.requests
    assert (method, path, login) == ("POST", "/base/", "Bearer tk_1")
    buttons = body.pop("actions")
    assert body == {
        "topic": "secret-topic",
        "title": "login asks for permission",
        "message": "Bash: make",
        "priority": 4,
        "tags": ["lock"],
        "sequence_id": "permission_s1",
        "click": "https://spinney.example/#/session/s1",
    }
    base = "https://spinney.example"
    assert [(each["label"], each["url"]) for each in buttons] == [
        ("Allow once", f"{base}/act/allow--s1-r1"),
        ("Deny", f"{base}/act/deny--s1-r1"),
        ("Open", f"{base}/#/session/s1"),
    ]
    assert [each.get("method") for each in buttons] == ["POST", "POST", None]
    await channel.withdraw("permission.s1", preferences)
    assert service.requests[1][:2] == ("DELETE", "/base/secret-topic/permission_s1")


async def test_a_plan_and_the_options_of_a_question_become_buttons_too(service: Service) -> None:
    preferences = Preferences(notify_ntfy_url=f"http://me:pass%20word@{service.url[7:]}/topic")
    channel = NtfyChannel(LINKS)
    await channel.send(a_message("plan"), preferences)
    await channel.send(a_message("question", answers=["SQLite", "Postgres", "None"]), preferences)
    labels = [[each["label"] for each in body["actions"]] for *_, body, _ in service.requests]
    assert labels == [["Approve", "Open"], ["SQLite", "Postgres", "Open"]]
    assert service.requests[0][3] == "Basic bWU6cGFzcyB3b3Jk"


async def test_without_an_address_for_others_there_are_no_links(service: Service) -> None:
    preferences = Preferences(notify_ntfy_url=f"{service.url}/topic")
    await NtfyChannel(NO_LINKS).send(a_message(), preferences)
    assert not {"click", "actions"} & service.requests[0][2].keys()
    assert is_loopback("http://127.0.0.1:3456") and is_loopback("http://[::1]:1")
    assert not is_loopback("http://100.64.0.2:3456") and not is_loopback("https://host")


@pytest.mark.parametrize(
    ("status", "headers", "retry", "after", "said"),
    [
        (403, {}, False, None, "does not allow publishing"),
        (404, {}, False, None, "refused the request (404)"),
        (302, {"Location": "/elsewhere"}, False, None, "refused the request (302)"),
        (429, {"Retry-After": "90"}, True, 90.0, "no more messages"),
        (429, {"Retry-After": "soon"}, True, None, "no more messages"),
        (503, {}, True, None, "has a problem (503)"),
    ],
)  # fmt: skip
async def test_what_ntfy_refuses_is_sent_without_the_topic(
    service: Service, status: int, headers: dict[str, str], retry: bool, after: Any, said: str
) -> None:
    service.status, service.headers = status, headers
    preferences = Preferences(notify_ntfy_url=f"{service.url}/secret-topic")
    with pytest.raises(DeliveryError) as raised:
        await NtfyChannel(NO_LINKS).send(a_message(), preferences)
    assert (raised.value.retry, raised.value.retry_after) == (retry, after)
    assert said in raised.value.message and "secret-topic" not in raised.value.message


async def test_a_server_that_is_not_there_is_tried_again() -> None:
    preferences = Preferences(notify_ntfy_url="http://127.0.0.1:9/topic")
    with pytest.raises(DeliveryError, match="cannot be reached") as raised:
        await NtfyChannel(NO_LINKS).send(a_message(), preferences)
    assert raised.value.retry
    await NtfyChannel(NO_LINKS).withdraw("x", preferences)  # says nothing


# The command ------------------------------------------------------------------------------------


def run_python(code: str, *words: str) -> Preferences:
    return Preferences(notify_command=[sys.executable, "-c", code, *words])


async def test_the_command_gets_json_and_no_shell(tmp_path: Path) -> None:
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read() + sys.argv[2])"
    preferences = run_python(code, str(tmp_path / "out"), "$(touch x); a b")
    await CommandChannel(LINKS, {}).send(a_message(), preferences)
    line, rest = (tmp_path / "out").read_text().split("\n")
    assert rest == "$(touch x); a b"
    assert json.loads(line) == {
        "title": "login asks for permission",
        "text": "Bash: make",
        "reason": "permission",
        "is_reminder": False,
        "session_id": "s1",
        "worktree_id": "w",
        "request_id": "r1",
        "notice_ids": ["permission.s1"],
        "url": "https://spinney.example/#/session/s1",
    }


async def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "open(sys.argv[1], 'w').write(f'{os.getpid()} {child.pid}')\n"
        "sys.stdin.close()\n"
        "time.sleep(600)"
    )
    channel = CommandChannel(NO_LINKS, {}, timeout=1.5)
    with pytest.raises(DeliveryError, match=r"stopped after 1\.5 seconds") as raised:
        await channel.send(a_message(), run_python(code, str(tmp_path / "pids")))
    assert not raised.value.retry
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        async with asyncio.timeout(PATIENCE):
            while is_alive(pid) and not _is_zombie(pid):
                await asyncio.sleep(0.01)


def _is_zombie(pid: int) -> bool:
    try:
        return " Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


async def test_a_command_that_fails_is_sent_with_its_last_line_and_floods_nothing() -> None:
    code = "print('x' * 5_000_000); print('no such \\x1b[31mroom'); raise SystemExit(3)"
    with pytest.raises(DeliveryError) as raised:
        await CommandChannel(NO_LINKS, {}).send(a_message(), run_python(code))
    assert raised.value.retry
    assert raised.value.message.endswith("ended with exit status 3: no such ␛[31mroom")
    with pytest.raises(DeliveryError, match="could not be started: No such file") as raised:
        missing = Preferences(notify_command=["/no/such/program"])
        await CommandChannel(NO_LINKS, {}).send(a_message(), missing)
    assert not raised.value.retry


async def test_a_command_that_leaves_something_behind_is_over_when_it_ends() -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '600'])"
    async with asyncio.timeout(PATIENCE):
        await CommandChannel(NO_LINKS, {}).send(a_message(), run_python(code))


# Apprise ----------------------------------------------------------------------------------------


async def test_apprise_addresses_get_title_text_and_link_and_no_repetition(
    service: Service,
) -> None:
    host = service.url.removeprefix("http://")
    other = f"json://127.0.0.1:9/{'k' * 8}?cto=1&rto=1"
    preferences = Preferences(notify_urls=[f"json://{host}/hook", other])
    channel = AppriseChannel(LINKS)
    for _ in range(2):
        with pytest.raises(DeliveryError, match="json did not accept the notice") as raised:
            await channel.send(a_message(), preferences)
        assert raised.value.retry and "kkk" not in raised.value.message
    [(_, path, body, _)] = service.requests
    assert path == "/hook"
    assert body["title"] == "login asks for permission"
    assert body["message"] == "Bash: make\nhttps://spinney.example/#/session/s1"
    with pytest.raises(DeliveryError, match=r"'nonsense://…' is not an address") as raised:
        await channel.send(a_message("plan"), Preferences(notify_urls=["nonsense://secret"]))
    assert not raised.value.retry


async def test_no_button_is_made_for_what_was_answered() -> None:
    async def refuse(*_: object) -> str:
        raise SpinneyError("This no longer needs an answer.", "conflict")

    assert await Links(lambda: "https://x", refuse).make_actions(a_message()) == []
