"""Validation of the names of branches, refs and remotes."""

import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.base.errors import SpinneyError
from model.git.refs import check_branch_name, check_ref, check_remote_name, make_branch_name

HOSTILE = [
    "", "-", "-x", "--upload-pack=touch X", "--output=X", "--no-index", "@", "@{-1}", "a@{1}",
    "refs/heads/main", "a..b", "x.lock", "x.lock/y", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b",
    "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a\nb", "a\0b", "a\x7f", "a\u202eb", "\ud800",
    "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("check", [check_branch_name, check_ref, check_remote_name])
def test_names_that_git_could_interpret_are_refused(check, name: str) -> None:
    with pytest.raises(SpinneyError, match="is not a valid"):
        check(name)


@pytest.mark.parametrize("name", ["main", "feature/x-1", "12-fix", "größe", "修复", "a@b", "v1.2"])
def test_ordinary_names_pass_unchanged(name: str) -> None:
    assert check_branch_name(name) == check_ref(name) == name


def test_head_is_a_ref_but_no_branch() -> None:
    assert check_ref("HEAD") == "HEAD"
    with pytest.raises(SpinneyError):
        check_branch_name("HEAD")


@given(st.text(alphabet="ab/.-@{~^:\\ [lock", max_size=12))
def test_every_accepted_name_is_valid_for_git(name: str) -> None:
    try:
        check_branch_name(name)
    except SpinneyError:
        return
    result = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True)
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the login page", "fix-the-login-page"),
        ("  --Fix: a/b..c.lock  ", "fix-a-b-c-lock"),
        ("Über große Dinge", "über-große-dinge"),
        ("修复 登录", "修复-登录"),
        ("हिन्दी", "हिन्दी"),
        ("?!…", ""),
    ],
)
def test_a_title_becomes_a_branch_name(title: str, name: str) -> None:
    assert make_branch_name(title) == name


def test_a_long_title_is_cut_between_words() -> None:
    name = make_branch_name("word " * 50)
    assert name.endswith("-word")
    assert len(name) <= 48


@given(st.text())
@example("\U000e0100")
@example("a\u3164b")
@example("a" + "\u0301" * 50)
def test_every_title_gives_a_valid_name_or_none(title: str) -> None:
    name = make_branch_name(title)
    assert not name or check_branch_name(name) == name
