"""`/lite`: the train and the sweep of many worktrees with hostile names, in small pages."""

from typing import Any

import pytest

from model.commands.registry import IMPLEMENTATIONS
from model.domain.landing import (
    CheckResult,
    LandingDesk,
    LandingRow,
    Sweep,
    SweepRow,
    Swept,
    Train,
    TrainCar,
)
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.lite.layout import LIMIT
from tests.server.lite.browser import Browser

HOSTILE = "<script>alert(1)</script>\u202e" * 200
IDS = [f"00000000-0000-4000-8000-{n:012}" for n in range(50)]


async def test_many_worktrees_and_hostile_names_stay_small_pages(
    browser: Browser, session: Session, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = workspace.store.state.worktrees[session.worktree_id].project_id
    trains: list[Train] = []

    async def get_landing_desk(workspace: Workspace, project_id: str) -> LandingDesk:
        rows = [
            LandingRow(
                worktree_id=one,
                name=HOSTILE,
                branch=HOSTILE,
                base=HOSTILE,
                ahead=1,
                check=CheckResult(worktree_id=one, status="none"),
                next="land",
                reason=HOSTILE,
            )
            for one in IDS
        ]
        return LandingDesk(project_id=project_id, rows=rows, suggested_train=IDS)

    async def get_train(workspace: Workspace, project_id: str) -> Train | None:
        return trains[-1] if trains else None

    async def start_train(workspace: Workspace, worktree_ids: list[str], **given: Any) -> Train:
        cars = [
            TrainCar(
                worktree_id=one,
                branch=HOSTILE,
                head_commit="e" * 40,
                status="ready",
                check="passed",
            )
            for one in worktree_ids
        ]
        stopper = {"status": "conflict", "conflicts": [HOSTILE] * 9, "error": HOSTILE}
        cars[0] = cars[0].model_copy(update=stopper)
        train = Train(
            id="t",
            base=HOSTILE,
            base_commit="e" * 40,
            status="stopped",
            cars=cars,
            started_at=1.0,
            error=HOSTILE,
            **given,
        )
        trains.append(train)
        return train

    async def list_sweep(workspace: Workspace, **given: Any) -> Sweep:
        rows = [
            SweepRow(
                worktree_id=one,
                project_id=project_id,
                name=HOSTILE,
                branch=HOSTILE,
                last_used_at=1.0,
                uncommitted=3,
                unpushed=2,
                is_running=True,
            )
            for one in given.get("worktree_ids") or IDS
        ]
        first = given.get("offset", 0)
        page = rows[first : first + given.get("limit", len(rows))]
        return Sweep(rows=page, free_bytes=None, total=len(rows))

    async def sweep_worktrees(workspace: Workspace, **given: Any) -> list[Swept]:
        return [Swept(worktree_id=one, ok=False, message=HOSTILE) for one in given["worktree_ids"]]

    for stub in (get_landing_desk, get_train, start_train, list_sweep, sweep_worktrees):
        monkeypatch.setitem(IMPLEMENTATIONS, stub.__name__, stub)

    path = f"/lite/projects/{project_id}"
    new = await browser.get_page(f"{path}/train")
    assert "Page 1 of 3" in new.text
    fields = [*new.form("start").values, *(("worktree", one) for one in IDS[20:])]
    started = await browser.request("POST", f"{path}/train/start", fields, Origin=browser.url)
    train = await browser.get_page(started.location)
    assert "in conflict" in train.text
    again = await browser.get_page(f"{path}/train?new=1")
    second = await browser.get_page(again.links()["Next"])
    assert "Page 2 of 3" in second.text
    assert second.form("start")
    sweep = await browser.get_page(f"{path}/sweep")
    chosen = [*sweep.form("sweep").values, *(("worktree", one) for one in sweep.values("worktree"))]
    asked = await browser.request(
        "POST", "/lite/sweep", [*chosen, ("action", "delete")], Origin=browser.url
    )
    assert "Delete 20 worktrees?" in asked.page.text
    fields = asked.page.form("sweep").values
    done = await browser.request("POST", "/lite/sweep", fields, Origin=browser.url)
    assert "Done with 0 of 20 worktrees" in done.page.text
    sizes = [len(page.source.encode()) for page in (new, train, sweep, asked.page, done.page)]
    assert max(sizes) < LIMIT, sizes
