"""Commit, fetch, pull and push."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.commit import commit
from model.git.remotes import fetch, pull, push
from model.git.worktrees import add_worktree
from tests.model.git.repository import OPEN_GATE, Repository


async def test_a_commit_returns_its_id(repository: Repository) -> None:
    repository.write("read.me", "changed\n")
    repository.write("-new", "text\n")
    made = await commit(repository.root, "-m: say\n\n# what\x00 changed", OPEN_GATE, stage_all=True)
    assert made == repository.git("rev-parse", "HEAD")
    assert repository.git("log", "-1", "--format=%B") == "-m: say\n\n# what␀ changed"
    assert repository.git("status", "--porcelain") == ""


async def test_only_what_is_staged_is_committed(repository: Repository) -> None:
    repository.write("staged", "1\n")
    repository.git("add", "staged")
    repository.write("read.me", "changed\n")
    await commit(repository.root, "Add it", OPEN_GATE)
    assert repository.git("status", "--porcelain") == "M read.me"
    with pytest.raises(SpinneyError, match="Nothing is staged"):
        await commit(repository.root, "More", OPEN_GATE)


async def test_a_commit_without_changes_is_refused(
    repository: Repository,
) -> None:
    for stage_all in (True, False):
        with pytest.raises(SpinneyError, match=r"^No uncommitted changes to commit$"):
            await commit(repository.root, "Nothing", OPEN_GATE, stage_all)


async def test_an_empty_message_is_refused(repository: Repository) -> None:
    repository.write("read.me", "changed\n")
    with pytest.raises(SpinneyError, match="message is empty"):
        await commit(repository.root, " \n", OPEN_GATE, stage_all=True)


async def test_the_output_of_a_failing_hook_is_the_error(repository: Repository) -> None:
    hook = repository.write(".git/hooks/pre-commit", "#!/bin/sh\necho lint: no; exit 1\n")
    hook.chmod(0o755)
    repository.write("read.me", "changed\n")
    with pytest.raises(SpinneyError, match="lint: no"):
        await commit(repository.root, "Try", OPEN_GATE, stage_all=True)


async def test_a_failing_hook_without_output_is_suspected(repository: Repository) -> None:
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    repository.write("read.me", "changed\n")
    with pytest.raises(
        SpinneyError, match=r"without an error message \(exit code 1\)\. A repository hook"
    ):
        await commit(repository.root, "Try", OPEN_GATE, stage_all=True)


async def test_the_error_for_a_missing_identity_names_the_git_command(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("config", "user.useConfigOnly", "true")
    for each in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"):
        monkeypatch.delenv(f"GIT_{each}")
    repository.write("read.me", "changed\n")
    with pytest.raises(SpinneyError, match=r'git config --global user\.name "Your Name"'):
        await commit(repository.root, "Try", OPEN_GATE, stage_all=True)


async def test_a_merge_that_changes_nothing_can_be_committed(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit("file", "1\n")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--strategy=ours", "--no-commit", "other")
    made = await commit(repository.root, "Merge other", OPEN_GATE)
    assert len(repository.git("rev-list", "--parents", "-1", made).split()) == 3


async def test_a_commit_under_a_held_lock_fails_with_gits_message(repository: Repository) -> None:
    repository.write("read.me", "changed\n")
    lock = repository.write(".git/index.lock", "")
    with pytest.raises(SpinneyError, match=r"index\.lock': File exists"):
        await commit(repository.root, "Try", OPEN_GATE, stage_all=True)
    assert lock.exists()


async def test_the_first_push_sets_the_upstream_the_next_only_pushes(
    with_remote: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(with_remote.root, path, "one", "origin/main")
    for number in range(2):
        tip = with_remote.commit("file", f"{number}\n", cwd=path)
        assert (await push(path, "origin", OPEN_GATE))[0]
        assert with_remote.git("rev-parse", "one@{upstream}", cwd=path) == tip
    assert with_remote.git("rev-parse", "origin/main") != tip


@pytest.mark.parametrize("submodules", ["only", "on-demand"])
async def test_a_push_takes_no_tags_and_no_submodules_along(
    with_remote: Repository, tmp_path: Path, submodules: str
) -> None:
    with_remote.git("config", "protocol.file.allow", "always")
    library = tmp_path / "library.git"
    with_remote.git("clone", "--quiet", "--bare", str(with_remote.root), str(library))
    with_remote.git("-c", "protocol.file.allow=always", "submodule", "add", str(library), "lib")
    with_remote.git("commit", "-m", "Add a library")
    with_remote.git("config", "push.followTags", "true")
    with_remote.git("config", "push.recurseSubmodules", submodules)
    with_remote.git("tag", "-a", "v1", "-m", "A note")
    assert (await push(with_remote.root, "origin", OPEN_GATE))[0]
    assert with_remote.git("ls-remote", "--tags", "origin") == ""
    with_remote.commit("inside", "1\n", cwd=with_remote.root / "lib")
    published = with_remote.git("ls-remote", str(library))
    with_remote.git("commit", "-a", "-m", "Use the newer library")
    succeeded, output = await push(with_remote.root, "origin", OPEN_GATE)
    assert not succeeded and "not be found on any remote" in output
    assert with_remote.git("ls-remote", str(library)) == published


async def test_a_push_that_would_overwrite_is_refused_with_the_reason(
    with_remote: Repository,
) -> None:
    with_remote.commit("file", "theirs\n")
    with_remote.git("push", "--quiet", "origin", "main")
    with_remote.git("reset", "--quiet", "--hard", "HEAD~")
    with_remote.commit("file", "mine\n")
    succeeded, output = await push(with_remote.root, "origin", OPEN_GATE)
    assert not succeeded
    assert "rejected" in output


@pytest.mark.parametrize(
    ("output", "next_step"),
    [
        ("ERROR: Permission to ada/engine.git denied to bob.", "Your account may not push to this"),
        ("remote: error: GH006: Protected branch update failed for main", "A rule of the reposit"),
        ("remote: error: GH013: Repository rule violations found", "A rule of the repository"),
        ("remote: ERROR: This repository was archived so it is read-only.", "The repository is ar"),
        ("ERROR: Repository not found.", "There is no such repository"),
        ("fatal: Authentication failed for 'https://github.com/'", "Git could not sign in there."),
    ],
)
async def test_a_refused_push_says_the_next_step(
    with_remote: Repository, tmp_path: Path, output: str, next_step: str
) -> None:
    hook = Path(with_remote.git("config", "remote.origin.url")) / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    (tmp_path / "output").write_text(output)
    hook.write_text(f"#!/bin/sh\ncat '{tmp_path}/output' >&2\nexit 1\n")
    hook.chmod(0o755)
    with_remote.commit("read.me", "changed\n")
    succeeded, shown = await push(with_remote.root, "origin", OPEN_GATE)
    assert not succeeded
    assert shown.startswith(next_step)
    assert output in shown


async def test_a_detached_head_is_not_pushed(with_remote: Repository) -> None:
    with_remote.git("checkout", "--quiet", "--detach")
    with pytest.raises(SpinneyError, match="detached HEAD"):
        await push(with_remote.root, "origin", OPEN_GATE)


async def test_a_pull_merges_the_base_into_the_branch(
    with_remote: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(with_remote.root, path, "one", "main")
    with_remote.commit("mine", "1\n", cwd=path)
    with_remote.commit("theirs", "1\n")
    with_remote.git("push", "--quiet", "origin", "main")
    succeeded, output = await pull(path, "origin", "main")
    assert succeeded, output
    assert (path / "theirs").exists()
    assert await pull(path, "origin", "main") == (True, output) or succeeded


async def test_a_pull_with_conflicts_reports_them_and_leaves_the_merge_open(
    with_remote: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(with_remote.root, path, "one", "main")
    with_remote.commit("read.me", "mine\n", cwd=path)
    with_remote.commit("read.me", "theirs\n")
    with_remote.git("push", "--quiet", "origin", "main")
    succeeded, output = await pull(path, "origin", "main")
    assert not succeeded
    assert "CONFLICT" in output
    assert "UU read.me" in with_remote.git("status", "--porcelain", cwd=path)


async def test_a_fetch_updates_a_remote_branch(with_remote: Repository) -> None:
    with_remote.git("push", "--quiet", "origin", "main:release")
    with_remote.git("update-ref", "-d", "refs/remotes/origin/release")
    assert (await fetch(with_remote.root, "origin", "release"))[0]
    with_remote.git("rev-parse", "--verify", "refs/remotes/origin/release")
    succeeded, output = await fetch(with_remote.root, "origin", "nowhere")
    assert not succeeded
    assert "nowhere" in output


async def test_the_error_for_an_unreachable_remote_hides_its_password(
    with_remote: Repository,
) -> None:
    with_remote.git("remote", "set-url", "origin", "http://ada:secret@127.0.0.1:1/x.git")
    for outcome in (await pull(with_remote.root, "origin", "main"),
                    await push(with_remote.root, "origin", OPEN_GATE)):  # fmt: skip
        assert not outcome[0]
        assert "127.0.0.1" in outcome[1]
        assert "secret" not in outcome[1]
