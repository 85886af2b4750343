"""The command line as users and scripts run it: a process for every case."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model.base.instance import hold_lock
from tests.patience import PATIENCE
from tests.program import ROOT, Program, is_error_sentence, next_line

COMMANDS = ("open", "demo", "attach", "stop", "serve", "call", "events", "doctor", "completion")

SLOW_TO_IMPORT = ("textual", "rich", "aiohttp", "git", "pydantic", "pygments", "asyncio")


@pytest.fixture
def spinney(tmp_path: Path) -> Program:
    return Program(tmp_path)


# Help and version --------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_slow(option: str, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import spinney\n"
        "try:\n"
        f"    spinney.main([{option!r}])\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "spinney" in ran.stdout
    assert not set(ran.stderr.split()) & set(SLOW_TO_IMPORT)


def test_the_version_is_that_of_the_package(spinney: Program) -> None:
    from model import __version__

    ran = spinney.run("--version")
    assert (ran.returncode, ran.stdout) == (0, f"spinney {__version__}\n")


def test_the_help_names_every_command_and_shows_examples(spinney: Program) -> None:
    text = spinney.run("--help").stdout
    assert all(f"\n    {name}" in text for name in COMMANDS)
    assert "examples:" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(spinney: Program, command: str) -> None:
    ran = spinney.run(command, "--help")
    assert ran.returncode == 0
    assert f"usage: spinney {command}" in ran.stdout


@pytest.mark.parametrize("command", ["serve", "call", "events", "completion"])
def test_help_of_complex_commands_shows_examples(spinney: Program, command: str) -> None:
    assert f"  spinney {command}" in spinney.run(command, "--help").stdout.replace('eval "$(', "  ")


@pytest.mark.parametrize("arguments", [["serve", "--port", "ten"], ["--nonsense"], ["stop", "x"]])
def test_an_invalid_command_line_prints_the_usage(spinney: Program, arguments: list[str]) -> None:
    ran = spinney.run(*arguments)
    assert ran.returncode == 2
    assert "usage: spinney" in ran.stderr


# Without a terminal ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["."], ["demo"]])
def test_without_a_terminal_the_error_names_the_command_to_run_instead(
    spinney: Program, arguments: list[str]
) -> None:
    ran = spinney.run(*arguments)
    assert is_error_sentence(ran), ran.stderr
    assert "spinney serve" in ran.stderr
    assert not spinney.data.exists()


def test_a_missing_folder_is_named(spinney: Program) -> None:
    ran = spinney.run("serv")
    assert is_error_sentence(ran, 2), ran.stderr
    assert "'serv'" in ran.stderr and "--help" in ran.stderr and "spinney serve" in ran.stderr


# The server --------------------------------------------------------------------------------------


def test_serve_prints_its_address_as_one_line_of_json(spinney: Program) -> None:
    with spinney.serving() as server:
        assert server.base_url == f"http://127.0.0.1:{server.port}"
        assert server.pid == server.process.pid
        assert len(server.token) >= 40
        code, rest, errors = server.end()
    assert (code, rest, errors) == (0, "", "")


def test_serve_without_json_prints_its_address_as_text(spinney: Program) -> None:
    with spinney.start("serve", "--port", "0") as process:
        line = next_line(process, PATIENCE)
    assert line.startswith("Spinney answers at http://127.0.0.1:")
    assert "/#token=" in line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_serve_and_removes_its_address_file(spinney: Program, number: int) -> None:
    with spinney.serving() as server:
        address = spinney.data / "server.json"
        assert stat.S_IMODE(address.stat().st_mode) == 0o600
        server.process.send_signal(number)
        _, errors = server.process.communicate(timeout=PATIENCE)
        assert (server.process.returncode, errors) == (0, "")
        assert not address.exists()


def test_a_port_in_use_is_reported_in_one_sentence(spinney: Program, tmp_path: Path) -> None:
    other = Program(tmp_path / "other")
    with other.serving() as server:
        ran = spinney.run("serve", "--port", str(server.port))
    assert is_error_sentence(ran), ran.stderr
    assert f"Port {server.port} is in use" in ran.stderr
    assert "spinney serve --port N" in ran.stderr
    assert not (spinney.data / "server.json").exists()


def test_a_second_spinney_on_the_same_directory_names_the_first(spinney: Program) -> None:
    with spinney.serving() as server:
        ran = spinney.run("serve", "--port", "0")
        assert is_error_sentence(ran), ran.stderr
        assert str(server.pid) in ran.stderr
        assert spinney.call("list_projects") == []


def test_access_from_all_interfaces_without_a_token_needs_a_third_option(spinney: Program) -> None:
    ran = spinney.run("serve", "--port", "0", "--all-interfaces", "--no-token")
    assert is_error_sentence(ran, 5), ran.stderr
    assert "--unsafe-no-token" in ran.stderr


def test_a_given_token_is_used_kept_and_never_written_to_the_log(spinney: Program) -> None:
    token = "tulip-" * 6
    spinney.environ["SPINNEY_LOG"] = "trace"
    with spinney.serving("--token", token) as server:
        assert server.token == token
        assert spinney.call("list_projects") == []
        _, _, errors = server.end()
    assert token not in errors
    assert token not in (spinney.data / "spinney.log").read_text()
    with spinney.serving() as server:
        assert server.token == token


def test_files_with_secrets_are_accessible_to_their_owner_only(spinney: Program) -> None:
    with spinney.serving():
        for path in (spinney.config / "preferences.json", *spinney.data.iterdir()):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_killed_server_is_not_taken_for_a_running_one(spinney: Program) -> None:
    with spinney.serving() as server:
        server.process.kill()
        server.process.wait(timeout=PATIENCE)
    ran = spinney.run("call", "list_projects")
    assert is_error_sentence(ran, 3), ran.stderr
    assert "spinney serve" in ran.stderr
    with spinney.serving():
        assert spinney.call("list_projects") == []


# Commands from outside ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server shared by the tests that do not affect each other."""
    spinney = Program(tmp_path_factory.mktemp("served"))
    with spinney.serving():
        yield spinney


def test_call_prints_the_result_as_json(served: Program) -> None:
    repository = served.make_repository()
    added = served.run_call("add_project", f"path={repository}")
    assert added["path"] == str(repository)
    assert served.run_call("list_projects") == [added]


def test_call_accepts_json_values_and_whole_objects(served: Program) -> None:
    changed = served.run_call("update_preferences", 'changes={"theme": "dark"}')
    assert changed["theme"] == "dark"
    changed = served.run_call("update_preferences", '{"changes": {"theme": "light"}}')
    assert changed["theme"] == "light"


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["get_session", '{"sessionId": [1]}'], "Invalid field 'sessionId'", 1),
        (["add_project", "path=/"], "Path is not a git repository", 1),
        (["stop_http_server"], "own terminal", 5),
    ],
)
def test_a_failed_call_is_reported_on_stderr(
    served: Program, words: list[str], message: str, code: int
) -> None:
    ran = served.run("call", *words)
    assert is_error_sentence(ran, code), ran.stderr
    assert message in ran.stderr


def test_call_reports_a_path_that_does_not_exist(served: Program) -> None:
    ran = served.run("call", "add_project", "path=nowhere")
    assert is_error_sentence(ran, 4), ran.stderr
    assert f"There is no folder {served.cwd / 'nowhere'}." in ran.stderr


@pytest.mark.parametrize("words", [["call", "list_projects"], ["events"]])
def test_without_a_server_the_error_says_how_to_start_one(
    spinney: Program, words: list[str]
) -> None:
    ran = spinney.run(*words)
    assert is_error_sentence(ran, 3), ran.stderr
    assert "spinney serve" in ran.stderr


def test_an_unreachable_address_is_reported_in_one_sentence(spinney: Program) -> None:
    spinney.data.mkdir()
    # Nothing listens on port 1; the process ID is that of a living process.
    address = {"base_url": "http://127.0.0.1:1", "port": 1, "token": "t", "pid": os.getpid()}
    with hold_lock(spinney.data / "spinney.lock"):
        (spinney.data / "server.json").write_text(json.dumps(address))
        ran = spinney.run("call", "list_projects")
    assert is_error_sentence(ran, 3), ran.stderr
    assert "127.0.0.1:1" in ran.stderr


def first_event(program: Program, following: "subprocess.Popen[str]") -> dict[str, Any]:
    """Change preferences until it prints an event: it does not announce when it is connected."""
    for size in range(12, 72):
        program.call("update_preferences", f'changes={{"ui_font_size": {size % 12 + 12}}}')
        if line := next_line(following, 0.5):
            return dict(json.loads(line))
    raise AssertionError("it printed no event")


def test_events_prints_one_line_for_each_event(served: Program) -> None:
    with served.start("events") as following:
        event = first_event(served, following)
        assert event["event"] == "preferences:updated"
        assert event["payload"]["changes"].keys() == {"ui_font_size"}
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=PATIENCE)
        assert (following.returncode, errors) == (130, "")


def test_events_follows_a_spinney_that_restarts_on_another_port(spinney: Program) -> None:
    with spinney.serving() as first, spinney.start("events") as following:
        first_event(spinney, following)
        first.end()
        with spinney.serving() as second:
            assert second.port != first.port
            spinney.call("update_preferences", 'changes={"theme": "dark"}')
            # Events from before it reconnected are printed as well, and first.
            received = [first_event(spinney, following) for _ in range(2)]
            assert {"theme": "dark"} in [event["payload"].get("changes") for event in received]
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=PATIENCE)
        assert errors.count("No Spinney is running here") <= 1
        assert "Traceback" not in errors


def test_events_since_a_number_begins_after_it(served: Program) -> None:
    for theme in ("dark", "light"):
        served.call("update_preferences", f'changes={{"theme": "{theme}"}}')
    with served.start("events") as following:
        last = first_event(served, following)["seq"]
    with served.start("events", "--since", str(last - 1)) as following:
        again = json.loads(next_line(following, PATIENCE))
    assert again["seq"] == last and again["event"] == "preferences:updated"
    with served.start("events", "--since", "0") as following:
        assert json.loads(next_line(following, PATIENCE))["seq"] < last - 1


def test_events_prints_only_those_that_are_asked_for(served: Program) -> None:
    tree = served.create_ready_worktree_named(served.make_repository("filtered"), "filtered")
    session = served.call("create_session", f"worktreeId={tree['id']}", "name=Filtered")
    with served.start("events", "--since", "0", "--only", "session-created") as following:
        event = json.loads(next_line(following, PATIENCE))
        assert (event["event"], event["data"]["session"]["id"]) == (
            "session-created",
            session["id"],
        )
    only = ("--session", "Filtered", "--only", "session-updated,session-created")
    with served.start("events", "--since", "0", *only) as following:
        assert json.loads(next_line(following, PATIENCE))["event"] == "session-created"
    wrong = served.run("events", "--only", "sesion-created")
    assert is_error_sentence(wrong, 2), wrong.stderr
    assert "Did you mean session-created?" in wrong.stderr


def test_events_ends_quietly_when_its_output_is_closed(served: Program) -> None:
    with served.start("events") as following:
        assert following.stdout is not None and following.stderr is not None
        following.stdout.close()
        for size in range(12, 72):
            served.call("update_preferences", f'changes={{"ui_font_size": {size % 12 + 12}}}')
            with suppress(subprocess.TimeoutExpired):
                following.wait(timeout=0.5)
                break
        assert following.poll() == 0
        assert following.stderr.read() == ""


# Completion --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_valid_in_its_shell(spinney: Program, shell: str) -> None:
    script = spinney.run("completion", shell).stdout
    assert all(name in script for name in COMMANDS)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=PATIENCE)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("spinney ser", "serve"),
        ("spinney serve --a", "--all-interfaces"),
        ("spinney completion z", "zsh"),
        ("spinney --vers", "--version"),
        ("spinney call create_w", "create_worktree"),
        ("spinney call create_worktree cust", "customName="),
    ],
)
def test_bash_completes_commands_and_options(spinney: Program, typed: str, completed: str) -> None:
    last = len(typed.split()) - 1
    ask = f'COMP_WORDS=({typed}); COMP_CWORD={last}; _spinney; echo "$COMPREPLY"'
    script = spinney.run("completion", "bash").stdout + ask
    ran = subprocess.run(
        ["bash", "--norc"],
        input=script,
        cwd=spinney.cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert ran.stdout.split() == [completed]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_names_of_sessions_worktrees_and_projects(
    served: Program, spinney: Program
) -> None:
    repository = served.make_repository("completed")
    tree = served.create_ready_worktree_named(repository, "calm-heron")
    served.call("create_session", f"worktreeId={tree['id']}", "name=Sort the rows")
    script = served.run("completion", "bash").stdout

    def complete(program: Program, *typed: str) -> list[str]:
        words = " ".join(f"'{word}'" for word in typed)
        ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _spinney; "
        ask += 'printf "%s\\n" "${COMPREPLY[@]}"'
        shim = f'spinney() {{ {" ".join(program.command)} "$@"; }}\n'
        ran = subprocess.run(
            ["bash", "--norc"], input=shim + script + ask, cwd=program.cwd, env=program.environ,
            capture_output=True, text=True, check=True, timeout=PATIENCE,
        )  # fmt: skip
        assert ran.stderr == ""
        return ran.stdout.splitlines()

    assert complete(served, "spinney", "logs", "Sort") == ["Sort the rows"]
    assert complete(served, "spinney", "land", "calm") == ["calm-heron"]
    names = ["calm-heron", "Sort the rows"]  # Other tests add theirs to the same Spinney.
    assert [each for each in complete(served, "spinney", "diff", "") if each in names] == names
    assert complete(served, "spinney", "new", "--project", "comp") == ["completed"]
    assert complete(served, "spinney", "stop", "--session", "Sort") == ["Sort the rows"]
    assert complete(served, "spinney", "logs", "--fol") == ["--follow"]
    assert complete(served, "spinney", "diff", "--st") == ["--stat"]
    assert complete(spinney, "spinney", "logs", "Sort") == [""]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("call create_w", "create_worktree"), ("call create_worktree cust", "customName=")],
)
def test_fish_completes_commands_and_their_fields(
    spinney: Program, typed: str, completed: str
) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = spinney.run("completion", "fish").stdout + f"complete -C 'spinney {typed}'\n"
    ran = subprocess.run(
        ["fish", "--no-config"],
        input=script,
        cwd=spinney.cwd,
        env=spinney.environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert ran.stdout.split() == [completed]
