"""Missing programs, damaged files and full disks: `doctor` and the start report them."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import Program, is_error_sentence


@pytest.fixture
def spinney(tmp_path: Path) -> Program:
    """Spinney with git and gh on its PATH, but no agents: checking each agent takes seconds."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "gh"):
        if path := shutil.which(name):
            (programs / name).symlink_to(path)
    program = Program(tmp_path)
    program.environ["PATH"] = str(programs)
    return program


def test_doctor_reports_each_problem_with_its_remedy(tmp_path: Path) -> None:
    spinney = Program(tmp_path)  # with all programs of this machine
    ran = spinney.run("doctor", "--json")
    found = {finding["name"]: finding for finding in json.loads(ran.stdout)}
    assert found["git"]["ok"] is True
    assert {"gh", "Claude Code", "configuration", "data", "worktrees"} <= found.keys()
    assert found["data"]["found"] == str(spinney.data)
    assert all(finding["remedy"] for finding in found.values() if finding["ok"] is False)
    assert ran.returncode == (1 if any(f["ok"] is False for f in found.values()) else 0)


def test_doctor_lists_the_agents_and_requires_one(spinney: Program) -> None:
    spinney.environ |= {"SPINNEY_LOG": "nonsense", "HOME": "/proc/nope"}
    ran = spinney.run("doctor", "--json")
    found = {finding["name"]: finding for finding in json.loads(ran.stdout)}
    ids = {name: found[name]["id"] for name in ("Claude Code", "Codex", "OpenCode")}
    assert ids == {"Claude Code": "backend_a", "Codex": "backend_b", "OpenCode": "backend_c"}
    assert found["agents"]["ok"] is False and ran.returncode == 1
    assert found["SPINNEY_LOG"]["ok"] is False and "nonsense" in found["SPINNEY_LOG"]["found"]
    assert found["worktrees"]["remedy"] == "Make /proc a directory that you can write to."


def test_doctor_names_the_channels_of_notices_that_fail_or_how_that_is_found_out(
    spinney: Program,
) -> None:
    def examine() -> dict[str, object]:
        found = json.loads(spinney.run("doctor", "--json").stdout)
        return next(finding for finding in found if finding["name"] == "notices")

    spinney.config.mkdir()
    (spinney.config / "preferences.json").write_text('{"notify_command": ["no-such-program"]}')
    offline = examine()
    assert offline["ok"] is None and offline["found"] == "set up: Command"
    assert "spinney notify --test" in str(offline["remedy"])
    with spinney.serving():
        assert examine()["ok"] is True
        assert spinney.run("notify", "--test").returncode == 1
        failing = examine()
    assert failing["ok"] is False and "Command fails: " in str(failing["found"])


def test_a_file_above_the_data_directory_is_named(spinney: Program) -> None:
    spinney.environ["SPINNEY_DATA_DIR"] = "/etc/passwd/x"
    ran = spinney.run("serve")
    assert is_error_sentence(ran), ran.stderr
    assert "spinney: /etc/passwd should be a folder but is a file" in ran.stderr


def test_doctor_prints_text_and_changes_nothing(spinney: Program) -> None:
    ran = spinney.run("doctor")
    assert "git" in ran.stdout and str(spinney.config) in ran.stdout
    assert not spinney.config.exists() and not spinney.data.exists()


def test_a_missing_git_is_reported_by_doctor_and_where_it_is_needed(
    spinney: Program,
) -> None:
    repository = spinney.make_repository()
    spinney.environ["PATH"] = str(spinney.cwd)
    ran = spinney.run("doctor", "--json")
    git = next(f for f in json.loads(ran.stdout) if f["name"] == "git")
    assert git["ok"] is False and "git" in git["remedy"].lower()
    assert ran.returncode == 1
    with spinney.serving():
        ran = spinney.run("call", "add_project", f"path={repository}")
    assert is_error_sentence(ran, code=6), ran.stderr
    assert "git" in ran.stderr.lower() and "install" in ran.stderr.lower()


@pytest.mark.parametrize("which", ["config", "data"])
def test_a_file_where_a_directory_should_be_is_named(spinney: Program, which: str) -> None:
    path: Path = getattr(spinney, which)
    path.write_text("")
    ran = spinney.run("serve", "--port", "0")
    assert is_error_sentence(ran), ran.stderr
    assert str(path) in ran.stderr
    found = json.loads(spinney.run("doctor", "--json").stdout)
    assert [f["remedy"] for f in found if str(path) in f["remedy"]]


@pytest.mark.parametrize("name", ["spinney.lock", "spinney.log", "spinney.db"])
def test_a_directory_where_a_file_should_be_is_named(spinney: Program, name: str) -> None:
    (spinney.data / name).mkdir(parents=True)
    ran = spinney.run("serve", "--port", "0")
    assert is_error_sentence(ran), ran.stderr
    assert name in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_read_only_directory_is_named(spinney: Program) -> None:
    spinney.data.mkdir()
    spinney.data.chmod(0o500)
    ran = spinney.run("serve", "--port", "0")
    assert is_error_sentence(ran), ran.stderr
    assert str(spinney.data) in ran.stderr


@pytest.mark.parametrize(
    ("file", "word"), [("config/preferences.json", "preferences"), ("data/spinney.db", "database")]
)
def test_a_damaged_file_is_moved_aside_and_reported_and_spinney_starts(
    spinney: Program, file: str, word: str
) -> None:
    broken = spinney.place / file
    broken.parent.mkdir()
    broken.write_text('{"theme": "dar')
    with spinney.serving() as server:
        assert spinney.call("list_projects") == []
        _, _, errors = server.end()
    assert errors.startswith("spinney: ") and errors.count("\n") == 1
    assert word in errors.lower()
    beside = [p for p in broken.parent.iterdir() if p.read_bytes() == b'{"theme": "dar']
    assert len(beside) == 1 and beside[0].name in errors


def test_a_damaged_models_file_is_reported_with_its_line_and_left_as_it_is(
    spinney: Program,
) -> None:
    spinney.config.mkdir()
    models = spinney.config / "models.toml"
    models.write_text('[backend_a]\nmodel_1 = "opus\n')
    found = json.loads(spinney.run("doctor", "--json").stdout)
    problem = next(finding for finding in found if finding["name"] == "models.toml")
    assert problem["ok"] is False and "line 2" in problem["found"]
    assert models.read_text() == '[backend_a]\nmodel_1 = "opus\n'


def test_an_invalid_custom_agent_is_reported_and_a_valid_one_is_checked(
    spinney: Program,
) -> None:
    spinney.config.mkdir()
    agents = spinney.config / "agents.toml"
    agents.write_text('[bad]\n[good]\nlabel = "Good"\ncommand = "no-such-agent"\n')
    found = json.loads(spinney.run("doctor", "--json").stdout)
    problem = next(finding for finding in found if finding["name"] == "agents.toml")
    assert problem["ok"] is False and "[bad] needs command" in problem["found"]
    good = next(finding for finding in found if finding["name"] == "Good")
    assert good["found"] == "not found" and "no-such-agent" in good["remedy"]


@pytest.fixture
def small_disk(spinney: Program) -> Iterator[Path]:
    """The data directory on a disk of one megabyte."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root may mount a small disk")
    spinney.data.mkdir(mode=0o700)
    disk = str(spinney.data)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", disk], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield spinney.data
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill_disk(disk: Path) -> Path:
    """Fill the disk; return the file that does."""
    path = disk / "ballast"
    with path.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return path


def test_a_disk_that_is_full_at_the_start_is_reported_in_one_sentence(
    spinney: Program, small_disk: Path
) -> None:
    fill_disk(small_disk)
    ran = spinney.run("serve", "--port", "0")
    assert is_error_sentence(ran), ran.stderr
    assert "disk is full" in ran.stderr


def test_a_start_on_a_full_disk_shows_existing_data_and_refuses_changes(
    spinney: Program, small_disk: Path
) -> None:
    repository = spinney.make_repository()
    with spinney.serving():
        added = spinney.call("add_project", f"path={repository}")
        base = spinney.call("open_base_worktree", f"projectId={added['id']}")
        argument = f"worktreeId={base['id']}"
        session = spinney.call("create_session", argument)
    ballast = fill_disk(small_disk)
    with spinney.serving() as server:
        assert [project["id"] for project in spinney.call("list_projects")] == [added["id"]]
        messages = spinney.call("get_messages", f"sessionId={session['id']}")
        assert messages == {"messages": [], "total": 0}
        [problem] = spinney.call("get_problems")
        assert "The disk was full" in problem
        ran = spinney.run("call", "create_session", argument)
        assert is_error_sentence(ran), ran.stderr
        assert "disk is full" in ran.stderr
        ballast.unlink()
        assert spinney.call("create_session", argument)["name"]
        assert server.end()[0] == 0
    with spinney.serving():
        assert len(spinney.call("list_sessions", argument)) == 2


@pytest.mark.parametrize("name", ["server.json", "spinney.db.written", "backups"])
def test_an_obstacle_to_a_less_important_file_does_not_prevent_the_start(
    spinney: Program, name: str
) -> None:
    if name == "backups":
        spinney.data.mkdir()
        (spinney.data / name).write_text("")
    else:
        (spinney.data / name).mkdir(parents=True)
    with spinney.serving() as server:
        assert spinney.call("list_projects") == []
        _, _, errors = server.end()
    assert "Traceback" not in errors


def test_changes_are_refused_while_the_disk_is_full(spinney: Program, small_disk: Path) -> None:
    repository = spinney.make_repository()
    with spinney.serving():
        ballast = fill_disk(small_disk)
        ran = spinney.run("call", "add_project", f"path={repository}")
        assert is_error_sentence(ran), ran.stderr
        assert "disk is full" in ran.stderr
        assert spinney.call("list_projects") == []
        ballast.unlink()
        added = spinney.call("add_project", f"path={repository}")
        assert spinney.call("list_projects") == [added]
