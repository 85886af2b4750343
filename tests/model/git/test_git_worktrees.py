"""Worktrees: created completely or not at all, listed, moved and removed."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.removal import delete_branch, remove_worktree
from model.git.status import read_worktree_status
from model.git.worktrees import (
    add_worktree,
    check_out,
    list_worktrees,
    move_worktree,
    remove_incomplete,
    rename_branch,
)
from tests.model.git.repository import Repository
from tests.patience import PATIENCE

MakeRepository = Callable[[str], Repository]

ODD_NAMES = ["with space", "quo\"te's", "grüße-修复", "new\nline", "-dash", "co:lon", "$(x)"]


def list_worktrees_and_branches(repository: Repository) -> tuple[str, str]:
    """Return git's lists of worktrees and branches."""
    return (
        repository.git("worktree", "list", "--porcelain"),
        repository.git("for-each-ref", "refs/heads"),
    )


async def test_a_worktree_starts_at_its_base_on_a_branch_of_its_own(
    repository: Repository, base_dir: Path
) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "-b", "elsewhere")
    repository.commit("later", "text\n")
    await add_worktree(repository.root, base_dir / "one", "feature/one", "main")
    assert repository.git("rev-parse", "HEAD", cwd=base_dir / "one") == base
    assert repository.git("branch", "--show-current", cwd=base_dir / "one") == "feature/one"


async def test_a_base_can_be_a_remote_branch_which_is_not_tracked(
    with_remote: Repository, base_dir: Path
) -> None:
    with_remote.git("push", "--quiet", "origin", "main:release")
    with_remote.git("fetch", "--quiet", "origin")
    for number, base in enumerate(("origin/release", "release")):
        path = base_dir / str(number)
        await add_worktree(with_remote.root, path, f"work-{number}", base)
        configured = with_remote.git("config", "--list", "--local")
        assert f"branch.work-{number}" not in configured


async def test_origin_is_used_for_a_base_that_is_only_behind_it(
    with_remote: Repository, base_dir: Path
) -> None:
    newer = with_remote.commit("theirs", "1\n")
    with_remote.git("push", "--quiet", "origin", "main")
    with_remote.git("reset", "--quiet", "--hard", "HEAD~")
    await add_worktree(with_remote.root, base_dir / "one", "one", "main")
    assert with_remote.git("rev-parse", "one") == newer
    own = with_remote.commit("mine", "1\n")
    await add_worktree(with_remote.root, base_dir / "two", "two", "main")
    assert with_remote.git("rev-parse", "two") == own


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_a_worktree_at_any_path_is_created_and_removed(
    name: str, make_repository: MakeRepository, base_dir: Path
) -> None:
    repository = make_repository(f"repo {name}")
    repository.commit("file", "text\n")
    path = base_dir / name
    await add_worktree(repository.root, path, "work", "main")
    assert [listed.path for listed in await list_worktrees(repository.root)] == [
        repository.root,
        path,
    ]
    assert (await read_worktree_status(path, "main")).branch == "work"
    await remove_worktree(repository.root, path, base_dir)
    assert not path.exists()


async def test_a_bare_repository_can_have_worktrees(
    repository: Repository, tmp_path: Path, base_dir: Path
) -> None:
    bare = tmp_path.resolve() / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    await add_worktree(bare, base_dir / "one", "one", "main")
    main, linked = await list_worktrees(bare)
    assert (main.is_bare, main.is_main, linked.branch, linked.is_main) == (True, True, "one", False)
    await remove_worktree(bare, base_dir / "one", base_dir)
    assert not (base_dir / "one").exists()


async def test_the_error_without_commits_says_what_to_do(
    make_repository: MakeRepository, base_dir: Path
) -> None:
    fresh = make_repository("fresh")
    with pytest.raises(SpinneyError, match=r"Failed to create worktree: .*Make a first commit"):
        await add_worktree(fresh.root, base_dir / "one", "one", "main")
    assert not base_dir.exists()


async def test_an_existing_branch_is_refused_and_nothing_is_left(
    repository: Repository, base_dir: Path
) -> None:
    repository.git("branch", "taken")
    before = list_worktrees_and_branches(repository)
    with pytest.raises(SpinneyError, match=r"^Branch already exists: taken$"):
        await add_worktree(repository.root, base_dir / "one", "taken", "main")
    assert list_worktrees_and_branches(repository) == before
    assert not base_dir.exists()


@pytest.mark.parametrize("kind", ["file", "empty directory", "full directory", "dangling link"])
async def test_an_existing_path_is_refused_and_left_alone(
    kind: str, repository: Repository, base_dir: Path
) -> None:
    base_dir.mkdir()
    path = base_dir / "one"
    match kind:
        case "file":
            path.write_text("mine")
        case "dangling link":
            path.symlink_to("nowhere")
        case _:
            path.mkdir()
            if kind == "full directory":
                (path / "file").write_text("mine")
    before = list_worktrees_and_branches(repository)
    with pytest.raises(SpinneyError) as refused:
        await add_worktree(repository.root, path, "one", "main")
    assert refused.value.message == f"Worktree path already exists: {path}"
    assert list_worktrees_and_branches(repository) == before
    assert path.is_symlink() or path.exists()


async def test_an_unknown_base_is_named(repository: Repository, base_dir: Path) -> None:
    with pytest.raises(SpinneyError, match="no branch or commit 'nowhere'"):
        await add_worktree(repository.root, base_dir / "one", "one", "nowhere")
    assert "one" not in list_worktrees_and_branches(repository)[1]


async def test_a_branch_that_git_cannot_create_raises_gits_message(
    repository: Repository, base_dir: Path
) -> None:
    repository.git("branch", "a")
    before = list_worktrees_and_branches(repository)
    with pytest.raises(SpinneyError, match=r"^Failed to create worktree: .*refs/heads/a"):
        await add_worktree(repository.root, base_dir / "one", "a/b", "main")
    assert list_worktrees_and_branches(repository) == before
    assert not base_dir.exists()


async def test_a_checkout_that_fails_leaves_nothing_behind(
    repository: Repository, base_dir: Path
) -> None:
    hook = repository.write(".git/hooks/post-checkout", "#!/bin/sh\necho no room >&2; exit 1\n")
    hook.chmod(0o755)
    before = list_worktrees_and_branches(repository)
    with pytest.raises(SpinneyError, match="Failed to create worktree: no room"):
        await add_worktree(repository.root, base_dir / "deep" / "one", "one", "main")
    assert list_worktrees_and_branches(repository) == before
    assert not base_dir.exists()


async def test_a_cancelled_creation_leaves_nothing_behind(
    repository: Repository, base_dir: Path, tmp_path: Path
) -> None:
    hook = repository.write(
        ".git/hooks/post-checkout", f"#!/bin/sh\ntouch '{tmp_path}/began'; exec sleep 300\n"
    )
    hook.chmod(0o755)
    before = list_worktrees_and_branches(repository)
    creating = asyncio.create_task(add_worktree(repository.root, base_dir / "one", "one", "main"))
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "began").exists():
            await asyncio.sleep(0.02)
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    assert list_worktrees_and_branches(repository) == before
    assert not base_dir.exists()


async def test_one_of_several_concurrent_creations_succeeds(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    outcomes = await asyncio.gather(
        *(add_worktree(repository.root, path, "one", "main") for _ in range(4)),
        return_exceptions=True,
    )
    assert outcomes.count(None) == 1
    assert all(isinstance(lost, SpinneyError) for lost in outcomes if lost is not None)
    assert (path / "read.me").exists()
    assert (await read_worktree_status(path, "main")).branch == "one"


async def test_the_error_for_a_branch_that_is_checked_out_elsewhere_names_the_path(
    repository: Repository, base_dir: Path
) -> None:
    await add_worktree(repository.root, base_dir / "one", "one", "main")
    with pytest.raises(SpinneyError) as refused:
        await check_out(repository.root, base_dir / "two", "one")
    assert refused.value.message.startswith("Failed to create worktree: ")
    assert str(base_dir / "one") in refused.value.message
    assert not (base_dir / "two").exists()
    assert (base_dir / "one" / "read.me").exists()


async def test_a_worktree_removed_by_hand_is_recreated(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    shutil.rmtree(path)
    with pytest.raises(SpinneyError, match="directory is missing"):
        await read_worktree_status(path, "main")
    await check_out(repository.root, path, "one")
    assert (path / "read.me").exists()


async def test_removing_a_worktree_that_was_removed_by_hand_removes_its_entry(
    repository: Repository, base_dir: Path
) -> None:
    for name in ("one", "two"):
        await add_worktree(repository.root, base_dir / name, name, "main")
        shutil.rmtree(base_dir / name)
    await remove_worktree(repository.root, base_dir / "one", base_dir)
    assert [listed.branch for listed in await list_worktrees(repository.root)] == ["main", "two"]
    await remove_worktree(repository.root, base_dir / "one", base_dir)
    await add_worktree(repository.root, base_dir / "one", "again", "main")


async def test_an_old_git_lists_worktrees_without_z_and_without_locks(
    repository: Repository, base_dir: Path, fake_git: Callable[[str], None]
) -> None:
    await add_worktree(repository.root, base_dir / "mit Grüßen", "one", "main")
    for name in ("held", "made"):
        repository.git("worktree", "add", "--detach", str(base_dir / name))
    repository.git("worktree", "lock", str(base_dir / "held"))
    repository.git("worktree", "lock", "--reason", "initializing", str(base_dir / "made"))
    expected = await list_worktrees(repository.root)
    fake_git(
        'case "$*" in *"worktree list"*" -z"*) echo "error: unknown switch \\`z\'" >&2; exit 129;;'
        " *--version*) echo git version 2.30.2; exit;;"
        ' *"worktree list"*) "$real_git" "$@" | grep -v ^locked; exit;; esac\n'
        'exec "$real_git" "$@"'
    )
    assert await list_worktrees(repository.root) == expected
    assert {listed.path.name: listed.branch for listed in expected} == {
        "project": "main", "mit Grüßen": "one", "held": None, "made": None,
    }  # fmt: skip
    assert {listed.path.name for listed in expected if listed.is_locked} == {"held", "made"}
    assert {listed.path.name for listed in expected if listed.is_initializing} == {"made"}
    await remove_incomplete(repository.root, base_dir / "made")
    assert not (base_dir / "made").exists()
    assert await list_worktrees(repository.root) == [w for w in expected if not w.is_initializing]


async def test_a_worktree_and_its_branch_can_be_renamed(
    repository: Repository, base_dir: Path
) -> None:
    await add_worktree(repository.root, base_dir / "one", "one", "main")
    await move_worktree(repository.root, base_dir / "one", base_dir / "two")
    await rename_branch(repository.root, "one", "two")
    assert (await read_worktree_status(base_dir / "two", "main")).branch == "two"
    with pytest.raises(SpinneyError, match="Branch already exists: main"):
        await rename_branch(repository.root, "two", "main")
    with pytest.raises(SpinneyError, match="Worktree path already exists"):
        await move_worktree(repository.root, base_dir / "two", repository.root)


async def test_a_repository_is_intact_after_many_worktrees(
    repository: Repository, base_dir: Path
) -> None:
    for number in range(12):
        path = base_dir / str(number % 3)
        await add_worktree(repository.root, path, f"work-{number}", "main")
        repository.commit("file", f"{number}\n", cwd=path)
        await remove_worktree(repository.root, path, base_dir, force=True)
        await delete_branch(repository.root, f"work-{number}", force=True)
    repository.git("fsck", "--full", "--strict")
    assert repository.git("status", "--porcelain") == ""


@pytest.mark.parametrize("command", ["list", "remove"])
@pytest.mark.parametrize(
    "words",
    ["Invalid path '.git/worktrees/gone'", "failed to read '.git/worktrees/gone/locked'"],
)
async def test_worktrees_are_listed_and_removed_while_another_program_removes_one(
    repository: Repository,
    fake_git: Callable[[str], None],
    base_dir: Path,
    tmp_path: Path,
    words: str,
    command: str,
) -> None:
    await add_worktree(repository.root, base_dir / "work", "work", "main")
    once = tmp_path / "once"
    fake_git(
        f'case "$*" in *"worktree {command}"*) if mkdir "{once}" 2>/dev/null; then\n'
        f'echo "fatal: {words}: No such file or directory" >&2\n'
        "exit 128; fi;; esac\n"
        'exec "$real_git" "$@"'
    )
    assert [listed.is_main for listed in await list_worktrees(repository.root)] == [True, False]
    await remove_worktree(repository.root, base_dir / "work", base_dir)
    assert [listed.is_main for listed in await list_worktrees(repository.root)] == [True]
    assert once.is_dir()
