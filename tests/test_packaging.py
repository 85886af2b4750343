"""The installed wheel in its own environment, run from a folder of conflicting modules."""

import fcntl
import json
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.program import ROOT, Program

pytestmark = pytest.mark.timeout(300)

NEEDED = (
    "spinney.py",
    "model/backends/demo/agent.py",
    "server/web/index.html",
    "themes/chrome/spinney-dark.toml",
    "themes/syntax/nord.toml",
    "tui/shell/dialogs.tcss",
    "tui/shell/style.tcss",
)
"""One file of each kind that the program requires."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Path]:
    """A folder with wheel, sdist and an environment with the wheel; shared by all workers."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared if worker_id == "master" else shared.parent
    folder = shared / "packaging"
    with (shared / "packaging.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            _build(folder)
            (folder / "ready").touch()
    yield folder


def _build(folder: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    _run_checked([*build, "--wheel", "--sdist", str(ROOT)])
    wheel = next(folder.glob("*.whl"))
    venv.create(folder / "venv", with_pip=False)
    python = str(folder / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    constraints = str(ROOT / "constraints.txt")
    _run_checked([*pip, "install", "--no-compile", "--constraint", constraints, str(wheel)])


def _run_checked(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def write_conflicting_modules(folder: Path) -> None:
    """Write modules named like the program's; importing one ends the program."""
    folder.mkdir(exist_ok=True)
    source = "raise SystemExit('a conflicting module was imported')\n"
    (folder / "model.py").write_text(source)
    for name in ("server", "tui", "themes"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(source)


@pytest.fixture
def spinney(built: Path, tmp_path: Path) -> Program:
    """The installed program, with conflicting modules in its directory and on PYTHONPATH."""
    modules = tmp_path / "modules"
    program = Program(
        tmp_path, (str(built / "venv" / "bin" / "spinney"),), {"PYTHONPATH": str(modules)}
    )
    write_conflicting_modules(modules)
    write_conflicting_modules(program.cwd)
    return program


def names_in_wheel(built: Path) -> set[str]:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def source_files() -> set[str]:
    """Every file of the program's folders, which the wheel should contain."""
    folders = ("model", "server", "tui", "themes")
    found = (path for name in folders for path in (ROOT / name).rglob("*") if path.is_file())
    return {str(p.relative_to(ROOT)) for p in found if "__pycache__" not in p.parts}


@pytest.mark.core
def test_the_wheel_contains_exactly_the_program(built: Path) -> None:
    names = names_in_wheel(built)
    assert set(NEEDED) <= names
    program = {name for name in names if ".dist-info/" not in name}
    [manual] = [name for name in program if ".data/" in name]
    assert manual.endswith("/share/man/man1/spinney.1")
    assert program - {manual} == source_files() | {"spinney.py"}


def test_the_wheel_contains_the_licenses(built: Path) -> None:
    names = {name.partition(".dist-info/")[2] for name in names_in_wheel(built)}
    assert {"licenses/LICENSE", "licenses/THIRD-PARTY.md"} <= names


def test_the_sdist_contains_sources_tests_and_documents(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    papers = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"}
    assert papers | {*NEEDED, "Makefile", "constraints.txt", "docs/architecture.md"} <= names
    assert "tests/test_packaging.py" in names
    assert not [name for name in names if name.startswith((".venv", ".tools", ".git/"))]


def test_version_and_help_ignore_conflicting_modules(spinney: Program) -> None:
    assert spinney.run("--version").stdout.startswith("spinney ")
    assert "examples:" in spinney.run("--help").stdout


def test_doctor_ignores_conflicting_modules(spinney: Program) -> None:
    found = json.loads(spinney.run("doctor", "--json").stdout)
    assert {"git", "Claude Code", "data"} <= {finding["name"] for finding in found}


@pytest.mark.core
def test_serve_ignores_conflicting_modules(spinney: Program) -> None:
    with spinney.serving() as server:
        assert spinney.run_call("list_projects") == []
        with urllib.request.urlopen(server.base_url, timeout=PATIENCE) as page:
            assert page.status == 200
            assert b"<html" in page.read()


def test_the_demo_agent_works_in_a_repository_with_conflicting_modules(spinney: Program) -> None:
    write_conflicting_modules(spinney.place / "alpha")
    repository = spinney.make_repository("alpha")
    with spinney.serving("--demo"):
        project = spinney.run_call("add_project", f"path={repository}")
        worktree = spinney.run_call("create_worktree", f"projectId={project['id']}")
        _wait_for_status(
            lambda: spinney.run_call("get_worktree", f"worktreeId={worktree['id']}"), "ready"
        )
        session = spinney.run_call(
            "create_session", f"worktreeId={worktree['id']}", "backend=demo", "executionMode=yolo"
        )
        argument = f"sessionId={session['id']}"
        spinney.run_call("send_chat_message", argument, "message=/demo write a.txt: Hello")
        _wait_for_status(lambda: spinney.run_call("get_session", argument), "idle")
    assert (Path(worktree["path"]) / "a.txt").read_text().strip() == "Hello"


def _wait_for_status(read: object, status: str) -> None:
    """Poll the resource until it has this status."""
    assert callable(read)
    end = time.monotonic() + PATIENCE
    while (found := read())["status"] != status:
        assert time.monotonic() < end, found


@pytest.mark.core
def test_the_terminal_ignores_conflicting_modules_and_leaves_no_files(spinney: Program) -> None:
    with spinney.on_a_terminal("demo") as terminal:
        terminal.wait_for_text("first-steps")
        terminal.write(b"\x11")  # ctrl+q
        terminal.read_to_end()
        assert terminal.process.wait(timeout=PATIENCE) == 0
    assert list(spinney.temporary.iterdir()) == []
