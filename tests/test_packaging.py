"""What people install: the wheel in an environment of its own, run from a folder full of traps."""

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
"""One of each kind of file that the program cannot do without."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Path]:
    """A folder with wheel, sdist and an environment with the wheel; one for all test processes."""
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
    _succeeds([*build, "--wheel", "--sdist", str(ROOT)])
    wheel = next(folder.glob("*.whl"))
    venv.create(folder / "venv", with_pip=False)
    python = str(folder / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    constraints = str(ROOT / "constraints.txt")
    _succeeds([*pip, "install", "--no-compile", "--constraint", constraints, str(wheel)])


def _succeeds(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def lay_traps(folder: Path) -> None:
    """Modules of our own names, each of which ends the program that imports it."""
    folder.mkdir(exist_ok=True)
    trap = "raise SystemExit('a module that lies about was imported')\n"
    (folder / "model.py").write_text(trap)
    for name in ("server", "tui", "themes"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(trap)


@pytest.fixture
def spinney(built: Path, tmp_path: Path) -> Program:
    """The installed program, started where traps lie, with more of them on PYTHONPATH."""
    traps = tmp_path / "traps"
    program = Program(
        tmp_path, (str(built / "venv" / "bin" / "spinney"),), {"PYTHONPATH": str(traps)}
    )
    lay_traps(traps)
    lay_traps(program.cwd)
    return program


def names_in_wheel(built: Path) -> set[str]:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def source_files() -> set[str]:
    """Every file of the program's folders, as the wheel should hold it."""
    folders = ("model", "server", "tui", "themes")
    found = (path for name in folders for path in (ROOT / name).rglob("*") if path.is_file())
    return {str(p.relative_to(ROOT)) for p in found if "__pycache__" not in p.parts}


def test_the_wheel_holds_all_that_the_program_needs_and_no_more(built: Path) -> None:
    names = names_in_wheel(built)
    assert set(NEEDED) <= names
    program = {name for name in names if ".dist-info/" not in name}
    assert program == source_files() | {"spinney.py"}


def test_the_wheel_carries_the_licences(built: Path) -> None:
    names = {name.partition(".dist-info/")[2] for name in names_in_wheel(built)}
    assert {"licenses/LICENSE", "licenses/THIRD-PARTY.md"} <= names


def test_the_sdist_holds_what_building_testing_and_reading_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    papers = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"}
    assert papers | {*NEEDED, "Makefile", "constraints.txt", "docs/architecture.md"} <= names
    assert "tests/test_packaging.py" in names
    assert not [name for name in names if name.startswith((".venv", ".tools", ".git/"))]


def test_it_tells_version_and_help_among_traps(spinney: Program) -> None:
    assert spinney.run("--version").stdout.startswith("spinney ")
    assert "examples:" in spinney.run("--help").stdout


def test_doctor_works_among_traps(spinney: Program) -> None:
    found = json.loads(spinney.run("doctor", "--json").stdout)
    assert {"git", "Claude Code", "data"} <= {finding["name"] for finding in found}


def test_it_serves_commands_and_the_page_among_traps(spinney: Program) -> None:
    with spinney.serving() as server:
        assert spinney.called("list_projects") == []
        with urllib.request.urlopen(server.base_url, timeout=PATIENCE) as page:
            assert page.status == 200
            assert b"<html" in page.read()


def test_its_demo_agent_works_in_a_repository_that_holds_traps(spinney: Program) -> None:
    lay_traps(spinney.place / "alpha")
    repository = spinney.made_repository("alpha")
    with spinney.serving("--demo"):
        project = spinney.called("add_project", f"path={repository}")
        worktree = spinney.called("create_worktree", f"projectId={project['id']}")
        _eventually(lambda: spinney.called("get_worktree", f"worktreeId={worktree['id']}"), "ready")
        session = spinney.called(
            "create_session", f"worktreeId={worktree['id']}", "backend=demo", "executionMode=yolo"
        )
        named = f"sessionId={session['id']}"
        spinney.called("send_chat_message", named, "message=/demo write a.txt: Hello")
        _eventually(lambda: spinney.called("get_session", named), "idle")
    assert (Path(worktree["path"]) / "a.txt").read_text().strip() == "Hello"


def _eventually(look: object, status: str) -> None:
    """Ask until the resource has this status."""
    assert callable(look)
    end = time.monotonic() + PATIENCE
    while (found := look())["status"] != status:
        assert time.monotonic() < end, found


def test_its_terminal_opens_among_traps_and_leaves_nothing_behind(spinney: Program) -> None:
    with spinney.on_a_terminal("demo") as terminal:
        terminal.shows("first-steps")
        terminal.write(b"\x11")  # ctrl+q
        terminal.read_to_end()
        assert terminal.process.wait(timeout=PATIENCE) == 0
    assert list(spinney.temporary.iterdir()) == []
