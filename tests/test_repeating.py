"""A failed test of a whole tier runs again alone, unless it is of a kind that never does."""

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.flaky import LIFETIME, MOST, read_flaky_tests
from tests.model.git.repository import Repository
from tests.program import ROOT
from tests.repeating import judge, passes_alone

ONCE = """\
def test_{name}(tmp_path):
    from pathlib import Path
    ran = Path(__file__).with_name("{name}.ran")
    is_first = not ran.exists()
    ran.touch()
    (tmp_path / "screen.txt").write_text("drawn")
    print("printed")
    assert not is_first, "chance"
"""
CHANCE = f"""\
import os
import pytest

@pytest.fixture(autouse=True)
def environment(monkeypatch):
    "Removes variables until the end of a test, as the tests of real programs do."
    for name in list(os.environ):
        if name.startswith("SPINNEY_"):
            monkeypatch.delenv(name)

def test_before():
    pass

{ONCE.format(name="once")}
"""
FAULTS = f"""\
import os
from hypothesis import given, strategies

{ONCE.format(name="once")}
def test_always():
    assert not "found"

@given(strategies.none())
def test_examples(nothing):
    assert os.environ.get("SPINNEY_TESTS_REPEAT") != "1"

def test_crash():
    os._exit(3)
"""
FIXTURES = """\
import pytest

seen = []

@pytest.fixture(scope="module")
def shared():
    yield
    assert not seen, "spoiled"

def test_spoils(shared):
    seen.append(1)

def test_spoiled(shared):
    pass
"""
WITHOUT_GIT = """\
def test_without_git(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert not "found"
"""
WRAPPING = """\
from functools import wraps

def wrapped(test):
    @wraps(test)
    def call(**fixtures):
        test(**fixtures)
    return call
"""
WRAPPED = f"""\
from wrapping import wrapped
{chr(10) * 20}
@wrapped
{ONCE.format(name="wrapped")}"""
OLD = "2001-01-01T00:00:00Z"
TODAY = date(2026, 3, 31)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A suite of two files, long before HEAD."""
    made = Repository(tmp_path / "suite")
    made.root.mkdir()
    made.git("init", "--quiet")
    made.write("test_suite.py", CHANCE)
    made.write("test_faults.py", FAULTS)
    made.write("test_landing.py", ONCE.format(name="landing"))
    made.write("test_fixtures.py", FIXTURES)
    made.write("test_without_git.py", WITHOUT_GIT)
    made.write("wrapping.py", WRAPPING)
    made.write("test_wrapped.py", WRAPPED.replace("chance", "once"))
    made.git("add", "--all")
    with pytest.MonkeyPatch.context() as patch:
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_DATE", OLD)
        made.git("commit", "--message", "Old")
    made.commit("test_new.py", ONCE.format(name="new"))
    made.commit("test_wrapped.py", WRAPPED)
    return made


def run_tier(repository: Repository, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run files as a whole tier."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environ |= {"PYTHONPATH": str(ROOT), "SPINNEY_TESTS_REPEAT": "1", "SPINNEY_DELAYS": "7"}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # starts in half of the time
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.repeating", *arguments],
        cwd=repository.root,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_one_that_fails_once_is_named_with_its_circumstances_and_does_not_refuse(
    repository: Repository,
) -> None:
    ran = run_tier(repository, "-p", "xdist", "-n", "1", "test_suite.py")
    assert ran.returncode == 0, ran.stdout
    lines = ran.stdout.splitlines()
    assert "1 passed when repeated" in lines[-1]
    named = next(number for number, line in enumerate(lines) if line.startswith("REPEATED"))
    assert lines[named].startswith("REPEATED test_suite.py::test_once (call, gw0; load ")
    assert lines[named].endswith("; seeds: delays 7)")
    assert lines[named + 1].strip() == "before it: test_suite.py::test_before"
    assert "AssertionError: chance" in ran.stdout and "printed" in ran.stdout
    kept = repository.root / lines[named + 2].partition("kept: ")[2]
    assert "printed" in (kept / "call.txt").read_text()
    assert (kept / "files/screen.txt").read_text() == "drawn"


def test_red_stays_red_and_says_why_beside_one_that_fails_once(repository: Repository) -> None:
    files = ["test_faults.py", "test_landing.py", "test_new.py"]
    ran = run_tier(repository, "-p", "xdist", "-n", "1", *files)
    assert ran.returncode == 1, ran.stdout
    assert "REPEATED test_faults.py::test_once" in ran.stdout
    assert "RED test_faults.py::test_always: did not pass when repeated alone" in ran.stdout
    assert "RED test_faults.py::test_examples: never repeated: tests with generated" in ran.stdout
    assert "RED test_faults.py::test_crash: never repeated: it did not end" in ran.stdout
    assert "RED test_landing.py::test_landing: never repeated: tests of its kind" in ran.stdout
    assert "RED test_new.py::test_new: never repeated: the change touches it" in ran.stdout
    assert "5 failed, 1 passed when repeated" in ran.stdout.splitlines()[-1]


def test_what_a_fixture_or_another_git_leaves_hides_no_red(repository: Repository) -> None:
    files = ["test_fixtures.py", "test_without_git.py", "test_wrapped.py"]
    ran = run_tier(repository, "-p", "xdist", "-n", "1", *files)
    assert ran.returncode == 1, ran.stdout
    assert "RED test_fixtures.py::test_spoiled: did not pass when repeated" in ran.stdout
    assert "RED test_without_git.py::test_without_git: did not pass when" in ran.stdout
    assert "RED test_wrapped.py::test_wrapped: never repeated: the change touches it" in ran.stdout


def test_a_run_that_stopped_at_a_failure_stays_red(repository: Repository) -> None:
    ran = run_tier(repository, "-x", "test_suite.py", "test_faults.py")
    assert ran.returncode != 0, ran.stdout
    assert "REPEATED" not in ran.stdout


def test_an_expired_entry_makes_a_run_red_in_which_everything_passed(
    repository: Repository,
) -> None:
    expired = '[[test]]\nname = "tests/test_a.py::test_a"\nkind = "unknown"\ndate = 2001-01-01\n'
    repository.write("tests/flaky.toml", expired)
    ran = run_tier(repository, "test_suite.py::test_before")
    assert ran.returncode == 1, ran.stdout
    assert "RED flaky.toml: tests/test_a.py::test_a is in flaky.toml since 2001" in ran.stdout


@pytest.mark.parametrize(
    ("failed", "listed", "yellow"),
    [
        ("ab", "", "ab"),
        ("abc", "", ""),
        ("abc", "b", "abc"),
        ("abcd", "b", "b"),
        ("aX", "", "a"),
        ("aX", "X", "a"),
        ("Xab", "", ""),
    ],
)
def test_at_most_two_may_pass_when_repeated_besides_those_in_the_list(
    failed: str, listed: str, yellow: str
) -> None:
    verdict = judge(dict.fromkeys(failed, ""), set(listed), lambda name: name != "X")
    assert verdict.yellow == list(yellow)
    assert set(verdict.red) == set(failed) - set(yellow)


@pytest.mark.parametrize(
    ("body", "passes"),
    [("pass", True), ("pytest.skip('no')", False), ("pytest.xfail('no')", False)],
)
def test_only_one_that_really_passes_alone_is_no_failure(
    tmp_path: Path, body: str, passes: bool
) -> None:
    (tmp_path / "test_suite.py").write_text(f"import pytest\n\ndef test_it():\n    {body}\n")
    assert passes_alone("test_suite.py::test_it", tmp_path) == passes


@pytest.mark.short
def test_what_is_never_repeated_does_not_run_again() -> None:
    ran: list[str] = []
    verdict = judge({"a": "it did not end", "b": ""}, {"a"}, lambda name: not ran.append(name))
    assert (ran, verdict.yellow) == (["b"], ["b"])
    assert verdict.red == {"a": "never repeated: it did not end"}


def write_list(file: Path, *days_old: int) -> Path:
    file.write_text(
        "\n".join(
            f'[[test]]\nname = "t{number}"\nkind = "read too early"\n'
            f"date = {TODAY - timedelta(days)}"
            for number, days in enumerate(days_old)
        )
    )
    return file


def test_entries_of_the_list_expire_and_are_few(tmp_path: Path) -> None:
    file = tmp_path / "flaky.toml"
    assert read_flaky_tests(file, TODAY).problems == ()
    days = LIFETIME.days
    listed = read_flaky_tests(write_list(file, *[days] * MOST), TODAY)
    assert (len(listed.kinds), listed.kinds["t0"], listed.problems) == (MOST, "read too early", ())
    (expired,) = read_flaky_tests(write_list(file, 0, days + 1), TODAY).problems
    assert expired.startswith("t1 is in flaky.toml since") and expired.endswith("2026-03-30")
    (many,) = read_flaky_tests(write_list(file, *[0] * (MOST + 1)), TODAY).problems
    assert "at most 10" in many
    (early,) = read_flaky_tests(write_list(file, -2), TODAY).problems
    assert "still to come" in early
    file.write_text(f"{write_list(file, 0).read_text()}\n" * 2)
    (twice,) = read_flaky_tests(file, TODAY).problems
    assert "names a test twice" in twice
    file.write_text(write_list(file, 0).read_text().replace("[[test]]", "[[tests]]"))
    (other,) = read_flaky_tests(file, TODAY).problems
    assert "[[test]] tables only, not tests" in other
    for wrong in ("[[test]", '[[test]]\nname = "t"', "test = 1", '[[test]]\ndate = "x"'):
        file.write_text(wrong)
        (problem,) = read_flaky_tests(file, TODAY).problems
        assert "needs name, kind and date" in problem


@pytest.mark.short
def test_the_list_of_this_suite_can_be_read() -> None:
    listed = read_flaky_tests(ROOT / "tests/flaky.toml", TODAY)
    assert listed.problems == ()
    assert all((ROOT / name.partition("::")[0]).is_file() for name in listed.kinds)
