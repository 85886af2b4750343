"""The command line, as a person or a script meets it: a process of its own for every case."""

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
from tests.program import ROOT, Program, is_a_sentence, next_line

COMMANDS = ("open", "demo", "attach", "stop", "serve", "call", "events", "doctor", "completion")

SLOW_TO_IMPORT = ("textual", "rich", "aiohttp", "git", "pydantic", "pygments", "asyncio")


@pytest.fixture
def spinney(tmp_path: Path) -> Program:
    return Program(tmp_path)


# Help and version --------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["--help", "--version"])
def test_a_question_about_the_program_imports_nothing_slow(question: str, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import spinney\n"
        "try:\n"
        f"    spinney.main([{question!r}])\n"
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
def test_help_of_what_is_not_obvious_shows_examples(spinney: Program, command: str) -> None:
    assert f"  spinney {command}" in spinney.run(command, "--help").stdout.replace('eval "$(', "  ")


@pytest.mark.parametrize("arguments", [["serve", "--port", "ten"], ["--nonsense"], ["stop", "x"]])
def test_a_wrong_command_line_says_how_it_is_used(spinney: Program, arguments: list[str]) -> None:
    ran = spinney.run(*arguments)
    assert ran.returncode == 2
    assert "usage: spinney" in ran.stderr


# Without a terminal ------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["."], ["demo"]])
def test_without_a_terminal_it_says_what_to_run_instead(
    spinney: Program, arguments: list[str]
) -> None:
    ran = spinney.run(*arguments)
    assert is_a_sentence(ran), ran.stderr
    assert "spinney serve" in ran.stderr
    assert not spinney.data.exists()


def test_a_folder_that_is_not_there_is_named(spinney: Program) -> None:
    ran = spinney.run("serv")
    assert is_a_sentence(ran, 2), ran.stderr
    assert "'serv'" in ran.stderr and "--help" in ran.stderr and "spinney serve" in ran.stderr


# The server --------------------------------------------------------------------------------------


def test_serve_says_in_one_json_line_where_it_answers(spinney: Program) -> None:
    with spinney.serving() as server:
        assert server.base_url == f"http://127.0.0.1:{server.port}"
        assert server.pid == server.process.pid
        assert len(server.token) >= 40
        code, rest, errors = server.end()
    assert (code, rest, errors) == (0, "", "")


def test_serve_without_json_says_it_for_people(spinney: Program) -> None:
    with spinney.started("serve", "--port", "0") as process:
        line = next_line(process, PATIENCE)
    assert line.startswith("Spinney answers at http://127.0.0.1:")
    assert "/#token=" in line


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_serve_and_takes_its_address_away(spinney: Program, number: int) -> None:
    with spinney.serving() as server:
        address = spinney.data / "server.json"
        assert stat.S_IMODE(address.stat().st_mode) == 0o600
        server.process.send_signal(number)
        _, errors = server.process.communicate(timeout=PATIENCE)
        assert (server.process.returncode, errors) == (0, "")
        assert not address.exists()


def test_a_port_in_use_is_said_in_a_sentence(spinney: Program, tmp_path: Path) -> None:
    other = Program(tmp_path / "other")
    with other.serving() as server:
        ran = spinney.run("serve", "--port", str(server.port))
    assert is_a_sentence(ran), ran.stderr
    assert f"Port {server.port} is in use" in ran.stderr
    assert "spinney serve --port N" in ran.stderr
    assert not (spinney.data / "server.json").exists()


def test_a_second_spinney_on_the_same_directory_is_told_of_the_first(spinney: Program) -> None:
    with spinney.serving() as server:
        ran = spinney.run("serve", "--port", "0")
        assert is_a_sentence(ran), ran.stderr
        assert str(server.pid) in ran.stderr
        assert spinney.call("list_projects") == []


def test_everybody_without_a_token_must_be_asked_for_twice(spinney: Program) -> None:
    ran = spinney.run("serve", "--port", "0", "--all-interfaces", "--no-token")
    assert is_a_sentence(ran), ran.stderr
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


def test_the_files_with_secrets_are_for_their_owner_alone(spinney: Program) -> None:
    with spinney.serving():
        for path in (spinney.config / "preferences.json", *spinney.data.iterdir()):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_killed_server_is_not_taken_for_a_running_one(spinney: Program) -> None:
    with spinney.serving() as server:
        server.process.kill()
        server.process.wait(timeout=PATIENCE)
    ran = spinney.run("call", "list_projects")
    assert is_a_sentence(ran, 3), ran.stderr
    assert "spinney serve" in ran.stderr
    with spinney.serving():
        assert spinney.call("list_projects") == []


# Commands from outside ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One that is asked by all that leave each other alone."""
    spinney = Program(tmp_path_factory.mktemp("served"))
    with spinney.serving():
        yield spinney


def test_call_prints_the_result_as_json(served: Program) -> None:
    repository = served.made_repository()
    added = served.called("add_project", f"path={repository}")
    assert added["path"] == str(repository)
    assert served.called("list_projects") == [added]


def test_call_takes_values_as_json_and_whole_objects(served: Program) -> None:
    changed = served.called("update_preferences", 'changes={"theme": "dark"}')
    assert changed["theme"] == "dark"
    changed = served.called("update_preferences", '{"changes": {"theme": "light"}}')
    assert changed["theme"] == "light"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["get_session", '{"sessionId": [1]}'], "Invalid field 'sessionId'"),
        (["add_project", "path=/"], "Path is not a git repository"),
        (["stop_http_server"], "own terminal"),
    ],
)
def test_what_call_cannot_do_is_said_on_stderr(
    served: Program, words: list[str], said: str
) -> None:
    ran = served.run("call", *words)
    assert is_a_sentence(ran), ran.stderr
    assert said in ran.stderr


def test_call_says_of_a_path_that_leads_nowhere_that_it_does(served: Program) -> None:
    ran = served.run("call", "add_project", "path=nowhere")
    assert is_a_sentence(ran, 4), ran.stderr
    assert f"There is no folder {served.cwd / 'nowhere'}." in ran.stderr


@pytest.mark.parametrize("words", [["call", "list_projects"], ["events"]])
def test_without_a_server_the_remedy_is_named(spinney: Program, words: list[str]) -> None:
    ran = spinney.run(*words)
    assert is_a_sentence(ran, 3), ran.stderr
    assert "spinney serve" in ran.stderr


def test_an_address_where_nobody_answers_is_said_in_a_sentence(spinney: Program) -> None:
    spinney.data.mkdir()
    # Port 1 of this machine, with a process that lives: this one.
    told = {"base_url": "http://127.0.0.1:1", "port": 1, "token": "t", "pid": os.getpid()}
    with hold_lock(spinney.data / "spinney.lock"):
        (spinney.data / "server.json").write_text(json.dumps(told))
        ran = spinney.run("call", "list_projects")
    assert is_a_sentence(ran, 3), ran.stderr
    assert "127.0.0.1:1" in ran.stderr


def first_event(program: Program, following: "subprocess.Popen[str]") -> dict[str, Any]:
    """What it prints of the first change that it hears of: it does not say when it listens."""
    for size in range(12, 72):
        program.call("update_preferences", f'changes={{"ui_font_size": {size % 12 + 12}}}')
        if line := next_line(following, 0.5):
            return dict(json.loads(line))
    raise AssertionError("it heard of nothing")


def test_events_prints_what_happens_line_by_line(served: Program) -> None:
    with served.started("events") as following:
        event = first_event(served, following)
        assert event["event"] == "preferences:updated"
        assert event["payload"]["changes"].keys() == {"ui_font_size"}
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=PATIENCE)
        assert (following.returncode, errors) == (130, "")


def test_events_follows_a_spinney_that_starts_anew_at_another_port(spinney: Program) -> None:
    with spinney.serving() as first, spinney.started("events") as following:
        first_event(spinney, following)
        first.end()
        with spinney.serving() as second:
            assert second.port != first.port
            spinney.call("update_preferences", 'changes={"theme": "dark"}')
            # What happened before it was found comes, too, and first.
            heard = [first_event(spinney, following) for _ in range(2)]
            assert {"theme": "dark"} in [event["payload"].get("changes") for event in heard]
        following.send_signal(signal.SIGINT)
        _, errors = following.communicate(timeout=PATIENCE)
        assert errors.count("No Spinney is running here") <= 1
        assert "Traceback" not in errors


def test_events_begins_after_a_number_that_a_line_before_had(served: Program) -> None:
    for theme in ("dark", "light"):
        served.call("update_preferences", f'changes={{"theme": "{theme}"}}')
    with served.started("events") as following:
        last = first_event(served, following)["seq"]
    with served.started("events", "--since", str(last - 1)) as following:
        again = json.loads(next_line(following, PATIENCE))
    assert again["seq"] == last and again["event"] == "preferences:updated"
    with served.started("events", "--since", "0") as following:
        assert json.loads(next_line(following, PATIENCE))["seq"] < last - 1


def test_events_ends_quietly_when_nobody_reads_it(served: Program) -> None:
    with served.started("events") as following:
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
def test_a_completion_script_is_one_that_its_shell_reads(spinney: Program, shell: str) -> None:
    script = spinney.run("completion", shell).stdout
    assert all(name in script for name in COMMANDS)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here to read it")
    subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=PATIENCE)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here to try it")
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


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("call create_w", "create_worktree"), ("call create_worktree cust", "customName=")],
)
def test_fish_completes_what_can_be_called(spinney: Program, typed: str, completed: str) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not here to try it")
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
