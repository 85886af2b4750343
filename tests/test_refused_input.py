"""Paths that the system refuses to look at, and values that are not JSON, on the command line.

Each is answered by one sentence and an exit code.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spinney
from tests.program import Program

LONG = "/tmp/" + "a" * 300
NESTED = '{"sessionId":' + "[" * 3000 + "]" * 3000 + "}"
NESTED_OBJECT = '{"sessionId":' + '{"a":' * 980 + "1" + "}" * 981

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("refused"))
    with program.serving("--demo"):
        yield program


@pytest.fixture
def run(
    served: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Runs a command line in this process; returns code, stdout and stderr."""
    monkeypatch.chdir(served.cwd)
    for name, value in served.environ.items():
        monkeypatch.setenv(name, value)

    def run_here(*words: str) -> tuple[int, str, str]:
        code = spinney.main(list(words))
        return code, *capsys.readouterr()

    return run_here


@pytest.fixture(params=["denied", "long", "loop", "unknown user"])
def refused(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A path that cannot be looked at."""
    match request.param:
        case "denied":
            folder = tmp_path / "locked"
            folder.mkdir(mode=0)
            # The superuser of a container enters any folder, but not that of the first process.
            found = [each for each in (str(folder), "/proc/1/root") if not can_enter(each)]
            if not found:
                pytest.skip("this user may enter every folder")
            yield f"{found[0]}/x"
            folder.chmod(0o700)
        case "long":
            yield LONG
        case "loop":
            loop = tmp_path / "loop"
            loop.symlink_to(loop)
            yield str(loop / "x")
        case _:
            yield "~nobody-has-this-name/x"


def can_enter(folder: str) -> bool:
    try:
        os.stat(f"{folder}/x")  # noqa: PTH116
    except PermissionError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize(
    "line",
    [
        "call add_project path={}",
        "new --project {} hi",
        "new --file {}",
        "sessions --project {}",
        "why {}:1",
        "export --from {} out",
    ],
)
def test_a_path_that_cannot_be_looked_at_is_refused_in_a_sentence(
    run: Run, refused: str, line: str
) -> None:
    code, out, errors = run(*(word.format(refused) for word in line.split()))
    assert (code, out) == (4, "")
    assert errors.startswith("spinney: ") and errors.count("\n") == 1


def test_nothing_is_exported_to_such_a_path(run: Run, refused: str) -> None:
    code, out, errors = run("export", refused)
    assert code in (1, 4) and out == ""
    assert errors.startswith("spinney: ") and errors.count("\n") == 1


@pytest.mark.parametrize("variable", ["SPINNEY_DATA_DIR", "SPINNEY_CONFIG_DIR", "HOME"])
def test_doctor_reports_directories_that_it_cannot_look_at(
    run: Run, monkeypatch: pytest.MonkeyPatch, refused: str, variable: str
) -> None:
    monkeypatch.setenv(variable, refused)
    code, out, errors = run("doctor")
    if refused.startswith("~") and variable != "HOME":
        assert (code, out) == (4, "")
        assert errors == (
            f"spinney: The home directory of {refused} is unknown. Write the whole path, or set "
            "HOME.\n"
        )
    else:
        assert (code, errors) == (1, "")
        assert "git" in out and refused in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["get_session", NESTED], 2, "nested too deeply"),
        (["get_session", NESTED_OBJECT], 2, "nested too deeply"),
        (["get_session", '{"sessionId":NaN}'], 2, "not finite"),
        (["get_session", '{"sessionId":[-Infinity]}'], 2, "not finite"),
        (["get_messages", "sessionId=x", "limit=1e400"], 1, "must be a whole number"),
        (["get_messages", "sessionId=x", "limit=NaN"], 1, "must be a whole number"),
        (["get_session", "sessionId=" + "[" * 3000], 4, "Session not found: ["),
        (["get_session", "sessionId=NaN"], 4, "Session not found: NaN"),
    ],
)
def test_what_is_not_json_is_refused_at_once(
    run: Run, words: list[str], code: int, message: str
) -> None:
    found, out, errors = run("call", *words)
    assert (found, out) == (code, "")
    assert message in errors and errors.count("\n") == 1
