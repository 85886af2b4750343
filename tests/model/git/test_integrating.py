"""Branches are brought in as git itself would do it, in either way of merging."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.base.errors import SpinneyError
from model.domain.hosting import MergeMethod
from model.git import three_way
from model.git.integrating import integrate
from model.git.merged import find_merged
from model.git.snapshots.scratch import ScratchObjects
from model.git.three_way import Place
from tests.model.git.repository import Repository, set_own_home

LINES = 6
FILES = ("a", "b")


@dataclass(frozen=True)
class Change:
    """A commit that replaces a line of a file."""

    file: str
    line: int
    text: str


CHANGES = st.builds(
    Change, st.sampled_from(FILES), st.integers(0, LINES - 1), st.sampled_from("xyz")
)
BRANCHES = st.lists(st.lists(CHANGES, min_size=1, max_size=3), min_size=1, max_size=4)


def _commit(repository: Repository, change: Change) -> None:
    path = repository.root / change.file
    lines = path.read_text().splitlines()
    lines[change.line] = change.text
    path.write_text("\n".join([*lines, ""]))
    repository.git("commit", "--quiet", "--all", "--allow-empty", "--message", str(change))


def _bring_in(repository: Repository, branch: str, method: MergeMethod) -> bool:
    """Do it with git alone, in the checkout of `main`; return whether there was no conflict."""
    words = {
        "merge": ["merge", "--no-ff", "--no-edit", branch],
        "squash": ["merge", "--squash", branch],
        "rebase": ["rebase", "main", f"{branch}~0"],
    }
    try:
        repository.git(*words[method])
    except AssertionError:
        for words_of_abort in (["rebase", "--abort"], ["reset", "--quiet", "--hard"]):
            try:
                repository.git(*words_of_abort)
            except AssertionError:
                continue
        repository.git("checkout", "--quiet", "--force", "main")
        return False
    if method == "squash":
        repository.git("commit", "--quiet", "--allow-empty", "--message", "Squashed")
    if method == "rebase":
        repository.git("checkout", "--quiet", "-B", "main")
    return True


@settings(max_examples=6, deadline=None)
@given(branches=BRANCHES, method=st.sampled_from(["merge", "squash", "rebase"]))
async def test_a_train_of_branches_equals_what_git_makes_of_them(
    branches: list[list[Change]], method: MergeMethod
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environ:
        set_own_home(Path(folder) / "home", environ)
        repository = Repository(Path(folder) / "project")
        repository.root.mkdir()
        repository.git("init", "--quiet")
        for file in FILES:
            repository.commit(file, "".join(f"line {n}\n" for n in range(LINES)))
        for number, changes in enumerate(branches):
            repository.git("checkout", "--quiet", "-b", f"branch-{number}", "main")
            for change in changes:
                _commit(repository, change)
        repository.git("checkout", "--quiet", "main")
        place = Place(repository.root, Path(folder) / "scratch")
        tip = repository.git("rev-parse", "main")
        for number in range(len(branches)):
            head = repository.git("rev-parse", f"branch-{number}")
            result = await integrate(place, tip, head, method, "Message\n")
            can_merge = _bring_in(repository, f"branch-{number}", method)
            assert bool(result.commit) == can_merge
            assert bool(result.conflicts) != can_merge
            if not can_merge:
                break
            tip = result.commit
            trees = repository.git("rev-parse", f"{tip}^{{tree}}", "main^{tree}").split()
            assert trees[0] == trees[1]


@pytest.mark.parametrize("has_merge_tree", [True, False])
async def test_it_works_with_sha_256(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, has_merge_tree: bool
) -> None:
    if not has_merge_tree:
        monkeypatch.setattr(three_way, "_OLDEST_MERGE_TREE", (99, 0))
    repository = Repository(tmp_path / "wide")
    repository.root.mkdir()
    repository.git("init", "--quiet", "--object-format=sha256")
    repository.commit("a", "1\n")
    repository.git("branch", "other")
    base = repository.commit("b", "1\n")
    repository.git("checkout", "--quiet", "other")
    head = repository.commit("c", "1\n")
    place = Place(repository.root, tmp_path / "scratch")
    for method in ("merge", "squash", "rebase"):
        result = await integrate(place, base, head, method, "Message\n")
        assert len(result.commit) == 64
        assert repository.git("ls-tree", "--name-only", result.commit) == "a\nb\nc"
    assert not place.folder.exists()


async def test_a_rebase_that_would_lose_a_resolution_is_refused(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("read.me", "side\n")
    repository.git("checkout", "--quiet", "main")
    base = repository.commit("other", "1\n")
    repository.git("checkout", "--quiet", "side")
    repository.git("merge", "--quiet", "--no-commit", "main")
    repository.write("read.me", "resolved\n")
    repository.git("commit", "--quiet", "--all", "--no-edit")
    head = repository.git("rev-parse", "HEAD")
    place = Place(repository.root, tmp_path / "scratch")
    with pytest.raises(SpinneyError, match="which a rebase would lose"):
        await integrate(place, base, head, "rebase", "")
    assert (await integrate(place, base, head, "squash", "S\n")).commit


async def test_a_merge_driver_of_the_repository_does_not_run(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit(".gitattributes", "read.me merge=evil\n")
    repository.git("config", "merge.evil.driver", f"touch '{tmp_path}/ran'; exit 1")
    repository.git("checkout", "--quiet", "-b", "side")
    head = repository.commit("read.me", "one\ntwo\nthree\nfour\n")
    repository.git("checkout", "--quiet", "main")
    base = repository.commit("read.me", "zero\none\ntwo\nthree\n")
    place = Place(repository.root, tmp_path / "scratch")
    result = await integrate(place, base, head, "merge", "M\n")
    shown = repository.git("show", f"{result.commit}:read.me")
    assert shown == "zero\none\ntwo\nthree\nfour"
    assert not (tmp_path / "ran").exists()


async def test_commits_are_signed_if_the_user_wants_that(
    repository: Repository, tmp_path: Path
) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat >/dev/null\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n"
        "echo '-----BEGIN PGP SIGNATURE-----'\n"
    )
    signer.chmod(0o755)
    repository.git("config", "gpg.program", str(signer))
    repository.git("config", "commit.gpgsign", "true")
    assert await three_way.wants_signatures(repository.root)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    place = Place(repository.root, tmp_path / "scratch", sign=True)
    commit = await three_way.commit_tree(place, tree, [], "Signed\n")
    assert "BEGIN PGP SIGNATURE" in repository.git("cat-file", "commit", commit)


@pytest.mark.parametrize("how", ["merge", "squash", "rebase", "squash and more", "not"])
async def test_a_merged_branch_is_recognized(
    repository: Repository, tmp_path: Path, how: str
) -> None:
    start = repository.git("rev-parse", "main")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("x", "1\n")
    head = repository.commit("y", "1\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("z", "1\n")
    scratch = ScratchObjects(tmp_path / "objects")
    await scratch.prepare(repository.root / ".git")
    if how == "merge":
        repository.git("merge", "--quiet", "--no-edit", "side")
    elif how.startswith("squash"):
        repository.git("merge", "--quiet", "--squash", "side")
        repository.git("commit", "--quiet", "--message", "Squashed")
    elif how == "rebase":
        repository.git("cherry-pick", start + "..side")
    if how == "squash and more":
        repository.commit("x", "2\n")
    base = repository.git("rev-parse", "main")
    found = await find_merged(repository.root, head, [base], "side", scratch)
    expected = {"merge": "commits", "not": None}
    assert found == expected.get(how, "squash")
    repository.git("branch", "fresh")
    assert await find_merged(repository.root, base, [base], "fresh", scratch) is None


async def test_a_rebase_leaves_out_what_git_does(repository: Repository, tmp_path: Path) -> None:
    """Merges and what the base has already; a commit that was empty from the start stays."""
    repository.git("checkout", "--quiet", "-b", "side")
    same = repository.commit("same", "1\n")
    repository.git("commit", "--quiet", "--allow-empty", "--message", "Empty")
    repository.git("checkout", "--quiet", "-b", "inner", "main")
    repository.commit("inner", "1\n")
    repository.git("checkout", "--quiet", "side")
    repository.git("merge", "--quiet", "--no-edit", "inner")
    head = repository.commit("last", "1\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("other", "1\n")
    repository.git("cherry-pick", same)
    place = Place(repository.root, tmp_path / "scratch")
    made = await integrate(place, repository.git("rev-parse", "main"), head, "rebase", "")
    repository.git("checkout", "--quiet", "side")
    repository.git("rebase", "--quiet", "main")
    shape = "--format=%s"
    assert sorted(repository.git("log", shape, made.commit).splitlines()) == sorted(
        repository.git("log", shape, "side").splitlines()
    )
    trees = repository.git("rev-parse", f"{made.commit}^{{tree}}", "side^{tree}").split()
    assert trees[0] == trees[1]
    assert not (await integrate(place, made.commit, head, "rebase", "")).conflicts


async def test_a_branch_that_begins_at_the_base_is_rebased_by_moving_the_base(
    repository: Repository, tmp_path: Path
) -> None:
    place = Place(repository.root, tmp_path / "scratch")
    base = repository.git("rev-parse", "main")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("a", "1\n")
    head = repository.commit("b", "1\n")
    for before, after, expected in ((base, head, head), (head, base, head), (base, base, base)):
        assert (await integrate(place, before, after, "rebase", "")).commit == expected


async def test_a_rebase_takes_a_change_back_where_the_branch_does(
    repository: Repository, tmp_path: Path
) -> None:
    """Each commit is compared with the one before it, not with where the branch began."""
    repository.git("checkout", "--quiet", "-b", "side")
    before = (repository.root / "read.me").read_text()
    repository.commit("read.me", "other\n")
    head = repository.commit("read.me", before)
    repository.git("checkout", "--quiet", "main")
    base = repository.commit("more", "1\n")
    place = Place(repository.root, tmp_path / "scratch")
    made = await integrate(place, base, head, "rebase", "")
    trees = repository.git("rev-parse", f"{made.commit}^{{tree}}", "main^{tree}").split()
    assert trees[0] == trees[1]
    assert repository.git("rev-list", "--count", f"{base}..{made.commit}") == "2"


def _commit_by(repository: Repository, author: bytes, encoding: bytes, message: bytes) -> str:
    """Commit a new file to the new branch `side` with these bytes, then another one to `main`."""
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("new", "1\n")
    repository.git("add", "--all")
    tree, parent = repository.git("write-tree"), repository.git("rev-parse", "HEAD")
    raw = repository.root / ".git" / "raw"
    raw.write_bytes(
        f"tree {tree}\nparent {parent}\nauthor ".encode()
        + author
        + b"\ncommitter C <c@c.c> 1700000000 +0000\n"
        + (b"encoding " + encoding + b"\n" if encoding else b"")
        + b"\n"
        + message
    )
    head = repository.git("hash-object", "-t", "commit", "-w", str(raw))
    repository.git("reset", "--quiet", "--hard", head)
    repository.git("checkout", "--quiet", "main")
    repository.commit("other", "1\n")
    return head


def _read_all_but_committer(repository: Repository, commit: str) -> list[str]:
    lines = repository.git("cat-file", "commit", commit).split("\n")
    return [line for line in lines if not line.startswith("committer ")]


@pytest.mark.parametrize(
    ("author", "encoding", "message"),
    [
        pytest.param(
            "Jörg <jö@x.y> 1700000000 +0130".encode(), b"", "grüße\n".encode(), id="UTF-8"
        ),
        pytest.param(b"J\xf6rg <j@x.y> 1700000000 +0130", b"ISO-8859-1", b"gr\xfc\n", id="Latin-1"),
        pytest.param(b"\x83n <j@x.y> 1700000000 +0900", b"Shift_JIS", b"\x83n\n", id="Shift JIS"),
        pytest.param(b"J\xf6rg <\xf6@x.y> 1700000000 +0130", b"", b"gr\xfc\n\n\xff\n", id="unsaid"),
        pytest.param(b"J\xf6rg <j@x.y> 1700000000 +0130", b"klingon", b"gr\xfc\n", id="unknown"),
        pytest.param(b"\xf6\xc3\xb6 <j@x.y> 1700000000 +0130", b"", b"\xed\xa0\x80\n", id="mixed"),
        pytest.param(b"A <j@x.y> 1000000 +0130", b"", b"m\n", id="before 1973"),
        pytest.param(b"A <j@x.y> 0 -0001", b"", b"m\n", id="1970"),
        pytest.param(b"A <j@x.y> 99999999999 +0000", b"", b"m\n", id="far future"),
        pytest.param(b"A <j@x.y> 1700000000 +9959", b"", b"m\n", id="no such zone"),
    ],
)
async def test_a_rebase_keeps_the_author_and_the_message_as_git_does(
    repository: Repository, tmp_path: Path, author: bytes, encoding: bytes, message: bytes
) -> None:
    head = _commit_by(repository, author, encoding, message)
    place = Place(repository.root, tmp_path / "scratch")
    made = await integrate(place, repository.git("rev-parse", "main"), head, "rebase", "")
    repository.git("rebase", "--quiet", "main", "side")
    ours, plain = (_read_all_but_committer(repository, one) for one in (made.commit, "side"))
    assert ours == plain


@pytest.mark.parametrize("author", [b" <> 1700000000 +0000", b" <j@x.y> 1700000000 +0000"])
async def test_a_rebase_of_a_commit_without_an_author_name_is_refused(
    repository: Repository, tmp_path: Path, author: bytes
) -> None:
    head = _commit_by(repository, author, b"", b"m\n")
    base = repository.git("rev-parse", "main")
    place = Place(repository.root, tmp_path / "scratch")
    with pytest.raises(SpinneyError, match=f"Commit {head[:10]} has no author name"):
        await integrate(place, base, head, "rebase", "")
    assert (await integrate(place, base, head, "squash", "S\n")).commit


async def test_a_commit_with_an_impossible_zone_keeps_its_time(
    repository: Repository, tmp_path: Path
) -> None:
    """Git makes no commit with more than four digits of a zone; some programs did."""
    tree = repository.git("rev-parse", "HEAD^{tree}")
    place = Place(repository.root, tmp_path / "scratch")
    author = three_way.Author("A", "j@x.y", "1700000000 +51800")
    made = await three_way.commit_tree(place, tree, [], "m\n", author)
    assert repository.git("log", "-1", "--format=%at", made) == "1700000000"
