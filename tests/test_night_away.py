"""A night away: agents work, wait and pause, a phone and a guest answer, Spinney is replaced.

One story, in a real process. Its night takes seconds: limits are reset soon.
"""

import asyncio
import json
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from model.backends.demo.provider import PRICE
from model.limits.pauses import CONTINUE_PROMPT
from tests.installed_copy import install, make_installed_copy
from tests.patience import PATIENCE
from tests.phone import Phone, open_phone
from tests.program import Program, Serving, until
from tests.server.conftest import Socket

NEXT_VERSION = "0.1.1"

FIRST_LIMIT, SECOND_LIMIT = 8, 12
"""Seconds until a limit is reset; the second one lasts over the restart."""


@dataclass
class Night:
    """Ten sessions of one project, by name, and who hears of them."""

    program: Program
    phone: Phone
    project_id: str = ""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What `start_task` returned."""
    sent: dict[str, list[str]] = field(default_factory=dict)
    """Every accepted message, in order."""

    def start(self, name: str, prompt: str, mode: str = "build") -> None:
        """Start a task in a worktree of its own."""
        arguments = {"projectId": self.project_id, "prompt": prompt, "name": name}
        more = {"sessionName": name, "executionMode": mode}
        self.sessions[name] = self.program.call_with("start_task", arguments | more)
        self.sent[name] = [prompt]

    def send(self, name: str, message: str) -> str:
        """Send a message; return the status with which it was accepted."""
        given = {"sessionId": self.id_of(name), "message": message}
        sent = self.program.call_with("send_chat_message", given)
        self.sent[name].append(message)
        return str(sent["status"])

    def id_of(self, name: str) -> str:
        return str(self.sessions[name]["session"]["id"])

    def path_of(self, name: str) -> Path:
        return Path(self.sessions[name]["worktree"]["path"])

    def read(self, name: str) -> dict[str, Any]:
        """The session with its messages."""
        read: dict[str, Any] = self.program.call_with(
            "get_session", {"sessionId": self.id_of(name)}
        )
        return read

    def wait_for_limit(self, name: str) -> dict[str, Any]:
        """Wait until a session is paused at a usage limit; return the pause."""
        until(lambda: self.read(name)["status"] == "paused", f"{name} is paused")
        pause: dict[str, Any] = self.read(name)["pause"]
        assert pause["kind"] == "usage_limit"
        return pause


@dataclass
class Guest:
    """A colleague's browser that opened a guest link."""

    token: str
    link_id: str


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    program = make_installed_copy(tmp_path / "installed", tmp_path / "place")
    identity = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
    (program.home / ".gitconfig").write_text(identity)
    (program.place / "alpha").mkdir()
    scripts = {"scripts": {"check": "test ! -e broken.txt"}}
    (program.place / "alpha" / "spinney.json").write_text(json.dumps(scripts))
    program.make_repository()
    with open_phone() as phone:
        yield Night(program, phone)


def test_a_night_away(night: Night) -> None:
    with night.program.serving("--demo") as server:
        prepare(night, server)
        start_in_the_evening(night)
        guest = invite(night, server)
        reach_the_first_limit(night)
        answer_from_the_phone(night)
        asyncio.run(approve_as_guest(night, server, guest))
        check_turns_red(night)
        second = go_on_until_the_second_limit(night)
        asyncio.run(restart_into_the_next_version(night, server, guest))
        go_on_after_the_restart(night, second)
        answer_what_was_asked_before(night)
        every_session_is_where_it_should_be(night)
        every_message_was_answered_once_in_order(night)
        no_notice_came_twice(night)
        the_log_says_what_the_guest_did(night, guest)
        the_usage_page_says_what_it_cost(night)
        assert server.end()[0] == 0
    nothing_is_left(night)


# Evening ------------------------------------------------------------------------------------------


def prepare(night: Night, server: Serving) -> None:
    """Add the project, trust its scripts, and give Spinney the phone's topic."""
    project = night.program.call("add_project", f"path={night.program.place / 'alpha'}")
    night.project_id = project["id"]
    night.program.call("trust_project_scripts", f"projectId={night.project_id}")
    changes = {
        "notify_ntfy_url": night.phone.topic,
        "notify_link": server.base_url,
        "notify_details": "summary",
    }
    night.program.call_with("update_preferences", {"changes": changes})


def start_in_the_evening(night: Night) -> None:
    """Nine of the ten sessions: each does something else, and the phone hears of each."""
    night.start("docs", "/demo write docs.txt: all of it")
    night.phone.wait_for("docs has finished")
    night.start("changelog", "/demo say The list of changes is complete.")
    night.phone.wait_for("changelog has finished")
    night.start("exporter", "/demo say The tables are known.")
    night.phone.wait_for("exporter has finished")
    night.start("login", "/demo write broken.txt: oops")
    night.phone.wait_for("login has finished")
    night.start("deploy", "/demo fail auth")
    night.phone.wait_for("deploy has failed")
    night.start("database", "/demo ask Which database? | SQLite | Postgres")
    night.phone.wait_for("database asks a question")
    night.start("license", "/demo ask Which license? | MIT | Apache")
    night.phone.wait_for("license asks a question")
    night.start("tools", "/demo permission touch allowed.txt")
    night.phone.wait_for("tools asks for permission")
    night.start("parser", "/demo plan write parser.txt: a parser; say Done as planned.", "plan")
    night.phone.wait_for("parser has a plan")


def invite(night: Night, server: Serving) -> Guest:
    """Share the session with the plan, and open the link on another device."""
    terms = {"sessionId": night.id_of("parser"), "role": "approver", "name": "Bo"}
    made = night.program.call_with("create_guest_link", terms)
    link = {"link": made["url"].partition("#guest=")[2]}
    request = urllib.request.Request(
        f"{server.base_url}/api/guest",
        json.dumps(link).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return Guest(json.load(reply)["token"], made["link"]["id"])


# Night --------------------------------------------------------------------------------------------


def reach_the_first_limit(night: Night) -> None:
    """The tenth session reaches the limit of the account, with a queue; another waits with it."""
    night.start("importer", f"/demo wait 1\n/demo fail rate_limit {FIRST_LIMIT}")
    for message in (
        "/demo say The first file is imported.",
        f"/demo say The second one, too.\n/demo fail rate_limit {SECOND_LIMIT}",
        "/demo say The third file is imported.",
    ):
        assert night.send("importer", message) == "sent"
    night.wait_for_limit("importer")
    assert night.send("exporter", "/demo write export.txt: rows") == "sent"
    night.phone.wait_for("importer has reached a usage limit")


def answer_from_the_phone(night: Night) -> None:
    """A question and a permission are answered by buttons; each works once."""
    phone = night.phone
    assert phone.press("database asks a question", "SQLite")["ok"]
    assert phone.press("tools asks for permission", "Allow once")["ok"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        phone.press("tools asks for permission", "Deny")
    assert refused.value.code == 404
    for name in ("database", "tools"):
        phone.wait_for(f"{name} has finished")


async def approve_as_guest(night: Night, server: Serving, guest: Guest) -> None:
    """The guest sees one session, approves its plan and may do nothing else."""
    async with open_socket(server, guest.token) as socket:
        session = await socket.call("get_session", sessionId=night.id_of("parser"))
        for command, more, error in (
            ("send_chat_message", {"sessionId": session["id"], "message": "hi"}, "forbidden"),
            ("list_all_sessions", {}, "forbidden"),
            ("get_session", {"sessionId": night.id_of("tools")}, "not_found"),
        ):
            await socket.send({"id": command, "command": command, "args": more})
            assert (await socket.answer(command))["error_type"] == error
        await socket.call(
            "approve_plan", sessionId=session["id"], mode="build",
            requestId=session["request"]["id"],
        )  # fmt: skip
        await socket.until(lambda seen: seen["status"] == "idle", "get_session",
                           sessionId=session["id"])  # fmt: skip
        received = json.dumps(socket.frames)
    for name in night.sessions.keys() - {"parser", "tools"}:  # the guest named the latter
        assert night.id_of(name) not in received
    night.phone.wait_for("parser has finished")


def check_turns_red(night: Night) -> None:
    """The check of one worktree fails, and the phone says so."""
    worktree_id = night.sessions["login"]["worktree"]["id"]
    night.program.call("run_worktree_script", f"worktreeId={worktree_id}", "script=check")
    night.phone.wait_for("Checks of login have failed")


def go_on_until_the_second_limit(night: Night) -> dict[str, Any]:
    """At the reset the queue goes on, until a message of it runs into another limit."""
    second = "importer has reached a usage limit"
    until(lambda: night.phone.titles.count(second) == 2, "the second limit is reached")
    return night.wait_for_limit("importer")


@asynccontextmanager
async def open_socket(server: Serving, token: str) -> AsyncIterator[Socket]:
    """A WebSocket with numbered frames, as the page opens it."""
    async with aiohttp.ClientSession(server.base_url) as http:
        query = {"token": token, "since": "0"}
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    socket = await http.ws_connect("/ws", params=query, max_msg_size=0)
                    break
                except aiohttp.ClientConnectorError:
                    await asyncio.sleep(0.05)
        yield Socket(socket)


async def restart_into_the_next_version(night: Night, server: Serving, guest: Guest) -> None:
    """Another version is installed, and takes over when nothing runs. The guest connects again."""
    install(night.program, NEXT_VERSION)
    async with open_socket(server, guest.token) as socket:
        night.program.call("restart_spinney", "when=idle")
        await socket.wait_closed()
    async with open_socket(server, guest.token) as socket:
        hello = await socket.event("hello")
        assert hello["payload"]["version"] == NEXT_VERSION
    assert server.process.poll() is None


def answer_what_was_asked_before(night: Night) -> None:
    """A button of before the restart still answers its question."""
    assert night.phone.press("license asks a question", "Apache")["ok"]
    # The agent that asked has ended, so the next one is given question and answer.
    night.sent["license"].append("You asked: Which license?\nMy answer: Apache")
    night.phone.wait_for("license has finished")


def go_on_after_the_restart(night: Night, second: dict[str, Any]) -> None:
    """The queue goes on at the reset of the second limit and not before."""
    night.phone.wait_for("importer has finished")
    titles = night.phone.titles
    until(lambda: night.phone.titles.count("exporter has finished") == 2, f"both end: {titles}")
    third = night.read("importer")["messages"][-1]
    assert third["timestamp"] >= second["resets_at"]


# Morning ------------------------------------------------------------------------------------------


def every_session_is_where_it_should_be(night: Night) -> None:
    listed = night.program.call("list_all_sessions")
    statuses = {each["name"]: each["status"] for each in listed["sessions"]}
    assert statuses == dict.fromkeys(night.sessions, "idle") | {"deploy": "failed"}
    assert len(statuses) == 10
    for name, file, content in (
        ("docs", "docs.txt", "all of it\n"),
        ("exporter", "export.txt", "rows\n"),
        ("parser", "parser.txt", "a parser\n"),
        ("tools", "allowed.txt", ""),
    ):
        assert (night.path_of(name) / file).read_text() == content


def every_message_was_answered_once_in_order(night: Night) -> None:
    for name, sent in night.sent.items():
        messages = night.read(name)["messages"]
        asked = [text_of(each) for each in messages if each["role"] == "user"]
        assert asked == sent, name
        queue = night.program.call("list_queued_messages", f"sessionId={night.id_of(name)}")
        assert queue == []
    answers = "".join(text_of(each) for each in night.read("importer")["messages"])
    said = [answers.count(f"{number} ") for number in ("The first", "The second", "The third")]
    assert said == [2, 2, 2]  # in the message and in its answer
    assert "You answered: SQLite" in text_of(night.read("database")["messages"][-1])


def no_notice_came_twice(night: Night) -> None:
    """Each notice was sent once, is taken back when it was answered, and stands otherwise."""
    finished = set(night.sessions) - {"deploy"}
    expected = Counter(f"{name} has finished" for name in finished)
    expected.update(
        (
            "deploy has failed",
            "database asks a question",
            "license asks a question",
            "tools asks for permission",
            "parser has a plan",
            "Checks of login have failed",
            "exporter has finished",  # before and after it waited, of which nothing was said
            *["importer has reached a usage limit"] * 2,
        )
    )
    assert Counter(night.phone.titles) == expected
    left = {f"{name} has finished" for name in finished}
    left |= {"deploy has failed", "Checks of login have failed"}
    until(lambda: set(night.phone.standing) == left, f"they stand: {night.phone.standing}")
    assert {each["title"] for each in night.program.call("list_notices")} == left


def the_log_says_what_the_guest_did(night: Night, guest: Guest) -> None:
    log = night.program.call("list_guest_actions", f"linkId={guest.link_id}")
    assert [(each["name"], each["action"], each["ok"]) for each in log] == [
        ("Bo", "approved the plan in build mode", True),
        ("Bo", "opened the link on a new device", True),
    ]


def the_usage_page_says_what_it_cost(night: Night) -> None:
    """The sums are those of the words that were read and written."""
    report = night.program.call("get_usage", "by=session")
    tokens = {each["key"]: each["tokens"] for each in report["rows"]}
    words = {night.id_of(name): count_words(night, name) for name in night.sessions}
    assert tokens == words
    assert report["total"]["cost_usd"] == pytest.approx(PRICE * sum(words.values()))
    printed = night.program.run("usage", "--json", "--by", "session")
    assert json.loads(printed.stdout)["total"] == report["total"]


def count_words(night: Night, name: str) -> int:
    """Count the words of a conversation, also those of the turn that the restart cut off.

    Those that let it go on after a limit are not in the conversation.
    """
    blocks = [block for each in night.read(name)["messages"] for block in each["content"]]
    texts = [each["text"] for each in blocks if each["type"] in ("text", "thinking")]
    texts += [CONTINUE_PROMPT] * sum("rate_limit" in text for text in night.sent[name])
    return sum(len(text.split()) for text in texts)


def nothing_is_left(night: Night) -> None:
    """No process, and nothing that the doctor finds fault with in the data."""
    ran = night.program.run("doctor", "--json")
    found = {each["name"]: each for each in json.loads(ran.stdout)}
    assert found["data"]["ok"], found["data"]
    left = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(night.program.place):
                left.append(process)
        except (psutil.Error, OSError):
            continue
    assert left == []


def text_of(message: dict[str, Any]) -> str:
    return "\n\n".join(each["text"] for each in message["content"] if each["type"] == "text")
