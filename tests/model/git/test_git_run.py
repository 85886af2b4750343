"""Running git: results, errors, time limits, locks and environment."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git import run
from model.git.run import git, git_version
from tests.model.backends.agents import is_running, wait_until
from tests.model.git.repository import Repository
from tests.patience import PATIENCE


async def test_a_result_has_text_bytes_and_an_exit_code(repository: Repository) -> None:
    output = await git(repository.root, "show", "HEAD:read.me")
    assert output.stdout == "one\ntwo\nthree"
    assert output.raw_stdout == b"one\ntwo\nthree\n"
    assert output.returncode == 0


async def test_a_failure_raises_gits_message(repository: Repository) -> None:
    with pytest.raises(SpinneyError) as failed:
        await git(repository.root, "show", "nowhere")
    assert failed.value.error_type == "git_error"
    assert failed.value.message.startswith("ambiguous argument 'nowhere'")


async def test_credentials_and_control_bytes_stay_out_of_errors(repository: Repository) -> None:
    with pytest.raises(SpinneyError) as failed:
        await git(repository.root, "fetch", "http://me:secret@127.0.0.1:1/x\x1b]0;t\x07.git")
    assert "secret" not in failed.value.message
    assert "\x1b" not in failed.value.message
    assert "127.0.0.1" in failed.value.message


async def test_a_missing_directory_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="directory is missing") as failed:
        await git(tmp_path / "gone", "status")
    assert failed.value.error_type == "not_found"


async def test_a_directory_is_never_mistaken_for_the_repository_around_it(
    repository: Repository,
) -> None:
    inner = repository.root / "inner"
    inner.mkdir()
    with pytest.raises(SpinneyError, match="no longer a git worktree"):
        await git(inner, "status")


async def test_arguments_that_git_cannot_accept_are_refused(repository: Repository) -> None:
    for text in ("a\0b", "\ud800"):
        with pytest.raises(SpinneyError, match="does not accept"):
            await git(repository.root, "show", text)


async def test_a_hanging_git_is_killed_with_its_child_processes(
    repository: Repository,
    fake_git: Callable[[str], None],
    delay_timeout: Callable[[str, Path], None],
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    fake_git(
        f'case "$*" in *--version*|*" config "*|config*) exec "$real_git" "$@";; esac\n'
        f'sleep 300 & echo "$! $$" > "{pids}.new"; mv "{pids}.new" "{pids}"; wait'
    )
    delay_timeout("status", pids)
    with pytest.raises(SpinneyError, match=r"took longer than 0\.5 seconds") as failed:
        await git(repository.root, "status", timeout=0.5)
    assert failed.value.error_type == "timeout"
    await wait_until(lambda: not any(is_running(int(pid)) for pid in pids.read_text().split()))


async def test_a_cancelled_call_kills_git_before_it_returns(
    repository: Repository, fake_git: Callable[[str], None], tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    fake_git(
        f'case "$*" in *version*) exec "$real_git" "$@";; esac\n'
        f'echo $$ > "{pids}.new"; mv "{pids}.new" "{pids}"; exec sleep 300'
    )
    running = asyncio.create_task(git(repository.root, "status"))
    await wait_until(pids.exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not is_running(int(pids.read_text()))


async def test_a_hanging_push_does_not_delay_a_status(
    repository: Repository, fake_git: Callable[[str], None]
) -> None:
    fake_git('case "$*" in *" push") exec sleep 300;; esac\nexec "$real_git" "$@"')
    pushes = [asyncio.create_task(git(repository.root, "push", write=True)) for _ in range(6)]
    await asyncio.wait_for(git(repository.root, "status"), PATIENCE)
    for push in pushes:
        push.cancel()
    await asyncio.gather(*pushes, return_exceptions=True)


async def test_a_write_waits_for_a_lock_to_be_released(
    repository: Repository,
    fake_git: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "_RETRY_SECONDS", PATIENCE)
    tried = tmp_path / "tried"
    fake_git(f'case "$*" in *" add "*) echo >> "{tried}";; esac\nexec "$real_git" "$@"')
    lock = repository.write(".git/index.lock", "")
    repository.write("new", "text\n")
    adding = asyncio.create_task(git(repository.root, "add", "new", write=True))
    await wait_until(lambda: tried.exists() and tried.read_text().count("\n") > 1)
    assert not adding.done()
    lock.unlink()
    await adding
    assert repository.git("diff", "--cached", "--name-only") == "new"


async def test_a_lock_that_stays_is_reported_after_two_seconds_and_never_deleted(
    repository: Repository,
) -> None:
    lock = repository.write(".git/index.lock", "")
    repository.write("new", "text\n")
    start = time.monotonic()
    with pytest.raises(SpinneyError, match=r"index\.lock': File exists"):
        await git(repository.root, "add", "new", write=True)
    assert time.monotonic() - start > 1
    assert lock.exists()


async def test_a_missing_git_is_reported(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(SpinneyError, match="git is not installed") as failed:
        await git(repository.root, "status")
    assert failed.value.error_type == "backend_unavailable"


async def test_a_git_too_old_to_be_safe_is_reported(fake_git: Callable[[str], None]) -> None:
    fake_git("echo git version 2.25.1")
    with pytest.raises(SpinneyError, match=r"git 2\.25\.1 is too old: Spinney needs git 2\.30"):
        await git_version()


async def test_the_version_is_returned() -> None:
    shown = subprocess.run(["git", "--version"], capture_output=True, text=True).stdout
    assert await git_version() in shown


def test_git_variables_of_the_environment_are_ignored(
    repository: Repository, tmp_path: Path
) -> None:
    program = (
        "import asyncio, pathlib, sys; from model.git.run import git\n"
        "print(asyncio.run(git(pathlib.Path(sys.argv[1]), 'rev-parse', 'HEAD')).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(repository.root)],
        env={**os.environ, "GIT_DIR": str(tmp_path / "elsewhere"), "GIT_WORK_TREE": "/"},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.strip() == repository.git("rev-parse", "HEAD"), done.stderr


def test_importing_model_git_does_not_import_gitpython() -> None:
    program = (
        "import sys; import model.git.worktrees, model.git.diff, model.git.remotes\n"
        "assert 'git' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
