"""Changed files and their patches, on each side and for any kind of file."""

import os
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git.changes import (
    ChangedFile,
    find_changed_file,
    list_changed_files,
    read_patch,
    to_display_name,
)
from tests.model.git.repository import Repository


async def list_by_name(repository: Repository, side: Side = "unstaged") -> dict[str, ChangedFile]:
    files = await list_changed_files(repository.root, side, "main")
    return {to_display_name(file.name): file for file in files}


async def read_patch_text(repository: Repository, name: str, side: Side = "unstaged") -> str:
    file = await find_changed_file(repository.root, side, name, "main")
    patch, _ = await read_patch(repository.root, side, file, "main")
    return patch.to_text()


async def test_each_side_has_its_own_files(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "otter")
    repository.commit("mine", "1\n2\n")
    repository.write("read.me", "one\nTWO\nthree\n")
    repository.git("add", "read.me")
    repository.write("read.me", "one\nTWO\n")
    repository.write("new", "a\nb")
    unstaged = await list_by_name(repository)
    assert [(name, f.status, f.added, f.removed) for name, f in unstaged.items()] == [
        ("new", "untracked", 2, 0),
        ("read.me", "modified", 0, 1),
    ]
    staged = (await list_by_name(repository, "staged"))["read.me"]
    assert (staged.status, staged.added, staged.removed) == ("modified", 1, 1)
    assert [*await list_by_name(repository, "branch")] == ["mine"]


async def test_a_rename_names_both_and_a_mode_change_both_modes(repository: Repository) -> None:
    repository.commit("old name", "".join(f"{n}\n" for n in range(20)))
    repository.git("mv", "old name", "new name")
    (repository.root / "read.me").chmod(0o755)
    repository.git("add", "read.me")
    files = await list_by_name(repository, "staged")
    assert (files["new name"].status, files["new name"].old_name) == ("renamed", "old name")
    assert (files["read.me"].old_mode, files["read.me"].mode) == ("100644", "100755")
    assert "rename from old name" in await read_patch_text(repository, "new name", "staged")
    assert "old mode 100644\nnew mode 100755" in await read_patch_text(
        repository, "read.me", "staged"
    )


async def test_a_binary_file_has_no_line_counts(repository: Repository) -> None:
    (repository.root / "picture").write_bytes(b"\0\1\2")
    (repository.root / "read.me").write_bytes(b"\0\1\2")
    files = await list_by_name(repository)
    assert files["picture"].added is None
    assert files["read.me"].removed is None
    for name in ("picture", "read.me"):
        assert "Binary files " in await read_patch_text(repository, name)


async def test_a_submodule_is_shown_by_its_commits(
    repository: Repository, make_repository: object
) -> None:
    assert callable(make_repository)
    other = make_repository("other")
    other.commit("a", "1\n")
    repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub"
    )
    repository.git("commit", "-m", "Add it")
    new = Repository(repository.root / "sub").commit("b", "2\n")
    file = (await list_by_name(repository))["sub"]
    assert file.is_submodule
    assert f"+Subproject commit {new}" in await read_patch_text(repository, "sub")


@pytest.mark.parametrize(
    "name",
    ["with space", " leading", 'quo"te', "back\\slash", "über/日本.txt", "[a-z]*", ":x", "-x"],
)
async def test_files_of_any_name_are_found(repository: Repository, name: str) -> None:
    repository.commit(name, "1\n")
    repository.write(name, "2\n")
    assert [*await list_by_name(repository)] == [name]
    assert "-1\n+2" in await read_patch_text(repository, name)


async def test_names_that_are_not_valid_text_are_shown_and_found(repository: Repository) -> None:
    for raw in (b"caf\xe9", b"two\nlines", b"\x1b[31mred"):
        (repository.root / os.fsdecode(raw)).write_text("1\n")
    names = [*await list_by_name(repository)]
    assert sorted(names) == sorted(["caf\ufffd", "two␊lines", "␛[31mred"])
    for name in names:
        assert "+1" in await read_patch_text(repository, name)


async def test_carriage_returns_are_shown_only_if_they_differ(repository: Repository) -> None:
    path = repository.root / "dos"
    path.write_bytes(b"a\r\nb\r\nc\r\n")
    repository.git("add", "dos")
    repository.git("commit", "-m", "Add it")
    path.write_bytes(b"a\r\nB\r\nc\r\n")
    assert "-b\n+B\n c\n" in await read_patch_text(repository, "dos")
    path.write_bytes(b"a\r\nb\nc\r\n")
    assert " a␍\n-b␍\n+b\n c␍\n" in await read_patch_text(repository, "dos")


async def test_unchanged_files_are_refused(repository: Repository, tmp_path: Path) -> None:
    for name in ("read.me", "../secret", str(tmp_path), ""):
        with pytest.raises(SpinneyError, match="no longer has such changes"):
            await find_changed_file(repository.root, "unstaged", name)
