"""The commands that work with sessions, as a person in a shell and a script use them."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program import Program


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server with the demo agent and the project alpha; commands run in its repository."""
    program = Program(tmp_path_factory.mktemp("verbs"))
    config = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
    (program.home / ".gitconfig").write_text(config)
    repository = program.make_repository("elsewhere")
    with program.serving("--demo"):
        program.call("add_project", f"path={repository}")
        yield program


def succeed(program: Program, *words: str, at: str | Path = "", given: str = "") -> str:
    ran = program.run(*words, at=at, given=given)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def start(program: Program, name: str, prompt: str, *words: str) -> dict[str, Any]:
    """Start a task and wait for it; return its worktree and session."""
    ran = program.run("new", prompt, "--name", name, "--wait", "--json", *words)
    assert ran.stderr == ""
    started: dict[str, Any] = json.loads(ran.stdout)
    return started


@pytest.mark.short
def test_a_task_is_started_waited_for_listed_and_read(served: Program) -> None:
    ran = served.run("new", "/demo write a.txt: one\x1b[2J", "--name", "first", "--mode",
                  "build", "--wait")  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    key, name, path = ran.stdout.splitlines()[0].split(maxsplit=2)
    assert (name, Path(path, "a.txt").exists()) == ("first", True)
    assert "▸ edit a.txt" in ran.stdout

    listed = succeed(served, "ls")
    assert "\n  first" in listed and f"\n    {key}  done" in listed
    assert "\x1b" not in listed
    whole = json.loads(succeed(served, "ls", "--json"))
    assert {"id", "path", "default_branch"} <= whole["projects"][0].keys()
    assert whole["worktrees"][0]["project_id"] == whole["projects"][0]["id"]
    row = next(row for row in whole["sessions"] if row["id"].startswith(key))
    assert (row["worktree_name"], row["status"], row["queued"]) == ("first", "idle", 0)

    read = succeed(served, "logs", "first")
    assert read.startswith("── You, ") and "one␛[2J" in read and "\x1b" not in read
    messages = [json.loads(line) for line in succeed(served, "logs", key, "--json").splitlines()]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    last = succeed(served, "logs", "-n", "1", at=path)
    assert last.startswith("── demo, ")
    shown = json.loads(succeed(served, "status", key, "--json"))
    assert (shown["session"]["id"], shown["worktree"]["name"]) == (row["id"], "first")
    assert "Here:" in succeed(served, "status", at=path)
    found = json.loads(succeed(served, "sessions", "--search", "FIRST", "--json"))
    assert ([one["id"] for one in found["sessions"]], found["total"]) == ([row["id"]], 1)
    assert "No session matches." in succeed(served, "sessions", "--state", "failed")

    exported = succeed(served, "export", "--session", "first")
    assert exported.startswith(f"# {row['name']}\n") and "▸ edit" in exported
    lines = succeed(served, "export", "--session", key, "--json").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [message["id"] for message in messages]
    assert served.run("export").returncode == 2

    assert succeed(served, "diff", "first", "--name-only") == "a.txt\n"
    assert "1 insertion(+)" in succeed(served, "diff", key, "--stat")
    patch = succeed(served, "diff", at=path)
    assert succeed(served, "diff", "first").endswith("+one␛[2J\n")
    assert patch.count("@@") == 2


def test_a_plan_is_shown_and_approved_only_when_confirmed(served: Program) -> None:
    started = start(served, "planned", "/demo plan write b.txt: two", "--session-name", "Plans")
    key = started["session"]["id"]
    waited = served.run("wait", "planned", "--json")
    assert waited.returncode == 7
    assert json.loads(waited.stdout)["sessions"][0]["waiting_for"] == "plan"
    assert f"spinney approve {key[:8]}" in succeed(served, "status", "Plans")
    assert key[:8] in succeed(served, "status")

    refused = served.run("approve", "Plans")
    assert (refused.returncode, "write b.txt" in refused.stdout) == (2, True)
    assert "Add --yes to approve" in refused.stderr
    preview = json.loads(succeed(served, "approve", "Plans", "--json"))
    assert preview["kind"] == "plan"
    assert "only for a permission" in served.run("approve", key, "--for-session").stderr
    approved = succeed(served, "approve", "--yolo", "--yes", at=started["worktree"]["path"])
    assert approved.endswith("Approved.\n")
    assert served.run("wait", "Plans").returncode == 0
    again = served.run("approve", "Plans", "--yes")
    assert (again.returncode, "waits for nothing" in again.stderr) == (1, True)


def test_questions_are_answered_and_permissions_allowed_or_denied(served: Program) -> None:
    started = start(served, "asked", "/demo ask Which? | red | blue", "--mode", "build")
    path, key = started["worktree"]["path"], started["session"]["id"]
    assert "  2. blue" in succeed(served, "answer", "asked")
    wrong = served.run("answer", "asked", "--option", "3")
    assert (wrong.returncode, "there is no 3" in wrong.stderr) == (2, True)
    not_that = served.run("approve", "asked", "--yes")
    assert (not_that.returncode, "waits for an answer" in not_that.stderr) == (1, True)
    succeed(served, "answer", ".", "--option", "2", at=path)
    assert served.run("wait", key).returncode == 0

    assert served.run("send", "asked", "/demo permission make a", "--wait").returncode == 7
    denied = succeed(served, "deny", key, "--reason", "Not now")
    assert "command: make a" in denied and denied.endswith("Denied.\n")
    assert served.run("wait", key).returncode == 0
    assert "Your reason: Not now" in succeed(served, "logs", "-n", "1", "asked")
    assert served.run("send", "asked", "/demo permission make b", "--wait").returncode == 7
    assert "With --for-session: " in succeed(served, "approve", key, "--for-session", "--yes")
    assert served.run("wait", key).returncode == 0


def test_messages_come_from_stdin_and_files_and_are_sent_once(served: Program) -> None:
    started = start(served, "sent", "/demo say hello", "--mode", "build")
    key, path = started["session"]["id"], started["worktree"]["path"]
    once = str(uuid.uuid4())
    for _ in range(2):
        sent = json.loads(
            succeed(served, "send", "sent", "-", "--id", once, "--json", given="/demo say two\n")
        )
        assert sent["message_id"] == once
        assert served.run("wait", "sent").returncode == 0
    assert succeed(served, "logs", "sent").count("/demo say two") == 1
    (served.cwd / "message.md").write_text("/demo say three\n")
    assert "three" in succeed(served, "send", key, "--file", "message.md", "--wait")
    assert "four" in succeed(served, "send", "/demo say four", "--wait", at=path)
    nothing = served.run("send", "sent", "-")
    assert (nothing.returncode, "Give the text" in nothing.stderr) == (2, True)
    bad = served.run("send", "sent", "x", "--id", "7")
    assert (bad.returncode, "must be a UUID" in bad.stderr) == (2, True)
    missing = served.run("send", "sent", "--file", "nowhere.md")
    assert (missing.returncode, "nowhere.md cannot be read" in missing.stderr) == (4, True)

    task = ("new", "Once", "--name", "once", "--id", str(uuid.uuid4()), "--json")
    first, second = (json.loads(succeed(served, *task)) for _ in range(2))
    assert first["worktree"]["id"] == second["worktree"]["id"]
    more = json.loads(succeed(served, "new", "/demo say x", "--worktree", ".", "--json", at=path))
    assert more["session"]["worktree_id"] == started["worktree"]["id"]
    several = served.run("send", "sent", "To whom?")
    assert (several.returncode, several.stdout) == (2, "")
    assert all(one["session"]["id"][:8] in several.stderr for one in (started, more))


def test_a_conversation_is_followed_as_text_and_as_lines_of_json(served: Program) -> None:
    started = start(served, "followed", "/demo say hello", "--mode", "build")
    key = started["session"]["id"]
    with (
        served.start("logs", "followed", "-f", "-n", "1") as text,
        served.start("logs", key, "--follow", "--json") as lines,
    ):
        assert text.stdout is not None and lines.stdout is not None
        read = [text.stdout.readline() for _ in range(2)]
        assert read[0].startswith("── demo, ") and read[1] == "hello\n"
        assert [json.loads(lines.stdout.readline())["role"] for _ in range(2)] == [
            "user", "assistant",
        ]  # fmt: skip
        succeed(served, "send", key, "/demo say good\x1b[2J bye")
        while "good␛[2J bye" not in (line := text.stdout.readline()):
            assert line and "\x1b" not in line
        followed = [json.loads(lines.stdout.readline()) for _ in range(2)]
        assert [message["role"] for message in followed] == ["user", "assistant"]


def test_waiting_ends_in_time_and_a_stop_ends_only_the_session(served: Program) -> None:
    started = start(served, "long", "/demo say hello", "--mode", "build")
    other = start(served, "short", "/demo say hello", "--mode", "build")["session"]["id"]
    key = started["session"]["id"]
    succeed(served, "send", "long", "/demo stream 100000 1")
    late = served.run("wait", "long", "short", "--timeout", "1s")
    assert (late.returncode, "The time is over" in late.stderr) == (124, True)
    first = served.run("wait", "long", "short", "--any")
    assert (first.returncode, first.stdout.startswith(other[:8])) == (0, True)
    assert served.run("stop", "--session").returncode == 2
    assert served.run("stop", "--session", "").returncode == 4
    mistaken = served.run("stop", "long")
    assert (mistaken.returncode, "spinney stop --session long" in mistaken.stderr) == (2, True)
    assert succeed(served, "stop", "--session", "long").startswith("Stopped '")
    assert served.run("wait", key).returncode == 1
    assert "does nothing" in succeed(served, "stop", "--session", key)


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (("logs", "nobody", "--json"), 4, "not_found"),
        (("ls", "nobody", "--json"), 4, "not_found"),
        (("new", "x", "--project", "nobody", "--json"), 4, "not_found"),
        (("new", "x", "--base", "nowhere", "--json"), 1, "invalid_request"),
        (("new", "x", "--worktree", ".", "--name", "y", "--json"), 2, "invalid_request"),
        (("sessions", "--limit", "0", "--json"), 2, "invalid_request"),
        (("resume-command", "nobody", "--json"), 4, "not_found"),
    ],
)
def test_errors_have_a_code_and_with_json_a_type(
    served: Program, words: tuple[str, ...], code: int, kind: str
) -> None:
    ran = served.run(*words)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert json.loads(ran.stderr)["error_type"] == kind


def test_what_was_saved_is_read_without_a_running_spinney(tmp_path: Path) -> None:
    program = Program(tmp_path)
    nothing = program.run("ls")
    assert (nothing.returncode, "No Spinney is running here." in nothing.stderr) == (3, True)
    repository = program.make_repository()
    with program.serving("--demo"):
        program.call("add_project", f"path={repository}")
        start(program, "kept", "/demo say hello", "--project", "alpha", "--mode", "build")
        program.kill()
    for words in (("ls",), ("sessions",), ("status", "kept"), ("logs", "kept")):
        ran = program.run(*words)
        assert (ran.returncode, "what was saved last" in ran.stderr) == (0, True)
        assert "hello" in ran.stdout
    assert program.run("send", "kept", "hello").returncode == 3


def test_a_session_is_shared_and_the_access_ended(served: Program) -> None:
    started = start(served, "shared", "/demo say hello")
    shown = succeed(served, "share", "shared", "--role", "approver", "--for", "2h", "--name", "Ann")
    assert "#guest=sgl_" in shown and "█" in shown and "this machine only" in shown
    made = json.loads(
        succeed(served, "share", "--devices", "3", "--json", at=started["worktree"]["path"])
    )
    assert (made["link"]["session_id"], made["link"]["max_devices"]) == (
        started["session"]["id"],
        3,
    )
    project = json.loads(succeed(served, "share", "--project", "elsewhere", "--json"))
    assert project["link"]["scope_name"] == "elsewhere"
    listed = succeed(served, "guests")
    assert "Ann  approver of" in listed and "0 of 1 device, not used yet" in listed
    assert "sgl_" not in listed
    assert succeed(served, "guests", "--log") == "Nothing was done yet.\n"
    assert succeed(served, "guests", "--revoke", "Ann") == "Ended the access of 'Ann'.\n"
    assert "Ann" not in succeed(served, "guests")
    assert served.run("guests", "--revoke", "Ann").returncode == 4
    ambiguous = served.run("guests", "--revoke", "Guest")
    assert ambiguous.returncode == 2 and made["link"]["id"][:8] in ambiguous.stderr
