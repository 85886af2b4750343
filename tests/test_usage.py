"""Invalid command lines and unusual streams: the error messages, and never a traceback.

Most cases run in this process, since starting one for each takes long.
"""

import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spinney
from model.base.instance import hold_lock
from model.cli import quick_call
from model.cli.arguments import find_spec, parse_arguments
from model.client import local_instance
from tests.patience import PATIENCE
from tests.program import ROOT, Program

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process without a server; returns code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name, place in (("SPINNEY_DATA_DIR", "data"), ("SPINNEY_CONFIG_DIR", "config")):
        monkeypatch.setenv(name, str(tmp_path / place))

    def run_here(*words: str) -> tuple[int, str, str]:
        try:
            code = spinney.main(list(words))
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, errors = capsys.readouterr()
        return code, out, errors

    return run_here


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--foo"], "Unknown option --foo."),
        (["--demo"], "Did you mean spinney open --demo or spinney serve --demo?"),
        (["cal", "list_projects"], "no command or folder 'cal'. Did you mean spinney call?"),
        (["frobnicate"], "no command or folder 'frobnicate'. For commands, see"),
        (["/etc/passwd"], "/etc/passwd is a file, not a folder."),
        ([""], "or folder ''"),
        (["open", "/no/such/place"], "There is no folder '/no/such/place'."),
        (["serve", "extra"], "usage: spinney serve"),
        (["serve", "extra"], "Unexpected argument: extra."),
        (["doctor", "--jsn"], "Unknown option --jsn. Did you mean --json?"),
        (
            ["serve", "--port", "99999"],
            "'99999' is not a port: it must be a whole number",
        ),
        (["serve", "--port=-1"], "'-1' is not a port"),
        (["serve", "--port", "ten"], "'ten' is not a port"),
        (["serve", "--token", "tulip"], "--token: must be at least 16 letters, digits and - _ . ~"),
        (["serve", "--token", "two words and more"], "--token: must be at least 16"),
        (["serve", "--token", "tür" * 9], "--token: must be at least 16"),
        (
            ["serve", "--unsafe-no-token"],
            "--unsafe-no-token requires --no-token and --all-interfaces or --host",
        ),
        (["serve", "--unsafe-no-token", "--all-interfaces"], "requires"),
        (["events", "--since", "x"], "'x' is not the number of an event"),
        (["completion", "tcsh"], "choose from"),
        (["call", "nosuch"], "Unknown command: nosuch. For a list: spinney call"),
        (["call", "list-projects"], "Did you mean list_projects?"),
        (["call", "LIST_PROJECTS"], "Did you mean list_projects?"),
        (["call", "create_worktree"], "Missing field: projectId."),
        (
            ["call", "create_worktree", "projectId=1", "custonName=x"],
            "create_worktree takes no 'custonName'. Did you mean customName?",
        ),
        (["call", "add_project", "=x", "path=."], "add_project takes no ''."),
        (["call", "list_projects", "word"], "Neither name=value"),
        (["call", "list_projects", "{broken"], "Not a JSON object"),
    ],
)
def test_an_invalid_command_line_is_reported_with_a_suggestion(
    run: Run, words: list[str], message: str
) -> None:
    code, out, errors = run(*words)
    assert (code, out) == (2, "")
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("words", [["call", "list_projects"], ["events"]])
def test_a_missing_server_has_an_exit_code_of_its_own(run: Run, words: list[str]) -> None:
    code, _, errors = run(*words)
    assert code == 3 and "No Spinney is running here" in errors


@pytest.mark.parametrize("words", [["call", "list_projects"], ["events"]])
def test_a_server_that_accepts_and_does_not_answer_is_reported_after_a_timeout(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(local_instance, "RESPONSE_TIMEOUT", 0.1)
    monkeypatch.setattr(quick_call, "CONNECT_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        address = {"base_url": f"http://127.0.0.1:{port}", "token": "t", "pid": os.getpid()}
        (tmp_path / "data").mkdir()
        with hold_lock(tmp_path / "data" / "spinney.lock"):
            (tmp_path / "data" / "server.json").write_text(json.dumps(address))
            code, out, errors = run(*words)
    assert (code, out) == (3, "")
    assert errors.startswith(f"spinney: Spinney (process {os.getpid()}) is running but does not")


def test_commands_are_listed_and_explained(run: Run) -> None:
    code, listed, _ = run("call")
    assert code == 0
    assert "  list_projects " in listed and "List all projects and folders" in listed
    code, explained, _ = run("call", "create_worktree", "--help")
    assert code == 0
    assert explained.startswith("usage: spinney call create_worktree projectId=… [baseBranch=…]")
    assert "  customName    text\n" in explained and "  projectId     text, required\n" in explained
    assert "\nreturns: Worktree\n" in explained
    assert "\n  spinney call create_worktree projectId=1c9f…\n" in explained
    modes = run("call", "create_session", "--help")[1]
    assert '  executionMode  one of plan, build, yolo, by default "plan"\n' in modes
    listing = run("call", "list_all_sessions", "--help")[1]
    assert '  status      JSON: ("idle" | "running"' in listing
    assert "name=value" in run("call", "--help")[1]


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("send_chat_message sessionId=1 message=42", {"sessionId": "1", "message": "42"}),
        ('send_chat_message sessionId=1 message="x"', {"sessionId": "1", "message": '"x"'}),
        ("send_chat_message session_id=1 message=null", {"session_id": "1", "message": "null"}),
        ("send_chat_message sessionId=1 message={} files=[]",
         {"sessionId": "1", "message": "{}", "files": []}),
        ('{"sessionId":"1","message":"x"}', None),
        ("answer_question sessionId=1 answer=[1]", {"sessionId": "1", "answer": "[1]"}),
        ('answer_question sessionId=1 answer={"a":"b"}', {"sessionId": "1", "answer": {"a": "b"}}),
        ("list_worktrees projectId=1 includeArchived=true",
         {"projectId": "1", "includeArchived": True}),
        ("get_messages sessionId=1 limit=5", {"sessionId": "1", "limit": 5}),
        ("update_worktree_label worktreeId=1 label=null", {"worktreeId": "1", "label": None}),
        ("create_session worktreeId=1 backend=claude", {"worktreeId": "1", "backend": "backend_a"}),
        ('update_preferences changes={"default_backend":"codex"}',
         {"changes": {"default_backend": "backend_b"}}),
        ("create_session worktreeId=1 backend=acp:x", {"worktreeId": "1", "backend": "acp:x"}),
        ("add_project path=.", {"path": "/here"}),
        ("add_project path=sub/x", {"path": "/here/sub/x"}),
        ("add_project path=/x", {"path": "/x"}),
        ("add_project path=~/x", {"path": str(Path.home() / "x")}),
        ("list_directories path=sub/", {"path": "/here/sub/"}),
    ],
)  # fmt: skip
def test_values_are_parsed_by_the_types_of_the_command(
    words: str, read: dict[str, Any] | None
) -> None:
    name, *given = words.split()
    if read is None:
        name, given, read = "send_chat_message", [words], {"sessionId": "1", "message": "x"}
    assert parse_arguments(find_spec(name), given, Path("/here")) == read


# Streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        *([command, "--help"] for command in ("call", "attach", "open", "serve", "events")),
        ["call"],
        ["completion", "fish"],
        ["call", "nosuch…"],
    ],
)
def test_output_is_encodable_in_every_locale(
    run: Run, monkeypatch: pytest.MonkeyPatch, encoding: str, words: list[str]
) -> None:
    raw = io.BytesIO()
    narrow = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    monkeypatch.setattr(sys, "stdout", narrow)
    monkeypatch.setattr(sys, "stderr", narrow)
    run(*words)
    written = raw.getvalue().decode(encoding)
    assert written and "Traceback" not in written
    assert "…" not in written and "\\u2026" not in written


def run_in_shell(program: Program, script: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell script in which `$spinney` is the program."""
    return subprocess.run(
        ["bash", "-c", script],
        cwd=program.cwd,
        env={**program.environ, "spinney": f"{sys.executable} {ROOT / 'spinney.py'}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("words", ["--help", "call", "schema", "completion bash"])
def test_a_full_output_device_is_reported(tmp_path: Path, words: str) -> None:
    ran = run_in_shell(Program(tmp_path), f"$spinney {words} >/dev/full")
    message = "spinney: The output could not be written: No space left on device.\n"
    assert (ran.returncode, ran.stderr) == (1, message)


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_cause_no_traceback(tmp_path: Path, streams: str) -> None:
    program = Program(tmp_path)
    ran = run_in_shell(program, f"$spinney --version {streams}; $spinney nosuch {streams}")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr and "Exception" not in ran.stderr


def test_an_unknown_color_system_is_reported(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.environ["TEXTUAL_COLOR_SYSTEM"] = "nonsense"
    with program.on_a_terminal("demo") as terminal:
        terminal.read_until(b"TEXTUAL_COLOR_SYSTEM is 'nonsense'")
        assert terminal.process.wait(timeout=PATIENCE) == 2


def test_the_error_for_a_port_in_use_names_the_option_for_another(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, errors = run("serve", "--port", str(taken.getsockname()[1]))
    assert (code, "spinney serve --port N" in errors) == (1, True), errors
