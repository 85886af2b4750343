"""The sweep lists what deleting each worktree would free and lose, and deletes many at once."""

import os
import re
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.landing import list_sweep, sweep_worktrees
from model.commands.recovery import restore_worktree
from model.commands.worktrees import archive_worktree
from model.domain.landing import Sweep, SweepRow
from model.landing.disk_usage import measure_directory
from model.runtime import doctor
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing


def _by_name(sweep: Sweep) -> dict[str, SweepRow]:
    return {row.name: row for row in sweep.rows}


async def test_what_can_go_without_a_loss_comes_first(
    landing: Landing, repository: Repository
) -> None:
    dirty = await landing.branch("dirty", a_txt="1\n")
    repository.git("merge", "--quiet", "dirty")
    (Path(dirty.path) / "loose").touch()
    own = await landing.branch("own", b_txt="1\n")
    merged = await landing.branch("merged", c_txt="1\n")
    repository.git("merge", "--quiet", "--squash", "merged")
    repository.git("commit", "--quiet", "--message", "Squashed")
    await archive_worktree(landing.workspace, merged.id)
    await landing.settle(dirty, own)
    sweep = await list_sweep(landing.workspace)
    rows = _by_name(sweep)
    assert sweep.rows[0].name == "merged"
    assert rows["merged"].merged == "squash"
    assert (rows["merged"].archived, rows["merged"].unpushed) == (True, 1)
    assert (rows["dirty"].uncommitted, rows["dirty"].unpushed) == (1, 0)
    assert (rows["own"].merged, rows["own"].unpushed) == (None, 1)
    assert all((row.size or 0) > 0 for row in sweep.rows)
    assert (sweep.free_bytes or 0) > 0
    assert sweep.rows == (await list_sweep(landing.workspace, with_sizes=False)).rows

    swept = await sweep_worktrees(
        landing.workspace, [dirty.id, own.id, merged.id, "unknown"], "delete"
    )
    assert [one.ok for one in swept] == [False, False, True, False]
    assert swept[0].message == "'dirty' has 1 uncommitted file. It was left alone."
    assert swept[1].message == (
        "'own' has 1 commit that no other branch and no remote has. It was left alone."
    )
    assert not Path(merged.path).exists()
    assert swept[2].recovery_id is not None
    restored = await restore_worktree(landing.workspace, swept[2].recovery_id)
    assert (Path(restored.path) / "c.txt").exists()

    (forced,) = await sweep_worktrees(landing.workspace, [own.id], "delete", force=True)
    assert (forced.ok, forced.message) == (True, "Deleted.")
    (archived,) = await sweep_worktrees(landing.workspace, [dirty.id], "archive", force=True)
    assert archived.ok
    assert landing.workspace.store.state.worktrees[dirty.id].archived_at is not None
    with pytest.raises(SpinneyError, match="choose 'archive' or 'delete'"):
        await sweep_worktrees(landing.workspace, [dirty.id], "keep")


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "file"
    file.write_bytes(b"x" * 100_000)
    once = measure_directory(tmp_path)
    os.link(file, tmp_path / "again")
    (tmp_path / "link").symlink_to(tmp_path.parent)
    assert once is not None
    assert 100_000 <= once < 200_000
    assert (measure_directory(tmp_path) or 0) < once + 10_000
    assert measure_directory(tmp_path, seconds=-1) is None
    assert measure_directory(tmp_path / "missing") is None


def test_the_doctor_mentions_the_sweep_when_the_disk_gets_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "is_short", lambda free, total: True)
    finding = doctor._check_directory("worktrees", tmp_path)
    assert (finding.ok, "GB free" in finding.found) == (None, True)
    assert re.match(r"The worktrees take \d+ k?B\. 'spinney prune' lists", finding.remedy)


async def test_worktrees_are_listed_in_pages_from_the_oldest_on(landing: Landing) -> None:
    made = [await landing.make(name) for name in ("three", "one", "two")]
    pages = [
        await list_sweep(landing.workspace, with_sizes=False, limit=2, offset=offset)
        for offset in (0, 2, 4)
    ]
    assert [{row.name for row in page.rows} for page in pages] == [{"three", "one"}, {"two"}, set()]
    assert [page.total for page in pages] == [3, 3, 3]
    chosen = [made[0].id, made[2].id]
    sweep = await list_sweep(landing.workspace, with_sizes=False, worktree_ids=chosen)
    assert {row.worktree_id for row in sweep.rows} == set(chosen)
