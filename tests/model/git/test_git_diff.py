"""Diffs as text in git's format, including untracked files."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git import untracked
from model.git.diff import diff
from model.git.run import LARGE_FILE
from model.git.worktrees import add_worktree
from tests.model.git.repository import Repository


async def test_without_changes_a_diff_is_empty(repository: Repository) -> None:
    for kind in ("working", "staged", "branch"):
        assert await diff(repository.root, kind) == ""


async def test_working_shows_all_uncommitted_changes(repository: Repository) -> None:
    repository.write("read.me", "one\nTWO\nthree\n")
    repository.write("staged", "new\n")
    repository.git("add", "staged")
    repository.write("untracked", "a\nb")
    text = await diff(repository.root, "working")
    assert "-two\n+TWO\n" in text
    assert "+++ b/staged\n@@ -0,0 +1 @@\n+new\n" in text
    assert text.endswith(
        "diff --git a/untracked b/untracked\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/untracked\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    )


async def test_staged_shows_the_changes_of_the_next_commit(repository: Repository) -> None:
    repository.write("read.me", "one\nTWO\nthree\n")
    repository.git("add", "--all")
    repository.write("read.me", "one\nTWO\nTHREE\n")
    text = await diff(repository.root, "staged")
    assert "+TWO" in text
    assert "THREE" not in text


async def test_branch_shows_the_commits_since_it_left_its_base(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.commit("on-main", "1\n")
    repository.commit("mine", "1\n", cwd=path)
    repository.write("uncommitted", "1\n", cwd=path)
    for base in ("main", None):
        text = await diff(path, "branch", base)
        assert "+++ b/mine" in text
        assert "on-main" not in text
        assert "uncommitted" not in text


async def test_a_base_without_common_history_is_reported(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "--orphan", "other")
    repository.git("commit", "--quiet", "-m", "Begin again")
    with pytest.raises(SpinneyError, match="no commit in common with 'main'"):
        await diff(repository.root, "branch", "main")


async def test_before_the_first_commit_every_file_is_new(
    make_repository: Callable[[str], Repository],
) -> None:
    fresh = make_repository("fresh")
    fresh.write("staged", "1\n")
    fresh.git("add", "staged")
    fresh.write("file", "2\n")
    assert (await diff(fresh.root, "working")).count("new file mode") == 2
    assert (await diff(fresh.root, "staged")).count("new file mode") == 1


@pytest.mark.parametrize(
    "name", ["with space", "quo\"te's", "back\\slash", "tab\t", "grüße", "n\nl"]
)
async def test_untracked_files_are_shown_in_gits_format(name: str, repository: Repository) -> None:
    contents = {"": "", "1": "x", "2": "x\n", "3": "x\n\n", "4": "x\ny"}
    for suffix, content in contents.items():
        repository.write(name + suffix, content)
    (repository.root / f"{name}5").write_bytes(b"\0")
    (repository.root / f"{name}6").symlink_to("read.me")
    script = repository.write(f"{name}7", "#!/bin/sh\n")
    script.chmod(0o755)
    ours = await diff(repository.root, "working")
    repository.git("add", "--all")
    gits = repository.git("-c", "core.quotePath=false", "diff", "--cached", "HEAD") + "\n"
    without_ids = [line for line in gits.splitlines() if not line.startswith("index ")]
    # Git ends names that hold a space with a tab in these two lines.
    assert ours.splitlines() == [line.rstrip("\t") for line in without_ids]


async def test_a_working_diff_can_be_applied(repository: Repository, base_dir: Path) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.write("read.me", "one\n", cwd=path)
    repository.write("a b/grüße", "x\ny", cwd=path)
    text = await diff(path, "working")
    subprocess.run(["git", "apply"], cwd=repository.root, input=text.encode(), check=True)
    assert (repository.root / "a b/grüße").read_text() == "x\ny"
    assert (repository.root / "read.me").read_text() == "one\n"


async def test_pipes_devices_and_very_large_files_are_not_read(repository: Repository) -> None:
    os.mkfifo(repository.root / "pipe")
    (repository.root / "link").symlink_to("/dev/zero")
    repository.write("large", "x" * (LARGE_FILE + 1))
    text = await diff(repository.root, "working")
    assert "+/dev/zero" in text
    assert "Binary files /dev/null and b/large differ" in text
    assert len(text) < 1000


async def test_untracked_files_beyond_the_limits_are_counted_at_the_end(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        repository.write(f"file{number}", "x\n" * 10)
    monkeypatch.setattr(untracked, "_MAX_FILES", 3)
    text = await diff(repository.root, "working")
    assert (text.count("new file mode"), text.count("+x\n")) == (3, 30)
    assert text.endswith("\\ The rest is not shown: 2 more untracked files.\n")
    monkeypatch.setattr(untracked, "_MAX_TOTAL_BYTES", 15)
    assert (await diff(repository.root, "working")).endswith(": 4 more untracked files.\n")


async def test_the_users_settings_do_not_change_the_format(
    repository: Repository, own_home: Path
) -> None:
    repository.commit("long", "".join(f"{number}\n\n" for number in range(30)))
    repository.write("long", "".join(f"{number or 'zero'}\n\n" for number in range(29)))
    repository.write("read.me", "one\n")
    repository.write("grüße", "1\n")
    repository.git("add", "grüße")
    plain = await diff(repository.root, "working")
    for setting in (
        "color.ui=always", "diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.context=0",
        "diff.wordRegex=.", "diff.relative=true", "core.quotePath=true", "diff.external=false",
        "diff.srcPrefix=old/", "diff.dstPrefix=new/", "diff.interHunkContext=9",
        "diff.suppressBlankEmpty=true", "diff.orderFile=grüße", "diff.submodule=log",
    ):  # fmt: skip
        repository.git("config", "--global", *setting.split("=", 1))
    assert await diff(repository.root, "working") == plain


async def test_control_characters_are_escaped(repository: Repository) -> None:
    repository.write("read.me", "one\x1b]0;title\x07\u202e\n")
    repository.write("untracked", "\x1b[2J\x9b")
    text = await diff(repository.root, "working")
    assert not set("\x1b\x07\u202e\x9b") & set(text)
    assert "+one␛]0;title␇<U+202E>\n" in text
    assert "+␛[2J<U+009B>\n" in text


async def test_bytes_that_are_not_valid_text_are_replaced(repository: Repository) -> None:
    (repository.root / "read.me").write_bytes(b"\xff\n")
    assert "+\ufffd\n" in await diff(repository.root, "working")


async def test_a_diff_of_a_linked_worktree_does_not_show_every_file_deleted(
    repository: Repository, base_dir: Path
) -> None:
    await add_worktree(repository.root, base_dir / "one", "one", "main")
    assert await diff(base_dir / "one", "working") == ""
