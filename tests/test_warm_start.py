"""A Spinney that starts from a process that has imported it is a process like any other."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.program import FROM_SOURCE, ROOT, Program, until
from tests.warm_start import STARTED_AT, WarmProcess, has_same_interpreter

SHOW = """
import json, os, sys, time
print(json.dumps({
    "pid": os.getpid(), "argv": sys.argv, "path": sys.path[0], "directory": os.getcwd(),
    "environ": dict(os.environ), "time": time.strftime("%H", time.gmtime(0)),
    "local": time.strftime("%H", time.localtime(0)), "open": sorted(os.listdir("/dev/fd"))[:4],
    "session": os.getsid(0), "tty": sys.stdout.isatty(), "input": sys.stdin.read(),
}))
print("to errors", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


def start(tmp_path: Path, script: str, *words: str, **options: object) -> WarmProcess:
    """Run a script in place of `spinney.py`."""
    (tmp_path / "script.py").write_text(script)
    command = (sys.executable, str(tmp_path / "script.py"), *words)
    environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC+5", "OWN": "yes"}
    given: dict[str, object] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return WarmProcess(command, cwd=tmp_path, env=environ, **given | options)


def test_it_has_its_own_streams_directory_environment_and_exit_code(tmp_path: Path) -> None:
    process = start(tmp_path, SHOW, "7", stderr=subprocess.PIPE, start_new_session=True)
    out, errors = process.communicate("typed", timeout=PATIENCE)
    assert (process.returncode, errors) == (7, "to errors\n")
    shown = json.loads(out)
    assert shown["pid"] == shown["session"] == process.pid
    assert shown["argv"] == [str(tmp_path / "script.py"), "7"]
    assert shown["directory"] == str(tmp_path)
    assert set(shown["environ"]) == {"PATH", "LANG", "TZ", "OWN"}
    assert (shown["time"], shown["local"]) == ("00", "19")
    assert shown["open"] == ["0", "1", "2", "3"]  # the fourth lists them
    assert (shown["tty"], shown["input"]) == (False, "typed")


@pytest.mark.parametrize(
    ("script", "code", "errors"),
    [
        ("import sys; sys.exit('It has failed.')", 1, "It has failed.\n"),
        ("import sys; sys.exit()", 0, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
        ("import atexit, sys; atexit.register(print, 'last', file=sys.stderr)", 0, "last\n"),
    ],
)
def test_it_ends_as_python_does(tmp_path: Path, script: str, code: int, errors: str) -> None:
    process = start(tmp_path, script, stderr=subprocess.PIPE)
    assert process.communicate(timeout=PATIENCE)[1] == errors
    assert process.returncode == code


def test_an_error_that_nothing_catches_is_printed(tmp_path: Path) -> None:
    process = start(tmp_path, "raise ValueError('no such tree')", stderr=subprocess.PIPE)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert errors.endswith("ValueError: no such tree\n")


def test_a_thread_of_it_may_end_later(tmp_path: Path) -> None:
    script = "import threading, time; threading.Timer(0.05, print, ['late']).start()"
    assert start(tmp_path, script).communicate(timeout=PATIENCE)[0] == "late\n"


def test_its_end_is_noticed_by_polling_and_by_a_timeout(tmp_path: Path) -> None:
    process = start(tmp_path, "import sys; sys.stdin.read()")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.01)
    process.terminate()
    until(lambda: process.poll() is not None, "it has ended")
    assert process.returncode == -signal.SIGTERM
    process.communicate(timeout=PATIENCE)


def test_one_does_not_change_what_the_next_one_imports(tmp_path: Path) -> None:
    change = "import model; model.__version__ = 'other'; print(model.__version__)"
    assert start(tmp_path, change).communicate(timeout=PATIENCE)[0] == "other\n"
    look = "import model; print(model.__version__)"
    assert start(tmp_path, look).communicate(timeout=PATIENCE)[0] != "other\n"


def test_what_notes_the_time_of_its_import_notes_that_of_the_start(tmp_path: Path) -> None:
    show = "import sys; from model.git import replacing; print(replacing._STARTED_AT)"
    assert start(tmp_path, show).communicate(timeout=PATIENCE)[0]
    before = time.time()
    assert float(start(tmp_path, show).communicate(timeout=PATIENCE)[0]) >= before
    noted = re.compile(r"^(\w+)\b[^\n(]*= (?:time\.)?(?:time|monotonic|perf_counter)\(\)", re.M)
    found = {
        (".".join(file.relative_to(ROOT).with_suffix("").parts), name)
        for package in ("model", "server", "tui", "themes")
        for file in (ROOT / package).rglob("*.py")
        for name in noted.findall(file.read_text())
    }
    assert found == set(STARTED_AT)


def test_other_settings_of_the_interpreter_need_a_start_of_their_own() -> None:
    assert has_same_interpreter({"LANG": "C.UTF-8", "HOME": "/"})
    assert not has_same_interpreter({"LANG": "C"})
    assert not has_same_interpreter({"LANG": "C.UTF-8", "LC_ALL": "C"})
    assert not has_same_interpreter({"LANG": "C.UTF-8", "PYTHONUTF8": "0"})


def test_spinney_starts_so_unless_it_shall_not(tmp_path: Path) -> None:
    version = (*FROM_SOURCE, "--version")
    for is_warm in (True, False):
        program = Program(tmp_path, is_warm=is_warm)
        with program.open_process(version, stdout=subprocess.PIPE, text=True) as process:
            assert process.communicate(timeout=PATIENCE)[0].startswith("spinney ")
        assert isinstance(process, WarmProcess) == is_warm
