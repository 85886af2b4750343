"""Properties of repositories: root, default branch, branches and remotes."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.base.git_layout import find_enclosing_repository, find_owning_checkout
from model.git.repositories import (
    check_remote,
    find_default_branch,
    find_root,
    get_current_branch,
    has_commits,
    list_branches,
    list_remotes,
    resolve_base,
)
from tests.model.git.repository import Repository

MakeRepository = Callable[[str], Repository]

ODD_NAMES = ["with space", "quo\"te's", "grüße-修复", "new\nline", "-dash", "co:lon", "$(x)"]


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_the_root_is_found_from_inside_for_any_name(
    name: str, make_repository: MakeRepository
) -> None:
    repository = make_repository(name)
    inside = repository.write("a/b/file", "").parent
    assert await find_root(inside) == repository.root
    assert await find_root(repository.root) == repository.root


async def test_the_root_of_a_linked_worktree_is_its_repository(
    repository: Repository, base_dir: Path
) -> None:
    repository.git("worktree", "add", "-b", "other", str(base_dir / "other"))
    inside = base_dir / "other" / "deep"
    inside.mkdir()
    assert await find_root(inside) == find_enclosing_repository(inside) == repository.root


@pytest.mark.parametrize("leads", ["to a large file", "to a circle of links", "to no name"])
def test_an_invalid_git_file_costs_little_and_raises_no_error(leads: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "folder"
    folder.mkdir()
    (folder / "circle").symlink_to("circle")
    if leads == "to a large file":
        with (folder / ".git").open("wb") as file:
            file.truncate(100_000_000)
    else:
        (folder / ".git").write_text("gitdir: circle\n" if "circle" in leads else "gitdir: \0")
    tracemalloc.start()
    try:
        assert find_enclosing_repository(folder) == folder
        assert find_owning_checkout(folder) is None
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


async def test_a_bare_repository_is_accepted(repository: Repository, tmp_path: Path) -> None:
    bare = tmp_path.resolve() / "bare.git"
    repository.git("clone", "--bare", ".", str(bare))
    repository.git("worktree", "add", "-b", "beside", str(tmp_path / "beside"), cwd=bare)
    assert await find_root(bare) == find_enclosing_repository(bare) == bare
    assert (
        await find_root(tmp_path / "beside")
        == find_enclosing_repository(tmp_path / "beside")
        == bare
    )
    assert await find_default_branch(bare) == "main"
    assert {branch.name for branch in await list_branches(bare)} == {"main", "beside"}


async def test_a_folder_around_a_hidden_bare_repository_is_its_root(
    repository: Repository, tmp_path: Path
) -> None:
    around = tmp_path.resolve() / "around"
    around.mkdir()
    repository.git("clone", "--bare", ".", str(around / ".bare"))
    (around / ".git").write_text("gitdir: ./.bare\n")
    repository.git("worktree", "add", "main", "main", cwd=around)
    assert await find_root(around) == around
    assert await find_root(around / "main") == find_enclosing_repository(around / "main") == around
    assert await find_default_branch(around) == "main"


async def test_a_submodule_is_a_root_of_its_own(
    repository: Repository, make_repository: MakeRepository
) -> None:
    inner = make_repository("inner")
    inner.commit("file", "text\n")
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "add", str(inner.root), "sub"
    )  # fmt: skip
    sub = repository.root / "sub"
    assert await find_root(sub) == find_enclosing_repository(sub) == sub
    repository.git("worktree", "add", "-b", "linked", str(repository.root / "linked"), cwd=sub)
    assert await find_root(repository.root / "linked") == sub


@pytest.mark.parametrize("where", ["empty", "nowhere", "file", "project/.git"])
async def test_a_path_without_a_working_tree_is_refused(
    where: str, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(SpinneyError, match=r"^Path is not a git repository: /"):
        await find_root(tmp_path / where)


async def test_a_repository_with_an_invalid_config_is_not_reported_as_missing(
    repository: Repository,
) -> None:
    repository.write(".git/config", "[core\n")
    with pytest.raises(SpinneyError) as refused:
        await find_root(repository.root)
    assert refused.value.error_type == "git_error"
    assert "bad config" in refused.value.message


async def test_the_default_branch_is_that_of_origin(with_remote: Repository) -> None:
    with_remote.git("branch", "trunk")
    with_remote.git("push", "--quiet", "origin", "trunk")
    with_remote.git("remote", "set-head", "origin", "trunk")
    assert await find_default_branch(with_remote.root) == "trunk"


async def test_without_origin_the_default_branch_is_the_configured_one_if_it_exists(
    repository: Repository,
) -> None:
    repository.git("config", "init.defaultBranch", "develop")
    assert await find_default_branch(repository.root) == "main"
    repository.git("branch", "develop")
    assert await find_default_branch(repository.root) == "develop"


async def test_the_default_branch_falls_back_to_master_then_the_current_then_any(
    repository: Repository,
) -> None:
    repository.git("branch", "-m", "main", "elsewhere")
    repository.git("branch", "other")
    assert await find_default_branch(repository.root) == "elsewhere"
    repository.git("branch", "master")
    assert await find_default_branch(repository.root) == "master"
    repository.git("branch", "-D", "master")
    repository.git("branch", "-D", "other")
    repository.git("checkout", "--quiet", "--detach")
    assert await find_default_branch(repository.root) == "elsewhere"


async def test_a_repository_without_commits_has_its_initial_branch(
    make_repository: MakeRepository,
) -> None:
    fresh = make_repository("fresh")
    fresh.git("symbolic-ref", "HEAD", "refs/heads/start")
    assert await find_default_branch(fresh.root) == "start"
    assert await get_current_branch(fresh.root) == "start"
    assert not await has_commits(fresh.root)
    assert await list_branches(fresh.root) == []


async def test_a_head_on_a_missing_branch_still_has_commits(repository: Repository) -> None:
    repository.git("symbolic-ref", "HEAD", "refs/heads/gone")
    assert await has_commits(repository.root)
    assert await find_default_branch(repository.root) == "main"


async def test_a_detached_head_has_no_branch(repository: Repository) -> None:
    assert await get_current_branch(repository.root) == "main"
    repository.git("checkout", "--quiet", "--detach")
    assert await get_current_branch(repository.root) is None


async def test_a_tag_of_the_same_name_does_not_change_a_branchs_name(
    repository: Repository,
) -> None:
    repository.git("tag", "main")
    assert await get_current_branch(repository.root) == "main"
    assert await find_default_branch(repository.root) == "main"


async def test_branches_are_listed_local_ones_first_and_the_current_marked(
    with_remote: Repository,
) -> None:
    with_remote.git("checkout", "--quiet", "-b", "grüße/a-b")
    with_remote.git("remote", "set-head", "origin", "main")
    found = [(branch.name, branch.current) for branch in await list_branches(with_remote.root)]
    assert sorted(found[:2]) == [("grüße/a-b", True), ("main", False)]
    assert found[2:] == [("origin/main", False)]


async def test_remotes_show_no_credentials(repository: Repository) -> None:
    urls = {
        "origin": "https://ada:token@example.org/a.git",
        "token": "https://token@example.org/a.git",
        "ssh": "git@example.org:a/b.git",
        "a.dotted.name": "ssh://git:pw@example.org/a",
    }
    for name, url in urls.items():
        repository.git("remote", "add", name, url)
    assert {remote.name: remote.url for remote in await list_remotes(repository.root)} == {
        "origin": "https://example.org/a.git",
        "token": "https://example.org/a.git",
        "ssh": "git@example.org:a/b.git",
        "a.dotted.name": "ssh://example.org/a",
    }


async def test_only_configured_remotes_are_accepted(with_remote: Repository) -> None:
    assert await check_remote(with_remote.root, "origin") == "origin"
    for name in ("upstream", "/tmp/x", "https://example.org/x", "ext::sh", "--upload-pack=x", ""):
        with pytest.raises(SpinneyError):
            await check_remote(with_remote.root, name)


async def test_a_base_resolves_to_the_local_branch_and_its_counterpart_on_origin(
    with_remote: Repository,
) -> None:
    pushed = with_remote.git("rev-parse", "main")
    assert await resolve_base(with_remote.root, "main") == [pushed]
    local = with_remote.commit("more", "text\n")
    assert await resolve_base(with_remote.root, "main") == [local, pushed]
    assert await resolve_base(with_remote.root, "origin/main") == [pushed]
    assert await resolve_base(with_remote.root, local[:12]) == [local]
    with pytest.raises(SpinneyError, match="There is no branch or commit 'nowhere'"):
        await resolve_base(with_remote.root, "nowhere")


@pytest.mark.parametrize("as_link", [False, True])
async def test_a_folder_whose_git_leads_to_another_checkout_is_refused(
    repository: Repository, tmp_path: Path, as_link: bool
) -> None:
    folder = tmp_path.resolve() / "guest"
    folder.mkdir()
    if as_link:
        (folder / ".git").symlink_to(repository.root / ".git")
    else:
        (folder / ".git").write_text(f"gitdir: {repository.root}/.git\n")
    with pytest.raises(SpinneyError, match=f"points to the one of {repository.root}"):
        await find_root(folder)


async def test_a_repository_with_a_separate_git_directory_is_accepted(
    repository: Repository, tmp_path: Path
) -> None:
    apart = tmp_path.resolve() / "apart"
    repository.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'kept'}", str(apart))
    assert await find_root(apart) == apart
