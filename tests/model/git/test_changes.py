"""What differs: by file, on each side, whatever the file is and however it is called."""

import os
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.changes import Side
from model.git.changes import Changed, changed_file, changed_files, patch_of, shown_name
from tests.model.git.made_repository import Repository


async def found(repository: Repository, side: Side = "unstaged") -> dict[str, Changed]:
    files = await changed_files(repository.root, side, "main")
    return {shown_name(file.name): file for file in files}


async def shown(repository: Repository, name: str, side: Side = "unstaged") -> str:
    file = await changed_file(repository.root, side, name, "main")
    patch, _ = await patch_of(repository.root, side, file, "main")
    return patch.shown()


async def test_each_side_has_its_own_files(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "otter")
    repository.commit("mine", "1\n2\n")
    repository.write("read.me", "one\nTWO\nthree\n")
    repository.git("add", "read.me")
    repository.write("read.me", "one\nTWO\n")
    repository.write("new", "a\nb")
    unstaged = await found(repository)
    assert [(name, f.status, f.added, f.removed) for name, f in unstaged.items()] == [
        ("new", "untracked", 2, 0),
        ("read.me", "modified", 0, 1),
    ]
    staged = (await found(repository, "staged"))["read.me"]
    assert (staged.status, staged.added, staged.removed) == ("modified", 1, 1)
    assert [*await found(repository, "branch")] == ["mine"]


async def test_a_rename_names_both_and_a_mode_change_both_modes(repository: Repository) -> None:
    repository.commit("old name", "".join(f"{n}\n" for n in range(20)))
    repository.git("mv", "old name", "new name")
    (repository.root / "read.me").chmod(0o755)
    repository.git("add", "read.me")
    files = await found(repository, "staged")
    assert (files["new name"].status, files["new name"].old_name) == ("renamed", "old name")
    assert (files["read.me"].old_mode, files["read.me"].mode) == ("100644", "100755")
    assert "rename from old name" in await shown(repository, "new name", "staged")
    assert "old mode 100644\nnew mode 100755" in await shown(repository, "read.me", "staged")


async def test_a_binary_file_has_no_lines_and_says_so(repository: Repository) -> None:
    (repository.root / "picture").write_bytes(b"\0\1\2")
    (repository.root / "read.me").write_bytes(b"\0\1\2")
    files = await found(repository)
    assert files["picture"].added is None
    assert files["read.me"].removed is None
    for name in ("picture", "read.me"):
        assert "Binary files " in await shown(repository, name)


async def test_a_submodule_is_told_by_its_commits(
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
    file = (await found(repository))["sub"]
    assert file.is_submodule
    assert f"+Subproject commit {new}" in await shown(repository, "sub")


@pytest.mark.parametrize(
    "name",
    ["with space", " leading", 'quo"te', "back\\slash", "über/日本.txt", "[a-z]*", ":x", "-x"],
)
async def test_any_name_is_found_again(repository: Repository, name: str) -> None:
    repository.commit(name, "1\n")
    repository.write(name, "2\n")
    assert [*await found(repository)] == [name]
    assert "-1\n+2" in await shown(repository, name)


async def test_names_that_are_no_text_are_shown_and_found(repository: Repository) -> None:
    for raw in (b"caf\xe9", b"two\nlines", b"\x1b[31mred"):
        (repository.root / os.fsdecode(raw)).write_text("1\n")
    names = [*await found(repository)]
    assert sorted(names) == sorted(["caf\ufffd", "two␊lines", "␛[31mred"])
    for name in names:
        assert "+1" in await shown(repository, name)


async def test_carriage_returns_are_seen_only_where_they_matter(repository: Repository) -> None:
    path = repository.root / "dos"
    path.write_bytes(b"a\r\nb\r\nc\r\n")
    repository.git("add", "dos")
    repository.git("commit", "-m", "Add it")
    path.write_bytes(b"a\r\nB\r\nc\r\n")
    assert "-b\n+B\n c\n" in await shown(repository, "dos")
    path.write_bytes(b"a\r\nb\nc\r\n")
    assert " a␍\n-b␍\n+b\n c␍\n" in await shown(repository, "dos")


async def test_what_does_not_differ_is_refused(repository: Repository, tmp_path: Path) -> None:
    for name in ("read.me", "../secret", str(tmp_path), ""):
        with pytest.raises(SpinneyError, match="no longer has such changes"):
            await changed_file(repository.root, "unstaged", name)
