"""The tree with thousands of rows, and the texts of worktree rows."""

from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktrees import Label
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.waiting import until
from tui.store.places import Place
from tui.tree.index import MAX_FOUND
from tui.tree.rows import Part, fit_parts


def many_projects() -> FakeClient:
    """40 projects with five worktrees each, with five sessions each."""
    return FakeClient(
        a_state(
            *(a_project(id=f"p{n}", name=f"project {n}", added_at=n) for n in range(40)),
            *(
                a_worktree(id=f"w{n}", project_id=f"p{n // 5}", name=f"tree-{n}", created_at=n)
                for n in range(200)
            ),
            *(
                a_session(id=f"s{n}", worktree_id=f"w{n // 5}", name=f"session {n}", created_at=n)
                for n in range(1000)
            ),
        )
    )


async def test_many_rows_start_folded_and_only_visible_ones_are_created(start: Start) -> None:
    async with start(many_projects()) as (app, pilot):
        tree = app.main.projects
        # Only the project of the session at the cursor is unfolded.
        await until(pilot, lambda: len(tree.labels) == 50)
        assert len(tree.row_nodes) == 51


async def test_a_folded_project_shows_what_its_sessions_need_without_rows_for_them(
    start: Start,
) -> None:
    client = many_projects()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        client.feed(SessionUpdated(session_id="s999", updates={"status": "waiting"}))
        await until(pilot, lambda: "project 39 ?  main" in tree.labels)
        assert len(tree.labels) == 50


async def test_unfolding_a_row_adds_its_children(
    start: Start,
) -> None:
    async with start(many_projects()) as (app, pilot):
        tree = app.main.projects
        tree.focus()
        await until(pilot, lambda: tree.place == Place("session", "s0"))
        await pilot.press("end", "right")
        await until(pilot, lambda: len(tree.labels) == 55)
        await pilot.press("down", "right")
        await until(pilot, lambda: len(tree.labels) == 60)


async def test_opening_a_session_unfolds_its_ancestors(start: Start) -> None:
    async with start(many_projects()) as (app, pilot):
        tree = app.main.projects
        app.main.open_session("s777")
        await until(pilot, lambda: tree.place == Place("session", "s777"))
        assert "· session 777" in tree.labels


async def test_a_filter_finds_folded_rows_and_shows_a_limited_number(
    start: Start,
) -> None:
    async with start(many_projects()) as (app, pilot):
        tree = app.main.projects
        await until(pilot, lambda: tree.has_focus and tree.place == Place("session", "s0"))
        await pilot.press(*"session")
        await until(pilot, lambda: "1000 found" in str(tree.border_subtitle))
        assert len(tree.labels) < MAX_FOUND + 10
        await pilot.press(*" 777")
        await until(pilot, lambda: tree.labels[-1:] == ["· session 777"])
        assert tree.labels == ["project 31  main", "tree-155", "· session 777"]
        await pilot.press("escape")
        await until(pilot, lambda: len(tree.labels) == 50)


async def test_new_counts_of_a_worktree_move_no_row(start: Start) -> None:
    client = many_projects()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        app.main.open_session("s0")
        await until(pilot, lambda: "tree-0" in tree.labels)
        index = tree.index
        changed = client.state.worktrees["w0"].model_copy(update={"cached_uncommitted_added": 7})
        client.feed(WorktreeUpdated(worktree=changed))
        await until(pilot, lambda: "tree-0 +7" in tree.labels)
        assert tree.index is index


async def test_rows_show_the_status_and_the_label_of_worktrees(start: Start) -> None:
    label = Label(name="urgent", color="#ff8800")
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(id="w1", name="one", created_at=1, label=label, pr_number=12,
                       cached_check_status="success", cached_ahead_count=2),
            a_worktree(id="w2", name="two", created_at=2, status="removing"),
            a_worktree(id="w3", name="three", created_at=3, renaming_to="drei"),
            a_worktree(id="w4", name="four", created_at=4, status="missing"),
            a_worktree(id="w5", name="alpha", created_at=5, session_type="base"),
            a_worktree(id="w6", name="six", created_at=6, detached_at="0123456789"),
            a_worktree(id="w8", name="eight", created_at=8, cached_conflict_count=2,
                       cached_behind_count=1),
            a_worktree(id="w7", name="seven", created_at=7,
                       label=Label(name="[bold]\x1b[31mlong label", color="nonsense")),
            a_worktree(id="w9", name="nine", created_at=9, conflicts_with=["w1"]),
        )
    )  # fmt: skip
    async with start(client) as (app, pilot):
        assert app.main.projects.labels[1:] == [
            "one urgent ↑2 PR 12 ✓",
            "two  removing …",
            "three → drei …",
            "four  directory missing",
            "(base) alpha",
            "six  detached at 0123456",
            "seven [bold]␛[31m…",
            "eight 2 conflicts ↓1",
            "nine would conflict",
        ]
        await pilot.pause()
        rows = app.main.projects.render_lines(app.main.projects.size.region)
        colors = {s.style.color.name for row in rows for s in row if s.style and s.style.color}
        assert "#ff8800" in colors


def test_a_name_takes_precedence_over_git_counts() -> None:
    parts: tuple[Part, ...] = (
        ("brave-otter-of-the-north", "text"),
        (" 1 conflict", "reason"),
        (" +4", "added"),
        (" ↑1", "count"),
        (" PR", "count"),
        (" 7", "count"),
    )
    whole = sum(len(text) for text, _ in parts)
    assert fit_parts(parts, whole) == parts
    assert fit_parts(parts, 34) == parts
    narrow = fit_parts(parts, 28)
    assert [text for text, _ in narrow] == ["brave-otter-of-the-north", " 1 conflict", " PR", " 7"]
    assert fit_parts(parts, 5)[:2] == parts[:2]


def test_conflicts_are_dropped_after_the_counts_and_what_is_waited_for_never() -> None:
    parts: tuple[Part, ...] = (
        ("press-cider", "strong"),
        ("  Which press?", "session"),
        (" 2 conflicts", "conflict"),
        (" question", "reason"),
        (" ↓4", "count"),
    )
    kept = [[text for text, _ in fit_parts(parts, width)] for width in (49, 35, 33, 20)]
    assert kept == [
        ["press-cider", "  Which press?", " 2 conflicts", " question", " ↓4"],
        ["press-cider", " 2 conflicts", " question", " ↓4"],
        ["press-cider", " 2 conflicts", " question"],
        ["press-cider", " question"],
    ]


def test_counts_that_fit_beside_a_short_name_are_kept() -> None:
    parts: tuple[Part, ...] = (("ox", "text"), (" +4", "added"), (" ↑1", "count"))
    assert fit_parts(parts, 8) == parts
