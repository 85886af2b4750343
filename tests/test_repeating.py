"""A failed test of a whole tier runs again alone, unless it is of a kind that never does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.git.repository import Repository
from tests.program import ROOT

ALWAYS = "def test_it():\n    assert not 'found'\n"
ONCE = """\
from pathlib import Path

def test_it{case}():
    ran = Path(__file__).with_suffix(".ran{case}")
    is_first = not ran.exists()
    ran.touch()
    assert not is_first, "chance"
"""
EXAMPLES = """\
from hypothesis import given, strategies
from pathlib import Path

@given(strategies.none())
def test_it(nothing):
    ran = Path(__file__).with_suffix(".ran")
    is_first = not ran.exists()
    ran.touch()
    assert not is_first
"""
ISOLATED = """\
import os
import pytest

@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith("SPINNEY_"):
            monkeypatch.delenv(name)

"""
"""Removes variables until the end of a test, as the tests of real programs do."""
OLD = "2001-01-01T00:00:00Z"


def run_suite(
    repository: Repository, name: str, text: str, *options: str
) -> "subprocess.CompletedProcess[str]":
    """Commit a test file, long before HEAD, and run it as a whole tier."""
    repository.commit(name, text)
    with pytest.MonkeyPatch.context() as patch:
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_DATE", OLD)
        repository.git("commit", "--amend", "--no-edit", "--reset-author", f"--date={OLD}")
    repository.commit("read.me", "newer\n")
    return run_pytest(repository, name, *options)


def run_pytest(
    repository: Repository, name: str, *options: str
) -> "subprocess.CompletedProcess[str]":
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environ |= {"PYTHONPATH": str(ROOT), "SPINNEY_TESTS_REPEAT": "1"}
    if not options:
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # starts in half of the time
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.repeating", *options, name],
        cwd=repository.root,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "suite")
    made.root.mkdir()
    made.git("init", "--quiet")
    return made


@pytest.mark.parametrize("environment", ["", ISOLATED])
def test_one_that_fails_once_is_named_and_does_not_refuse(
    repository: Repository, environment: str
) -> None:
    text = environment + ONCE.format(case="")
    ran = run_suite(repository, "test_suite.py", text, "-n", "1")
    assert ran.returncode == 0, ran.stdout
    assert "REPEATED test_suite.py::test_it (call, gw0)" in ran.stdout
    assert "AssertionError: chance" in ran.stdout
    assert "1 passed when repeated" in ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("test_suite.py", ALWAYS, ""),
        ("test_suite.py", "\n".join(ONCE.format(case=f"_{n}") for n in "abc"), "more than 2"),
        ("test_landing.py", ONCE.format(case=""), "tests of its kind"),
        ("test_suite.py", EXAMPLES, "generated examples"),
        ("test_suite.py", "import os\n\ndef test_it():\n    os._exit(3)\n", "it did not end"),
    ],
    ids=["always", "many", "landing", "examples", "crash"],
)
def test_red_stays_red(repository: Repository, name: str, text: str, reason: str) -> None:
    options = ["-n", "1"] if "_exit" in text else []
    ran = run_suite(repository, name, text, *options)
    assert ran.returncode == 1, ran.stdout
    assert ("No test was repeated" in ran.stdout) == bool(reason)
    assert reason in ran.stdout


def test_a_test_that_the_change_touches_is_not_repeated(repository: Repository) -> None:
    assert run_suite(repository, "test_suite.py", ONCE.format(case="")).returncode == 0
    repository.write("test_suite.py", ONCE.format(case="").replace("chance", "changed"))
    (repository.root / "test_suite.ran").unlink()
    ran = run_pytest(repository, "test_suite.py")
    assert ran.returncode == 1
    assert "test_suite.py::test_it: the change touches it" in ran.stdout
