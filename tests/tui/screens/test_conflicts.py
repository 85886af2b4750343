"""Conflicts between worktrees, and why a line is there, in the terminal."""

from model.api.changes import Changes, FileDiff
from model.api.conflicts import ConflictMessage
from model.domain.conflicts import ConflictedFile, ConflictHunk, HunkSide, WorktreeConflict
from model.domain.line_origins import LineOrigin
from tests.tui.builders import (
    a_changed_file,
    a_message,
    a_project,
    a_session,
    a_state,
    a_worktree,
)
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_lines
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp

HUNK = ConflictHunk(
    ours=HunkSide(start=3, count=1, lines=["ours = 1"]),
    theirs=HunkSide(start=3, count=1, lines=["theirs = 2"]),
)


def conflict(one: str, other: str) -> WorktreeConflict:
    files = [ConflictedFile(path="a.py", kind="changed", hunks=[HUNK])]
    return WorktreeConflict.model_validate(
        {"worktree_id": one, "with": other, "with_kind": "worktree", "files": files}
    )


def text(app: SpinneyApp) -> str:
    return "\n".join(screen_lines(app))


def a_client() -> FakeClient:
    first = a_worktree(id="w1", name="otter", conflicts_with=["w2"])
    second = a_worktree(id="w2", name="heron", conflicts_with=["w1"])
    client = FakeClient(
        a_state(
            a_project(),
            first,
            second,
            a_worktree(id="w3", name="wren"),
            a_session(id="s1", worktree_id="w1", name="one"),
            a_session(id="s2", worktree_id="w2", name="two"),
        )
    )
    client.answers["write_conflict_message"] = lambda given: ConflictMessage(
        message="Yours and those in 'otter'"
    )
    client.answers["list_conflicts"] = lambda given: [conflict("w1", "w2"), conflict("w2", "w1")]
    return client


async def test_a_message_with_both_versions_goes_to_either_session(start: Start) -> None:
    client = a_client()
    async with start(client, size=(100, 40)) as (app, pilot):
        app.screen.perform("show_conflicts")  # type: ignore[attr-defined]
        await until(pilot, lambda: "otter and heron" in text(app))
        assert text(app).count("1 file: a.py") == 1, "each pair is listed once"
        await pilot.press("enter")
        await until(pilot, lambda: "ours = 1" in text(app) and "theirs = 2" in text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "otter and heron" in text(app))
        await pilot.press("M")
        await until(pilot, lambda: "Yours and those in 'otter'" in text(app))
        assert client.called("write_conflict_message") == [{"worktree_id": "w2", "partner": "w1"}]
        assert not client.called("send_chat_message"), "the person sends it"


async def test_a_matrix_says_how_many_files_of_each_two_worktrees_are_in_conflict(
    start: Start,
) -> None:
    client = a_client()
    pairs = [conflict("w1", "w2"), conflict("w3", "w2")]
    client.answers["list_conflicts"] = lambda given: pairs
    async with start(client, size=(100, 40)) as (app, pilot):
        app.screen.perform("show_conflicts")  # type: ignore[attr-defined]
        await until(pilot, lambda: "wren and heron" in text(app))
        rows = [row.strip(" │┃").split() for row in screen_lines(app)]
        at = rows.index(["otter", "wren"])
        assert rows[at + 1 : at + 3] == [["heron", "1", "1"], ["otter", "·"]]


async def test_the_diff_says_where_else_a_file_changed_and_why_a_line_is_there(
    start: Start,
) -> None:
    client = a_client()
    client.messages["s1"] = [a_message("Make it one", id="m1", session_id="s1")]
    file = a_changed_file("a.py")
    client.answers["list_changed_files"] = lambda given: Changes(
        files=[file] if given.get("side", "unstaged") == "unstaged" else [], base="main",
        operation=None,
    )  # fmt: skip
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n first\n+ours = 1\n"
    client.answers["get_file_diff"] = lambda given: FileDiff(
        path="a.py", text=diff, digest="d", hunks=["h"]
    )
    client.answers["explain_line"] = lambda given: LineOrigin(
        kind="turn", path="a.py", line=2, text="ours = 1", time=1.0, author="Demo agent",
        session_id="s1", turn_id="s1.000001", message_id="m1", prompt="Make it one",
        plan="1. One",
    )  # fmt: skip
    async with start(client, size=(100, 40)) as (app, pilot):
        app.screen.perform("open_diff")  # type: ignore[attr-defined]
        await until(pilot, lambda: "also changed in heron" in text(app))
        await pilot.press("enter", "down", "down", "i")
        await until(pilot, lambda: "Why this line is here" in text(app))
        assert client.called("explain_line") == [{"worktree_id": "w1", "path": "a.py", "line": 2}]
        assert "Make it one" in text(app)
        assert "1. One" in text(app)
