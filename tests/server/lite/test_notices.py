"""`/lite`: notices on the list of sessions, and how one is dismissed."""

from model.domain.events.notices import NoticeRaised
from model.domain.notices import Notice
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.lite.layout import LIMIT
from tests.server.lite.browser import Browser

HOSTILE = "<script>alert(1)</script>\u202e" * 200


async def test_the_newest_notices_are_listed_until_they_are_dismissed(
    browser: Browser, session: Session, workspace: Workspace
) -> None:
    for number in range(20):
        workspace.store.record(
            NoticeRaised(
                notice=Notice(
                    id=f"disk.{number}", reason="disk", title=f"{number} {HOSTILE}", text=HOSTILE,
                    created_at=number, lasts=True,
                )
            )
        )  # fmt: skip
    finished = Notice(id="finished.s", reason="finished", title="Listed anyway", created_at=30)
    workspace.store.record(NoticeRaised(notice=finished))
    page = await browser.get_page()
    assert "12 more" in page.text and "Listed anyway" not in page.text
    seen = await browser.request("GET", "/lite")
    assert len(seen.body.encode()) < LIMIT
    page = await browser.submit_and_follow(page, "dismiss", notice_id="disk.19")
    assert "disk.19" not in workspace.store.state.notices
    assert "11 more" in page.text
