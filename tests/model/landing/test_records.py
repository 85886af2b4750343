"""The file of a project's landings: what of it is damaged hides nothing else, and is kept."""

import json
from pathlib import Path

import pytest

from model.domain.landing import Landing
from model.landing.records import LandingRecord, LandingRecords


def a_record(number: int) -> LandingRecord:
    landing = Landing(
        id=f"landing {number}", project_id="p", base="main", method="merge", before="0" * 40,
        after="1" * 40, landed_at=float(number), worktree_ids=[],
    )  # fmt: skip
    return LandingRecord(landing=landing, state="done")


@pytest.mark.parametrize(("is_whole", "left"), [(True, ["landing 2", "landing 0"]), (False, [])])
async def test_damaged_landings_are_kept_aside_and_the_others_are_read(
    tmp_path: Path, is_whole: bool, left: list[str]
) -> None:
    folder = tmp_path / "landing" / "projects"
    records = LandingRecords(folder)
    for number in range(3):
        await records.put(a_record(number))
    [file] = folder.glob("p/*.json")
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    entries = json.loads(file.read_text())
    del entries[1]["landing"]["project_id"]
    damaged = json.dumps(entries) if is_whole else file.read_text()[:-20]
    file.write_text(damaged)
    read = LandingRecords(folder)
    assert [one.landing.id for one in await read.read("p")] == left
    assert Path(read.damage["p"]).read_text() == damaged
    await read.put(a_record(3))
    again = LandingRecords(folder)
    assert [one.landing.id for one in await again.read("p")] == ["landing 3", *left]
    assert not again.damage
