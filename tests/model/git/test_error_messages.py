"""What is shown of what git wrote: the cause, also where another program gave it."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.branch_summary import summarize_branch
from model.git.diff import find_branch_range
from model.git.error_messages import clean_output, extract_error
from model.git.run import git, git_version
from tests.model.git.repository import Repository


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [
        ("fatal: bad revision 'x'\n", "bad revision 'x'"),
        (
            "git-lfs filter-process: 1: git-lfs: not found\n"
            "fatal: the remote end hung up unexpectedly\n",
            "git-lfs filter-process: 1: git-lfs: not found\nthe remote end hung up unexpectedly",
        ),
        (
            "git@example.org: Permission denied (publickey).\r\n"
            "fatal: Could not read from remote repository.\n\nPlease make sure of your rights.\n",
            "git@example.org: Permission denied (publickey).\n"
            "Could not read from remote repository.\n\nPlease make sure of your rights.",
        ),
        (
            "Cloning into 'x'...\nremote: Counting objects: 5, done.\n"
            "remote: Repository not found.\nfatal: repository 'https://a:b@c.d/' not found",
            "remote: Repository not found.\nrepository 'https://c.d/' not found",
        ),
        (
            "Preparing worktree (new branch 'x')\nUpdating files:  40% (2/5)\rsmudge: no key\n"
            "Updating files:  80% (4/5)\rerror: external filter 'smudge' failed 1\n"
            "fatal: a: smudge filter y failed\n",
            "smudge: no key\nexternal filter 'smudge' failed 1\na: smudge filter y failed",
        ),
        ("hint: one\nwarning: CRLF\nerror: two\nhint: three\nwarning: 4\n", "two\nwarning: 4"),
        ("lint: a.py\nerror: 2 found\nlint: done\n", "lint: a.py\n2 found\nlint: done"),
        ("only a hook\n", "only a hook"),
        ("a\x1b]0;title\x07b\nfatal: \u202ec\n", "a␛]0;title␇b\n<U+202E>c"),
        ("", ""),
    ],
)
def test_the_cause_is_shown_with_gits_own_words(stderr: str, shown: str) -> None:
    assert extract_error(stderr) == shown


def test_of_much_text_both_ends_are_shown() -> None:
    said = extract_error(
        f"first cause\n{'x' * 1_000_000}\nlast cause\nfatal: it failed\n{'y' * 1_000_000}\nend"
    )
    lines = said.split("\n")
    assert (lines[0], lines[4], lines[5], lines[-1]) == (
        "first cause", "last cause", "it failed", "end",
    )  # fmt: skip
    assert len(said) < 20_000 and said.count("more characters]") == 2
    assert len(clean_output("z" * 1_000_000)) < 10_000


async def test_what_a_filter_wrote_is_in_the_error(repository: Repository) -> None:
    repository.write(".gitattributes", "*.bin filter=large\n")
    repository.write("a.bin", "content\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "Add")
    repository.git("config", "filter.large.smudge", "echo 'no space left for large' >&2; exit 1")
    repository.git("config", "filter.large.required", "true")
    repository.root.joinpath("a.bin").unlink()
    with pytest.raises(SpinneyError, match=r"^no space left for large\n(.|\n)*smudge filter large"):
        await git(repository.root, "checkout", "--", "a.bin", write=True)


async def test_a_repository_of_a_newer_git_names_the_installed_one(repository: Repository) -> None:
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.relativeOtters", "true")
    with pytest.raises(SpinneyError) as raised:
        await git(repository.root, "status")
    assert "relativeotters" in raised.value.message
    assert raised.value.message.endswith(
        f"\nThe repository needs a newer git than the installed {await git_version()}. Update git, "
        "then try again."
    )


async def test_a_shallow_clone_names_what_fetches_the_rest(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit("one", "text\n")
    repository.git("checkout", "--quiet", "-b", "branch")
    repository.commit("two", "text\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("three", "text\n")
    source = repository.root.as_uri()
    repository.git(
        "clone", "--quiet", "--depth=1", "--no-single-branch", source, str(tmp_path / "s")
    )
    for read in (
        find_branch_range(tmp_path / "s", "origin/branch"),
        summarize_branch(tmp_path / "s", "origin/branch", 1000),
    ):
        with pytest.raises(SpinneyError, match=r"Run 'git fetch --unshallow' there in a terminal"):
            await read
    repository.git("checkout", "--quiet", "--orphan", "other")
    repository.git("commit", "--quiet", "--allow-empty", "--message", "Alone")
    with pytest.raises(SpinneyError, match="no commit in common with 'main'"):
        await find_branch_range(repository.root, "main")
