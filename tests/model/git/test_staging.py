"""Staging, discarding and restoring: whole files, or single hunks."""

import contextlib
import stat
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git import discarding
from model.git.changes import find_changed_file, list_changed_files, read_patch, to_display_name
from model.git.discarding import MAX_DISCARDS, discard, undo
from model.git.file_copies import FileCopy
from model.git.merging import abort, find_operation, read_prepared_message
from model.git.staging import stage, unstage
from tests.model.git.repository import Repository

TWENTY = "".join(f"{n}\n" for n in range(20))
BOTH_ENDS = TWENTY.replace("1\n", "ONE\n", 1).replace("18\n", "EIGHTEEN\n", 1)


@pytest.fixture
def discards(tmp_path: Path) -> Path:
    return tmp_path / "data" / "discarded" / "w1"


@pytest.fixture
def two_hunks(repository: Repository) -> Repository:
    """A repository in which the file `list` differs at both ends."""
    repository.commit("list", TWENTY)
    repository.write("list", BOTH_ENDS)
    return repository


async def read_digest_and_hunks(
    repository: Repository, name: str, side: Side = "unstaged"
) -> tuple[str, list[str]]:
    """Return the digest of a file's diff, and its hunks."""
    file = await find_changed_file(repository.root, side, name)
    patch, _ = await read_patch(repository.root, side, file)
    return patch.digest, patch.hunk_names()


async def list_names(repository: Repository, side: Side) -> list[str]:
    return [to_display_name(file.name) for file in await list_changed_files(repository.root, side)]


async def catch_error(call: Awaitable[object]) -> str:
    with pytest.raises(SpinneyError) as refused:
        await call
    return refused.value.message


# Staging ------------------------------------------------------------------------------------------


async def test_a_hunk_is_staged_and_the_others_stay(two_hunks: Repository) -> None:
    _, hunks = await read_digest_and_hunks(two_hunks, "list")
    await stage(two_hunks.root, "list", hunks[1], None)
    staged = two_hunks.git("diff", "--cached")
    assert "+EIGHTEEN" in staged
    assert "+ONE" not in staged
    assert "+ONE" in two_hunks.git("diff")
    assert (two_hunks.root / "list").read_text() == BOTH_ENDS


async def test_a_hunk_is_unstaged_and_the_others_stay(two_hunks: Repository) -> None:
    await stage(two_hunks.root, "list", None, None)
    assert await list_names(two_hunks, "unstaged") == []
    _, hunks = await read_digest_and_hunks(two_hunks, "list", "staged")
    await unstage(two_hunks.root, "list", hunks[0], None)
    assert "+ONE" not in two_hunks.git("diff", "--cached")
    assert "+EIGHTEEN" in two_hunks.git("diff", "--cached")
    assert (two_hunks.root / "list").read_text() == BOTH_ENDS


async def test_outdated_hunks_and_digests_are_refused_and_nothing_is_done(
    two_hunks: Repository, discards: Path
) -> None:
    digest, hunks = await read_digest_and_hunks(two_hunks, "list")
    two_hunks.write("list", BOTH_ENDS.replace("ONE", "UNO"))
    for call in (
        stage(two_hunks.root, "list", hunks[0], None),
        stage(two_hunks.root, "list", None, digest),
        discard(two_hunks.root, discards, "list", hunks[0], None),
        discard(two_hunks.root, discards, "list", None, digest),
    ):
        assert "has changed since it was shown, so nothing was done" in await catch_error(call)
    assert two_hunks.git("diff", "--cached") == ""
    assert "UNO" in (two_hunks.root / "list").read_text()


@pytest.mark.parametrize("name", ["with space", 'quo"te', "über/日本.txt", "[a-z]*", "-x", "a\tb"])
async def test_a_hunk_of_a_file_of_any_name(
    repository: Repository, discards: Path, name: str
) -> None:
    repository.commit(name, TWENTY)
    repository.write(name, BOTH_ENDS)
    shown = to_display_name(name)
    _, hunks = await read_digest_and_hunks(repository, shown)
    await stage(repository.root, shown, hunks[0], None)
    _, hunks = await read_digest_and_hunks(repository, shown)
    await discard(repository.root, discards, shown, hunks[0], None)
    assert await list_names(repository, "unstaged") == []
    assert await list_names(repository, "staged") == [shown]
    _, hunks = await read_digest_and_hunks(repository, shown, "staged")
    await unstage(repository.root, shown, hunks[0], None)
    assert await list_names(repository, "staged") == []


async def test_new_deleted_and_renamed_files_are_staged_and_unstaged(
    repository: Repository,
) -> None:
    repository.commit("gone", "1\n")
    repository.commit("before", TWENTY)
    (repository.root / "gone").unlink()
    (repository.root / "before").rename(repository.root / "after")
    repository.write("new", "")
    await stage(repository.root, None, None, None)
    assert await list_names(repository, "staged") == ["after", "gone", "new"]
    renamed = await find_changed_file(repository.root, "staged", "after")
    assert renamed.status == "renamed"
    await unstage(repository.root, "after", None, None)
    assert await list_names(repository, "unstaged") == ["after", "before"]
    await unstage(repository.root, None, None, None)
    assert await list_names(repository, "staged") == []
    assert await list_names(repository, "unstaged") == ["after", "before", "gone", "new"]


async def test_the_only_hunk_of_a_new_or_deleted_file_or_a_submodule_is_all_of_it(
    repository: Repository,
) -> None:
    module = repository.root / "module"
    repository.git("init", "--quiet", str(module))
    repository.git("-C", str(module), "commit", "--quiet", "--allow-empty", "--message", "first")
    repository.git("add", "module")
    repository.commit("gone", "gone\n")
    repository.git("-C", str(module), "commit", "--quiet", "--allow-empty", "--message", "second")
    (repository.root / "gone").unlink()
    repository.write("new", "new\n")
    names = ["gone", "module", "new"]
    for name in names:
        _, (hunk,) = await read_digest_and_hunks(repository, name)
        await stage(repository.root, name, hunk, None)
    assert await list_names(repository, "unstaged") == []
    assert await list_names(repository, "staged") == names
    for name in names:
        _, (hunk,) = await read_digest_and_hunks(repository, name, "staged")
        await unstage(repository.root, name, hunk, None)
    assert await list_names(repository, "staged") == []


async def test_a_hunk_of_a_renamed_file_is_unstaged_and_the_rename_stays(
    repository: Repository,
) -> None:
    repository.commit("before", TWENTY)
    repository.git("mv", "before", "after it")
    repository.write("after it", BOTH_ENDS)
    repository.git("add", "--all")
    _, hunks = await read_digest_and_hunks(repository, "after it", "staged")
    await unstage(repository.root, "after it", hunks[0], None)
    assert "ONE" not in repository.git("show", ":after it")
    assert "EIGHTEEN" in repository.git("show", ":after it")
    assert repository.git("ls-files", "before") == ""


async def test_files_are_staged_and_unstaged_before_the_first_commit(
    make_repository: object,
) -> None:
    assert callable(make_repository)
    empty: Repository = make_repository("empty")
    empty.write("a", "1\n")
    await stage(empty.root, "a", None, None)
    assert await list_names(empty, "staged") == ["a"]
    await unstage(empty.root, "a", None, None)
    assert await list_names(empty, "unstaged") == ["a"]


async def test_a_hunk_with_carriage_returns_and_without_a_last_line_break(
    repository: Repository, discards: Path
) -> None:
    path = repository.root / "dos"
    before = TWENTY.replace("\n", "\r\n").encode() + b"end"
    path.write_bytes(before)
    repository.git("add", "dos")
    repository.git("commit", "-m", "Add it")
    path.write_bytes(before.replace(b"1\r\n", b"ONE\r\n", 1).replace(b"end", b"END"))
    _, hunks = await read_digest_and_hunks(repository, "dos")
    await discard(repository.root, discards, "dos", hunks[0], None)
    assert path.read_bytes() == before.replace(b"end", b"END")
    _, hunks = await read_digest_and_hunks(repository, "dos")
    await stage(repository.root, "dos", hunks[0], None)
    assert await list_names(repository, "unstaged") == []


# Discarding and restoring ------------------------------------------------------------------------


async def test_a_discarded_hunk_is_restored_byte_for_byte(
    two_hunks: Repository, discards: Path
) -> None:
    path = two_hunks.root / "list"
    path.chmod(0o755)
    _, hunks = await read_digest_and_hunks(two_hunks, "list")
    done = await discard(two_hunks.root, discards, "list", hunks[0], None)
    assert path.read_text() == BOTH_ENDS.replace("ONE", "1")
    assert (await undo(two_hunks.root, discards, done.id)).name == "list"
    assert path.read_text() == BOTH_ENDS
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


CONTENTS = [b"", b"\0\xff\r\n\r", "日本\r\nno end".encode(), b"x" * 3_000_000]


@pytest.mark.parametrize("content", CONTENTS, ids=["empty", "binary", "mixed", "large"])
@pytest.mark.parametrize("name", ["read.me", "folder/new file"])
async def test_a_discarded_file_is_restored_byte_for_byte(
    repository: Repository, discards: Path, name: str, content: bytes
) -> None:
    path = repository.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    await discard(repository.root, discards, name, None, None)
    assert await list_names(repository, "unstaged") == []
    await undo(repository.root, discards, None)
    assert path.read_bytes() == content


async def test_a_deletion_a_link_and_a_removed_folder_are_restored(
    repository: Repository, discards: Path
) -> None:
    read_me = repository.root / "read.me"
    read_me.unlink()
    await discard(repository.root, discards, "read.me", None, None)
    assert read_me.read_text() == "one\ntwo\nthree\n"
    await undo(repository.root, discards, None)
    assert not read_me.exists()
    read_me.symlink_to("nowhere")
    await discard(repository.root, discards, "read.me", None, None)
    assert not read_me.is_symlink()
    await undo(repository.root, discards, None)
    assert read_me.readlink() == Path("nowhere")
    new = repository.write("deep/er/new", "1\n")
    await discard(repository.root, discards, "deep/er/new", None, None)
    new.parent.rmdir()
    await undo(repository.root, discards, None)
    assert new.read_text() == "1\n"


@pytest.mark.parametrize("is_hunk", [True, False])
async def test_what_is_saved_while_it_is_discarded_stays(
    two_hunks: Repository,
    discards: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_hunk: bool,
) -> None:
    path = two_hunks.root / "list"
    _, hunks = await read_digest_and_hunks(two_hunks, "list")
    copying = discarding.copying

    @contextlib.asynccontextmanager
    async def save_and_copy(*args: Any) -> AsyncIterator[FileCopy]:
        async with copying(*args) as copy:
            path.write_text(path.read_text() + "saved\n")
            yield copy

    monkeypatch.setattr(discarding, "copying", save_and_copy)
    message = await catch_error(
        discard(two_hunks.root, discards, "list", hunks[0] if is_hunk else None, None)
    )
    assert "was saved meanwhile and stays as it is, so nothing was done" in message
    assert path.read_text() == BOTH_ENDS + "saved\n"
    assert not list(discards.iterdir())


async def test_what_is_saved_while_a_discard_is_undone_stays(
    two_hunks: Repository, discards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = two_hunks.root / "list"
    done = await discard(two_hunks.root, discards, "list", None, None)
    restore = discarding._restore

    def save_and_restore(*args: Any) -> None:
        path.write_text("saved\n")
        restore(*args)

    monkeypatch.setattr(discarding, "_restore", save_and_restore)
    assert "has changed since the discard" in await catch_error(
        undo(two_hunks.root, discards, done.id)
    )
    assert path.read_text() == "saved\n"


async def test_undo_restores_the_newest_discard_first(
    repository: Repository, discards: Path
) -> None:
    for name in ("a", "b"):
        repository.write(name, name)
        await discard(repository.root, discards, name, None, None)
    assert [(await undo(repository.root, discards, None)).name for _ in range(2)] == ["b", "a"]
    assert await catch_error(undo(repository.root, discards, None)) == (
        "There is no discard to undo in this worktree."
    )


async def test_undo_overwrites_nothing_and_names_the_saved_file(
    repository: Repository, discards: Path
) -> None:
    path = repository.write("read.me", "discarded\n")
    await discard(repository.root, discards, "read.me", None, None)
    path.write_text("written since\n")
    message = await catch_error(undo(repository.root, discards, None))
    assert path.read_text() == "written since\n"
    assert "has changed since the discard" in message
    assert Path(message.rpartition(" is in ")[2].rstrip(".")).read_text() == "discarded\n"


async def test_changes_that_cannot_be_backed_up_are_not_discarded(
    repository: Repository, discards: Path
) -> None:
    path = repository.write("read.me", "mine\n")
    discards.parent.mkdir(parents=True)
    discards.write_text("a file where a folder should be")
    assert "was not discarded, because it could not be backed up" in await catch_error(
        discard(repository.root, discards, "read.me", None, None)
    )
    assert path.read_text() == "mine\n"


async def test_the_number_of_discards_is_limited(repository: Repository, discards: Path) -> None:
    for number in range(MAX_DISCARDS):
        (discards / f"{number:020}").mkdir(parents=True)
    repository.write("new", "1\n")
    done = await discard(repository.root, discards, "new", None, None)
    left = [folder.name for folder in discards.iterdir()]
    assert len(left) == MAX_DISCARDS
    assert done.id in left


# Conflicts ----------------------------------------------------------------------------------------


@pytest.fixture
def conflict(repository: Repository) -> Repository:
    """A merge that stopped: `read.me` changed on both sides."""
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit("read.me", "theirs\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("read.me", "ours\n")
    with pytest.raises(AssertionError):
        repository.git("merge", "--quiet", "other")
    return repository


async def test_a_conflict_is_marked_and_staged_only_when_it_is_resolved(
    conflict: Repository, discards: Path
) -> None:
    assert await find_operation(conflict.root) == "merge"
    file = await find_changed_file(conflict.root, "unstaged", "read.me")
    assert file.status == "conflicted"
    patch, _ = await read_patch(conflict.root, "unstaged", file)
    assert "+<<<<<<< HEAD\n ours\n+=======\n+theirs\n" in patch.to_text()
    assert await list_names(conflict, "staged") == []
    for call in (
        stage(conflict.root, "read.me", None, None),
        stage(conflict.root, None, None, None),
    ):
        assert "still contains conflict markers" in await catch_error(call)
    assert "has a conflict" in await catch_error(
        discard(conflict.root, discards, "read.me", None, None)
    )
    conflict.write("read.me", "both\n")
    await stage(conflict.root, "read.me", None, None)
    assert await list_names(conflict, "staged") == ["read.me"]


async def test_a_merge_has_the_message_that_git_prepared(conflict: Repository) -> None:
    assert await read_prepared_message(conflict.root) == "Merge branch 'other'"
    await abort(conflict.root)
    assert await read_prepared_message(conflict.root) == ""


async def test_a_merge_and_a_rebase_can_be_aborted(conflict: Repository) -> None:
    assert await abort(conflict.root) == "merge"
    assert (conflict.root / "read.me").read_text() == "ours\n"
    assert "no merge or rebase in progress" in await catch_error(abort(conflict.root))
    with pytest.raises(AssertionError):
        conflict.git("rebase", "--quiet", "other")
    assert await abort(conflict.root) == "rebase"
    assert await find_operation(conflict.root) is None


async def test_a_merge_that_would_lose_later_changes_is_not_aborted_and_says_why(
    conflict: Repository,
) -> None:
    conflict.git("merge", "--abort")
    conflict.git("checkout", "--quiet", "other")
    conflict.write("beside.txt", "merged\n")
    conflict.git("add", "beside.txt")
    conflict.git("commit", "--quiet", "-m", "beside")
    conflict.git("checkout", "--quiet", "-")
    with pytest.raises(AssertionError):
        conflict.git("merge", "--quiet", "other")
    conflict.write("beside.txt", "touched since\n")
    message = await catch_error(abort(conflict.root))
    assert "'beside.txt'" in message and "Nothing was changed." in message
    assert await find_operation(conflict.root) == "merge"
    assert (conflict.root / "beside.txt").read_text() == "touched since\n"
    conflict.git("add", "beside.txt")
    assert await abort(conflict.root) == "merge"
