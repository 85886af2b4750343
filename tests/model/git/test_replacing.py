"""Files are replaced whole, and what a killed process left beside them is removed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.base import exchanging
from model.base.errors import SpinneyError
from model.git import replacing as replacing_module
from model.git.replacing import SavedMeanwhileError, delete_expected, replacing
from model.git.snapshots import files

ORPHAN = ".0123456789abcdef0123456789abcdef.spinney"


def test_a_failed_write_leaves_the_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "file"
    target.parent.mkdir()
    target.write_text("before")
    with pytest.raises(OSError, match="full"), replacing(target) as temporary:
        temporary.write_text("half")
        raise OSError("full")
    assert list(target.parent.iterdir()) == [target]
    assert target.read_text() == "before"


async def test_orphans_of_a_killed_process_are_removed_from_folders_that_are_written(
    tmp_path: Path,
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    kept = [outside / ORPHAN, root / "other" / ORPHAN, root / "a" / ".mine.spinney"]
    for file in [*kept, root / "a" / ORPHAN]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("half")
        os.utime(file, (1, 1))
    kept.append(root / "a" / ORPHAN.replace("0", "f"))
    kept[-1].write_text("being written")
    (root / "link").symlink_to(outside)
    (root / "a" / "gone").write_text("x")
    with pytest.raises(SpinneyError, match="'link' is not a folder"):
        await files.write_entries(root, {"a/gone": None, "link/x": None})
    assert not (root / "a" / ORPHAN).exists()
    assert all(file.exists() for file in kept)


Save = Callable[[Path, str], None]


def append(file: Path, text: str) -> None:
    with file.open("a") as opened:
        opened.write(text)


def save_by_renaming(file: Path, text: str) -> None:
    before = file.read_text() if file.exists() else ""
    written = file.with_name("editor's")
    written.write_text(before + text)
    written.replace(file)


class Steps:
    """Saves `target` before and after each step of the file system, at those that are chosen."""

    def __init__(self, target: Path, save: Save, chosen: set[int]) -> None:
        self.taken = 0
        self.saved: list[str] = []
        self._target, self._save, self._chosen = target, save, chosen

    def note(self) -> None:
        if self.taken in self._chosen:
            line = f"save {self.taken}\n"
            self._save(self._target, line)
            self.saved.append(line)
        self.taken += 1

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.note()
            try:
                return function(*args)
            finally:
                self.note()

        return call


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("save", [append, save_by_renaming])
@pytest.mark.parametrize("before", ["before\n", None])
@pytest.mark.parametrize("after", ["after\n", None])
def test_what_is_saved_at_any_step_is_in_a_file_afterwards(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    can_exchange: bool,
    save: Save,
    before: str | None,
    after: str | None,
) -> None:
    target = tmp_path / "folder" / "file"

    def is_expected(file: Path) -> bool:
        return (file.read_text() if file.exists() else None) == before

    for chosen in ({0}, {1}, {2}, {3}, {1, 3}, {2, 3}, {2, 4}, {2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}):
        steps = Steps(target, save, chosen)
        target.parent.mkdir()
        if before is not None:
            target.write_text(before)
        with monkeypatch.context() as patched:
            if not can_exchange:
                patched.setattr(exchanging, "_rename", lambda *_: False)
            for name in ("exchange", "move_new"):
                real = getattr(replacing_module, name)
                patched.setattr(replacing_module, name, steps.around(real))
            try:
                if after is None:
                    delete_expected(target, steps.around(is_expected))
                else:
                    with replacing(target, steps.around(is_expected)) as temporary:
                        temporary.write_text(after)
            except SavedMeanwhileError as error:
                assert error.beside is None or error.beside.exists()
            else:
                # What is saved after the last look is appended to the new file.
                assert target.exists() == (after is not None or bool(steps.saved))
        texts = {file: file.read_text() for file in target.parent.iterdir()}
        assert all(any(line in text for text in texts.values()) for line in steps.saved), chosen
        assert not [file for file in texts if file.name.endswith(".spinney")]
        for file in texts:
            file.unlink()
        target.parent.rmdir()


def test_a_file_that_is_as_expected_is_replaced_and_nothing_is_left_beside_it(
    tmp_path: Path,
) -> None:
    target = tmp_path / "folder" / "file"
    target.parent.mkdir()
    target.write_text("before")
    with replacing(target, lambda file: file.read_text() == "before") as temporary:
        temporary.write_text("after")
    assert target.read_text() == "after"
    delete_expected(target, lambda file: file.read_text() == "after")
    assert not list(target.parent.iterdir())


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_program_that_writes_into_the_file_that_it_opened_before_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    target = tmp_path / "folder" / "log"
    target.parent.mkdir()
    target.write_text("1\n")
    if not can_exchange:
        monkeypatch.setattr(exchanging, "_rename", lambda *_: False)
    with target.open("a") as opened:
        exchange = exchanging.exchange

        def write_after(one: Path, other: Path) -> None:
            exchange(one, other)
            opened.write("2\n")
            opened.flush()

        monkeypatch.setattr(replacing_module, "exchange", write_after)
        with (
            pytest.raises(SavedMeanwhileError),
            replacing(target, lambda file: file.read_text() == "1\n") as temporary,
        ):
            temporary.write_text("after")
    assert target.read_text().startswith("1\n2\n")
    assert list(target.parent.iterdir()) == [target]
