"""Directories of Spinney, and atomic writes of files."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, resolve_directories, write_atomically

ROOT = Path(__file__).parents[3]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def temporary_files(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(".tmp")]


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_environment_overrides_both_directories(tmp_path: Path) -> None:
    found = resolve_directories(
        {
            "HOME": str(tmp_path),
            "SPINNEY_CONFIG_DIR": str(tmp_path / "c"),
            "SPINNEY_DATA_DIR": str(tmp_path / "d"),
        }
    )
    assert found.preferences == tmp_path / "c" / "preferences.json"
    assert found.models == tmp_path / "c" / "models.toml"
    assert [path.name for path in (found.database, found.server, found.lock, found.log)] == [
        "spinney.db", "server.json", "spinney.lock", "spinney.log",
    ]  # fmt: skip
    assert found.database.parent == tmp_path / "d"
    assert found.worktrees_home == tmp_path / "spinney"


def test_an_empty_variable_is_ignored() -> None:
    found = resolve_directories({"HOME": "/h", "SPINNEY_CONFIG_DIR": "", "SPINNEY_DATA_DIR": ""})
    assert found.config.is_absolute()
    assert found.config.name == "spinney"


@pytest.mark.parametrize("chosen", [None, "", "/elsewhere"])
def test_the_default_directories_are_those_of_the_system(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
        if chosen is not None:
            monkeypatch.setenv(name, chosen)
    found = resolve_directories({"HOME": "/h"})
    assert found.config == platformdirs.user_config_path("spinney", False)
    assert found.data == platformdirs.user_data_path("spinney", False)


def test_a_relative_directory_is_resolved_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve_directories({"HOME": "/h", "SPINNEY_CONFIG_DIR": "c"}).config == tmp_path / "c"


def test_new_directories_are_private_even_under_an_open_umask(
    tmp_path: Path, open_umask: None
) -> None:
    found = resolve_directories(
        {
            "HOME": str(tmp_path),
            "SPINNEY_CONFIG_DIR": str(tmp_path / "a" / "c"),
            "SPINNEY_DATA_DIR": str(tmp_path / "a" / "d"),
        }
    )
    found.create()
    found.create()
    assert {mode(path) for path in (found.config, found.data, found.worktrees_home)} == {0o700}


def test_an_existing_directory_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    create_private_directory(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_file_in_the_way_of_a_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(SpinneyError, match="should be a folder but is a file"):
        create_private_directory(tmp_path / "x")


def test_a_file_is_private_even_under_an_open_umask(tmp_path: Path, open_umask: None) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomically(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
    write_atomically(tmp_path / "f", bytes(range(256)))
    assert (tmp_path / "f").read_bytes() == bytes(range(256))


def test_a_file_is_saved_though_its_temporary_file_is_cleared_away_once(tmp_path: Path) -> None:
    cleared = []

    def clear() -> None:
        if not cleared:
            [temporary] = tmp_path.iterdir()
            temporary.unlink()
            cleared.append(temporary)

    write_atomically(tmp_path / "f", b"new", before_rename=clear)
    assert cleared and (tmp_path / "f").read_bytes() == b"new"


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_a_failure_at_any_call_leaves_the_old_or_the_new_file_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    path = tmp_path / "f"
    real = getattr(os, call)
    real_write = os.write
    for failing in range(1, 8):
        path.write_bytes(b"old")
        calls = 0

        def fails(fd: int, *data: bytes, failing: int = failing) -> int:
            nonlocal calls
            calls += 1
            if calls == failing:
                raise OSError(number, os.strerror(number))
            return real_write(fd, data[0][:3]) if data else real(fd)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, fails)
            try:
                write_atomically(path, b"new content")
                expected = b"new content"
            except SpinneyError as error:
                expected = b"old"
                assert "could not be saved" in error.message
                assert error.message.startswith("The disk is full") == (number != errno.EIO)
        assert path.read_bytes() == expected
        assert temporary_files(tmp_path) == []


def test_a_full_disk_is_reported_and_the_old_file_is_kept(tmp_path: Path) -> None:
    script = """
import resource, sys, pathlib
from model.base.paths import write_atomically
from model.base.errors import SpinneyError
path = pathlib.Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    write_atomically(path, b"x" * 200_000)
except SpinneyError as error:
    print(error.message)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
assert path.read_bytes() == b"old"
write_atomically(path, b"x" * 200_000)
"""
    path = tmp_path / "f"
    path.write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == (
        f"The disk is full: {path} could not be saved. Free some space and try again."
    )
    assert path.stat().st_size == 200_000


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(SpinneyError, match="no permission to write"):
            write_atomically(tmp_path / "f", b"")
    finally:
        tmp_path.chmod(0o700)


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="could not be saved: No such file"):
        write_atomically(tmp_path / "none" / "f", b"")


def test_temporary_files_of_dead_writers_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = tmp_path / f".f.{ended.pid}.abcd1234.tmp"
    living = tmp_path / f".f.{os.getpid()}.abcd1234.tmp"
    other = tmp_path / f".g.{ended.pid}.abcd1234.tmp"
    for path in (dead, living, other):
        path.write_bytes(b"")
    write_atomically(tmp_path / "f", b"")
    assert set(temporary_files(tmp_path)) == {living.name, other.name}


def test_an_exception_of_before_rename_stops_the_write(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def refuse() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        write_atomically(path, b"new", before_rename=refuse)
    assert path.read_bytes() == b"old"
    assert temporary_files(tmp_path) == []


KILLED_WRITER = """
import os, random, signal, sys, time
from pathlib import Path
from model.base.paths import write_atomically

path = Path(sys.argv[1])
contents = [bytes([65 + n]) * 300_000 for n in range(4)]
write_atomically(path, contents[0])
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        while True:
            for content in contents:
                write_atomically(path, content)
    time.sleep(random.uniform(0.02, 0.12))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.read_bytes() in contents
    assert len(list(path.parent.glob("*.tmp")) + list(path.parent.glob(".*.tmp"))) <= 2
write_atomically(path, contents[0])
assert not list(path.parent.glob(".*.tmp"))
"""


def test_a_writer_killed_at_any_moment_leaves_a_complete_file(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", KILLED_WRITER, str(tmp_path / "f"), "30"],
        cwd=ROOT, timeout=60, check=True,
    )  # fmt: skip
