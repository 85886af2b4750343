"""The status of a worktree, read without disturbing other programs."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from model.git import status as status_module
from model.git import working_tree
from model.git.diff import diff
from model.git.run import LARGE_FILE
from model.git.status import (
    UNPUSHED_CAP,
    GitStatus,
    count_uncommitted_files,
    has_uncommitted_changes,
    read_worktree_status,
)
from model.git.worktrees import add_worktree
from tests.model.git.repository import Repository

CLEAN = GitStatus(
    branch="main", commit=None, ahead=0, behind=0, unpushed=0, uncommitted_added=0,
    uncommitted_removed=0, branch_diff_added=0, branch_diff_removed=0, changed_files=0,
    files=0, conflicts=0,
)  # fmt: skip


async def test_a_fresh_repository_is_clean(repository: Repository) -> None:
    assert replace(await read_worktree_status(repository.root, "main"), commit=None) == CLEAN
    assert not await has_uncommitted_changes(repository.root)


async def test_staged_unstaged_and_untracked_lines_are_counted_once_each(
    repository: Repository,
) -> None:
    repository.write("staged", "1\n2\n")
    repository.git("add", "staged")
    repository.write("read.me", "one\nthree\nfour\nfive")
    repository.write("deep/untracked", "1\n2\n3")
    status = await read_worktree_status(repository.root, "main")
    assert (status.uncommitted_added, status.uncommitted_removed) == (2 + 2 + 3, 1)
    assert status.changed_files == 3
    assert status.files == 3
    assert await count_uncommitted_files(repository.root) == 3


async def test_conflicts_are_counted_until_they_are_resolved(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "theirs")
    repository.write("read.me", "theirs\n")
    repository.git("commit", "--quiet", "--all", "--message", "Theirs")
    repository.git("checkout", "--quiet", "main")
    repository.write("read.me", "ours\n")
    repository.git("commit", "--quiet", "--all", "--message", "Ours")
    with pytest.raises(AssertionError):  # it has a conflict
        repository.git("merge", "--quiet", "theirs")
    assert (await read_worktree_status(repository.root, "main")).conflicts == 1
    repository.git("add", "read.me")
    status = await read_worktree_status(repository.root, "main")
    assert (status.conflicts, status.changed_files) == (0, 1)


async def test_binary_and_very_large_files_count_no_lines(repository: Repository) -> None:
    for name in ("tracked", "untracked"):
        (repository.root / f"{name}.bin").write_bytes(b"\0\n" * 100)
        repository.write(f"{name}.txt", "x\n" * LARGE_FILE)
        if name == "tracked":
            repository.git("add", "--all")
    status = await read_worktree_status(repository.root, "main")
    assert (status.uncommitted_added, status.changed_files) == (0, 4)


async def test_ignored_files_and_pipes_count_nothing_and_links_are_not_followed(
    repository: Repository,
) -> None:
    repository.write(".gitignore", "ignored\n")
    repository.write("ignored", "1\n")
    os.mkfifo(repository.root / "pipe")
    (repository.root / "link").symlink_to("/dev/zero")
    status = await read_worktree_status(repository.root, "main")
    assert (status.uncommitted_added, status.changed_files) == (2, 2)


@pytest.mark.parametrize("name", ["with space", "tab\tquo\"te's", "grüße", "new\nline", "# 1 x"])
async def test_files_of_any_name_are_counted(name: str, repository: Repository) -> None:
    repository.write(name, "1\n")
    assert (await read_worktree_status(repository.root, "main")).uncommitted_added == 1
    repository.git("add", "--all")
    assert (await read_worktree_status(repository.root, "main")).uncommitted_added == 1


async def test_file_names_that_are_not_unicode_are_counted(repository: Repository) -> None:
    Path(os.fsdecode(os.fsencode(repository.root) + b"/\xff")).write_text("1\n")
    assert (await read_worktree_status(repository.root, "main")).uncommitted_added == 1


async def test_ahead_behind_and_the_branchs_own_lines_are_counted(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.commit("on-main", "1\n")
    repository.commit("read.me", "one\nthree\n", cwd=path)
    repository.commit("file", "1\n2\n", cwd=path)
    for _ in range(2):
        status = await read_worktree_status(path, "main")
        assert (status.ahead, status.behind) == (2, 1)
        assert (status.branch_diff_added, status.branch_diff_removed) == (2, 1)


async def test_commits_pulled_from_origin_are_not_counted_as_the_branchs_own(
    with_remote: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(with_remote.root, path, "one", "main")
    with_remote.git("checkout", "--quiet", "--detach")
    with_remote.commit("theirs", "1\n2\n3\n")
    with_remote.git("push", "--quiet", "origin", "HEAD:main")
    with_remote.git("merge", "--quiet", "origin/main", cwd=path)
    with_remote.commit("mine", "1\n", cwd=path)
    status = await read_worktree_status(path, "main")
    assert (status.ahead, status.behind, status.branch_diff_added) == (1, 0, 1)


async def test_unpushed_commits_are_those_on_no_remote(with_remote: Repository) -> None:
    assert (await read_worktree_status(with_remote.root, "main")).unpushed == 0
    with_remote.commit("file", "1\n")
    assert (await read_worktree_status(with_remote.root, "main")).unpushed == 1
    assert UNPUSHED_CAP > 1


async def test_without_a_remote_no_commit_counts_as_unpushed(repository: Repository) -> None:
    repository.commit("file", "1\n")
    assert (await read_worktree_status(repository.root, "main")).unpushed == 0


async def test_a_detached_head_and_a_missing_base_raise_no_error(
    repository: Repository,
) -> None:
    repository.git("checkout", "--quiet", "--detach")
    status = await read_worktree_status(repository.root, "gone")
    assert status == replace(CLEAN, branch=None, commit=repository.git("rev-parse", "HEAD"))


async def test_a_repository_without_commits_has_a_status(
    make_repository: Callable[[str], Repository],
) -> None:
    fresh = make_repository("fresh")
    fresh.write("staged", "1\n")
    fresh.git("add", "staged")
    fresh.write("file", "1\n2\n")
    status = await read_worktree_status(fresh.root, "main")
    assert (status.branch, status.uncommitted_added, status.changed_files) == ("main", 3, 2)


async def test_a_switched_branch_is_seen_by_the_next_read(
    repository: Repository,
) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    assert (await read_worktree_status(repository.root, "main")).branch == "other"


async def test_a_sparse_checkout_shows_no_deletions(repository: Repository) -> None:
    repository.commit("left/out", "1\n")
    repository.git("sparse-checkout", "set", "elsewhere")
    assert not (repository.root / "left").exists()
    assert replace(await read_worktree_status(repository.root, "main"), commit=None) == CLEAN


async def test_reading_never_makes_concurrent_commits_fail(
    repository: Repository,
) -> None:
    """Git's own index refresh takes `index.lock`; ours must not, or their commits would fail."""
    script = (
        "for i in $(seq 25); do echo $i > read.me && git add read.me && "
        "git commit --quiet -m $i || exit 1; done"
    )
    working = subprocess.Popen(
        ["sh", "-c", script], cwd=repository.root, stderr=subprocess.PIPE, text=True
    )
    while working.poll() is None:
        await read_worktree_status(repository.root, "main")
    assert working.communicate()[1] == ""
    assert working.returncode == 0


async def test_reading_works_while_the_index_is_locked(repository: Repository) -> None:
    repository.write(".git/index.lock", "")
    assert replace(await read_worktree_status(repository.root, "main"), commit=None) == CLEAN


async def test_reading_works_while_an_agent_writes_files(
    repository: Repository, tmp_path: Path
) -> None:
    """Git maps files into memory, and dies of a bus error if one shrinks meanwhile."""
    script = (
        "import random\n"
        "while True:\n"
        "    with open('read.me', 'w') as file:\n"
        "        file.write('x\\n' * random.randrange(200_000))\n"
        "        file.truncate(random.randrange(100))\n"
    )
    writing = subprocess.Popen([sys.executable, "-c", script], cwd=repository.root)
    try:
        for _ in range(60):
            await read_worktree_status(repository.root, "main")
            await diff(repository.root, "working")
    finally:
        writing.kill()
        writing.wait()


async def test_output_is_parsed_in_another_thread(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: dict[str, set[threading.Thread]] = {"_sum_numstat": set(), "parse_status": set()}

    def record_threads(module: ModuleType, name: str) -> None:
        read = getattr(module, name)

        def recorded(output: object) -> object:
            readers[name].add(threading.current_thread())
            return read(output)

        monkeypatch.setattr(module, name, recorded)

    record_threads(status_module, "_sum_numstat")
    record_threads(working_tree, "parse_status")
    repository.write("read.me", "changed\n")
    await read_worktree_status(repository.root, "main")
    # 20,000 changed files held up the loop for 0.2 s.
    assert all(threads and threading.main_thread() not in threads for threads in readers.values())


async def test_what_one_of_two_bases_has_is_on_neither_side(with_remote: Repository) -> None:
    with_remote.git("checkout", "--quiet", "-b", "topic")
    shared = with_remote.commit("shared", "1\n")
    with_remote.commit("own", "1\n")
    with_remote.git("checkout", "--quiet", "-b", "theirs", shared)
    with_remote.git("update-ref", "refs/remotes/origin/main", with_remote.commit("theirs", "1\n"))
    with_remote.git("checkout", "--quiet", "main")
    with_remote.commit("local", "1\n")
    with_remote.commit("local", "2\n")
    with_remote.git("checkout", "--quiet", "topic")
    status = await read_worktree_status(with_remote.root, "main")
    assert (status.ahead, status.behind) == (1, 3)
