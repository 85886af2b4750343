"""Reviews, comparisons and release notes from the main screen."""

from typing import Any

from model.api.code_reviews import ReleaseNotes
from model.domain.branches import Branch
from model.domain.code_reviews import CodeReview
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.fake_desk import FakeDesk
from tui.actions import reviewing
from tui.screens.pick import Pick
from tui.store.places import Place


def a_desk(*answers: Any) -> FakeDesk:
    other = a_worktree(id="w2", name="calm-heron", branch="calm-heron")
    client = FakeClient(a_state(a_project(), a_worktree(), other, a_session()))
    return FakeDesk(client, Place("session", "s1"), *answers)


async def test_a_review_is_started_without_the_diff() -> None:
    desk = a_desk()
    desk.client.answers["run_code_review"] = lambda given: CodeReview(
        worktree_id="w1", status="running", agent="Codex"
    )
    await reviewing.code_review(desk)
    assert desk.client.called("run_code_review") == [{"worktree_id": "w1"}]
    assert desk.said == [
        "Codex reviews the changes of 'brave-otter'. <open_diff> shows what it finds."
    ]


async def test_a_comparison_offers_the_other_worktrees_and_all_branches() -> None:
    desk = a_desk(None)
    desk.client.answers["get_project_branches"] = lambda given: [Branch(name="main", current=True)]
    await reviewing.compare(desk)
    (dialog,) = desk.dialogs
    assert isinstance(dialog, Pick) and dialog._load is not None
    assert [(each.value, each.label) for each in await dialog._load()] == [
        ("w2", "calm-heron"),
        ("main", "main"),
    ]


async def test_release_notes_are_copied_on_demand() -> None:
    desk = a_desk("", "c")
    desk.client.answers["write_release_notes"] = lambda given: ReleaseNotes(
        text="## Added\n\n- A heddle.", since="v1.0"
    )
    await reviewing.release_notes(desk)
    assert desk.client.called("write_release_notes") == [{"project_id": "p1", "since": None}]
    assert desk.dialogs[1].box_title == "Release notes since v1.0"
    assert desk.copied == ["## Added\n\n- A heddle."]


async def test_escape_writes_no_release_notes() -> None:
    desk = a_desk(None)
    await reviewing.release_notes(desk)
    assert desk.client.called("write_release_notes") == []
