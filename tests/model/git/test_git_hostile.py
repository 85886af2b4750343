"""Repositories and arguments that try to run a command, which would create the file `X`."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git import named_pipes
from model.git.diff import diff
from model.git.history import list_commits_since, list_recent_subjects
from model.git.remotes import fetch, pull, push
from model.git.removal import delete_branch
from model.git.repositories import find_default_branch, find_root, list_branches, resolve_base
from model.git.status import has_uncommitted_changes, read_worktree_status
from model.git.worktrees import add_worktree, check_out, rename_branch
from tests.model.git.repository import OPEN_GATE, Repository
from tests.patience import PATIENCE

ARGUMENTS = [
    "--upload-pack=touch {x}", "--receive-pack=touch {x}", "--output={x}", "--no-index", "-x",
    "--exec=touch {x}", "a..b", "x.lock", "@", "refs/heads/main", "",
]  # fmt: skip


@pytest.fixture
def x(tmp_path: Path) -> Path:
    """The file that a successful attack creates."""
    return tmp_path / "X"


@pytest.mark.parametrize("argument", ARGUMENTS)
async def test_no_argument_becomes_an_option(
    argument: str, with_remote: Repository, base_dir: Path, x: Path
) -> None:
    root, word = with_remote.root, argument.format(x=x)
    attempts: list[Callable[[], object]] = [
        lambda: pull(root, "origin", word),
        lambda: pull(root, word, "main"),
        lambda: push(root, word, OPEN_GATE),
        lambda: fetch(root, "origin", word),
        lambda: fetch(root, word, "main"),
        lambda: add_worktree(root, base_dir / "one", word, "main"),
        lambda: add_worktree(root, base_dir / "one", "one", word),
        lambda: check_out(root, base_dir / "one", word),
        lambda: rename_branch(root, "main", word),
        lambda: delete_branch(root, word),
        lambda: resolve_base(root, word),
    ]
    if word:  # an empty base is the default branch
        attempts.append(lambda: diff(root, "branch", word))
    for attempt in attempts:
        with pytest.raises(SpinneyError):
            await attempt()
    assert not x.exists()
    assert not base_dir.exists()


async def test_a_remote_that_is_a_command_is_not_run(repository: Repository, x: Path) -> None:
    repository.git("config", "protocol.ext.allow", "always")
    repository.git("remote", "add", "origin", f"ext::sh -c touch% {x}")
    for succeeded, output in (
        await pull(repository.root, "origin", "main"),
        await fetch(repository.root, "origin", "main"),
        await push(repository.root, "origin", OPEN_GATE),
    ):
        assert not succeeded
        assert "'ext' not allowed" in output
    assert not x.exists()


async def test_a_remote_that_is_a_pipe_fails_at_once(repository: Repository) -> None:
    repository.git("config", "protocol.fd.allow", "always")
    repository.git("remote", "add", "origin", "fd::0/x")
    async with asyncio.timeout(PATIENCE):
        succeeded, output = await pull(repository.root, "origin", "main")
    assert not succeeded
    assert "'fd' not allowed" in output


@pytest.mark.parametrize(
    ("setting", "attributes"),
    [
        ("core.fsmonitor", ""),
        ("diff.external", ""),
        ("diff.evil.textconv", "* diff=evil\n"),
        ("diff.evil.command", "* diff=evil\n"),
        ("core.pager", ""),
        ("core.editor", ""),
    ],
)
async def test_reading_a_repository_runs_no_program_from_its_settings(
    setting: str, attributes: str, repository: Repository, tmp_path: Path, x: Path
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {x}\n")
    program.chmod(0o755)
    repository.write(".gitattributes", attributes)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Attributes")
    repository.git("config", setting, str(program))
    repository.write("read.me", "changed\n")
    repository.write("untracked", "1\n")
    await _read_everything(repository.root)
    assert not x.exists()


async def test_reading_a_repository_runs_no_program_from_a_submodules_settings(
    repository: Repository, make_repository: Callable[[str], Repository], tmp_path: Path, x: Path
) -> None:
    inner = make_repository("inner")
    inner.commit("file", "text\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", str(inner.root), "sub")
    repository.git("commit", "--quiet", "-m", "Add a submodule")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {x}\n")
    program.chmod(0o755)
    for setting in ("core.fsmonitor", "diff.external"):
        repository.git("config", setting, str(program), cwd=repository.root / "sub")
    repository.write("sub/file", "changed\n")
    await _read_everything(repository.root)
    assert not x.exists()


async def test_a_bare_repository_hidden_in_a_checkout_is_not_entered(
    repository: Repository, tmp_path: Path, x: Path
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {x}\n")
    program.chmod(0o755)
    hidden = repository.root / "docs"
    repository.git("clone", "--quiet", "--bare", ".", str(hidden))
    repository.git("config", "core.bare", "false", cwd=hidden)
    repository.git("--git-dir=.", "config", "core.worktree", "..", cwd=hidden)
    repository.git("--git-dir=.", "config", "core.fsmonitor", str(program), cwd=hidden)
    with pytest.raises(SpinneyError):
        await find_root(hidden / "refs" / "heads")
    await _read_everything(repository.root)
    assert not x.exists()


@pytest.mark.parametrize(
    "name", [".gitignore", "folder/.gitignore", ".git/info/exclude", ".git/index", ".git/HEAD"]
)
async def test_a_named_pipe_in_place_of_one_of_gits_files_is_reported_without_blocking(
    name: str, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_pipes, "_CHECK_AFTER", 0.3)
    pipe = repository.root / name
    pipe.parent.mkdir(exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    (pipe.parent / "beside").write_text("one\n")
    with pytest.raises(SpinneyError, match=f"{name} is a named pipe") as refused:
        await find_root(repository.root)  # reads HEAD only
        await read_worktree_status(repository.root, "main")
    assert refused.value.error_type == "git_error"


async def _read_everything(root: Path) -> None:
    """Make the calls that adding and polling a project make."""
    assert await find_root(root) == root
    await find_default_branch(root)
    await list_branches(root)
    for _ in range(2):
        await read_worktree_status(root, "main")
    await has_uncommitted_changes(root)
    for kind in ("working", "staged", "branch"):
        await diff(root, kind)


async def test_long_output_of_a_remote_does_not_block(
    with_remote: Repository, tmp_path: Path
) -> None:
    hook = tmp_path / "origin.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\nyes a. | head -n 100000 | tr -d "\\n" >&2\nexit 1\n')
    hook.chmod(0o755)
    with_remote.commit("file", "text\n")
    async with asyncio.timeout(PATIENCE):
        succeeded, output = await push(with_remote.root, "origin", OPEN_GATE)
    assert not succeeded
    assert "a.a.a." in output


async def test_only_the_beginning_of_a_huge_message_is_read(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("checkout", "--quiet", "-b", "otter")
    message = tmp_path / "message"
    message.write_text("\x1b[" * 50_000 + "\n\n" + "\x1b[" * 500_000)
    repository.git("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", str(message))
    (commit,) = await list_commits_since(repository.root, "main")
    assert (commit.subject, commit.body) == ("␛[" * 2000, "␛[" * 10_000)
    (newest,) = await list_recent_subjects(repository.root, 1)
    assert newest == commit.subject
