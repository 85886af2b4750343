"""Parts that need no screen: capabilities, clipboard, keys, status icons and the mirror."""

import asyncio
import base64
from typing import Any

import pytest
from rich.color import ColorSystem
from textual.content import Content

from model.agents.catalog import BUILT_IN
from model.api.doctor import Installation
from model.base.errors import SpinneyError
from model.domain.events.messages import ContentDelta
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.findings import Finding
from model.preferences.fields import preference_fields
from model.preferences.schema import Preferences
from tests.patience import PATIENCE
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.draw.status_icons import StatusIcon, git_summary, list_needing_attention, session_icon
from tui.keys import names, overrides
from tui.screens import preferences_rows
from tui.screens.about import InstallationReport, rows
from tui.shell.onboarding import next_step
from tui.store import mirror
from tui.store.mirror import Change, Mirror
from tui.store.places import Place
from tui.terminal import clipboard, screen_reader
from tui.terminal.capabilities import Terminal, escape_delay, size_problem
from tui.terminal.output_filters import detect_color_system
from tui.widgets.session_tabs import SessionTabs
from tui.widgets.status_line import format_duration, format_number
from tui.widgets.top_bar import TopBar


def test_over_ssh_there_are_fewer_frames() -> None:
    here, remote = Terminal.from_environ({}), Terminal.from_environ({"SSH_CONNECTION": "a b c d"})
    assert here.frame < remote.frame < remote.text_frame
    assert here.text_frame == here.frame


@pytest.mark.parametrize(
    ("environ", "ascii_signs"),
    [
        ({}, False),
        ({"LANG": "C"}, True),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LC_ALL": "POSIX", "LANG": "en_US.UTF-8"}, True),
        # As Python leaves the environment where the locale is plain C or unknown:
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "POSIX", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "en_US.ISO-8859-1", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8", "LC_ALL": "C.UTF-8"}, False),
        ({"LANG": "C", "SPINNEY_ASCII": "0"}, False),
    ],
)
def test_a_locale_without_utf_8_is_drawn_with_ascii(
    environ: dict[str, str], ascii_signs: bool
) -> None:
    assert Terminal.from_environ(environ).ascii_signs is ascii_signs


@pytest.mark.parametrize(
    ("environ", "delay"),
    [
        ({}, 0.1),
        ({"SSH_TTY": "/dev/pts/1"}, 0.3),
        ({"ESCDELAY": "25"}, 0.025),
        ({"ESCDELAY": "999999999999"}, 2.0),
        ({"ESCDELAY": "soon"}, 0.1),
    ],
)
def test_escape_waits_as_long_as_the_line_needs(environ: dict[str, str], delay: float) -> None:
    assert escape_delay(environ) == delay


@pytest.mark.parametrize(
    ("term", "system"),
    [
        ("alacritty", ColorSystem.EIGHT_BIT),
        ("xterm-ghostty", ColorSystem.EIGHT_BIT),
        ("foot-extra", ColorSystem.EIGHT_BIT),
        ("xterm-direct", ColorSystem.TRUECOLOR),
        ("xterm", ColorSystem.STANDARD),
        ("linux", ColorSystem.STANDARD),
    ],
)
def test_well_known_terminals_have_their_colors_without_colorterm(
    term: str, system: ColorSystem
) -> None:
    assert detect_color_system(term, ColorSystem.STANDARD) is system
    assert detect_color_system(term, ColorSystem.TRUECOLOR) is ColorSystem.TRUECOLOR


@pytest.mark.parametrize(
    ("colorfgbg", "dark"),
    [("", True), ("15;0", True), ("0;15", False), ("0;7", False), ("12;8", True), ("x;y", True)],
)
def test_the_background_is_read_from_colorfgbg(colorfgbg: str, dark: bool) -> None:
    assert Terminal.from_environ({"COLORFGBG": colorfgbg}).dark is dark


def test_the_minimum_size_is_enough() -> None:
    assert size_problem(60, 15) is None
    assert "60×15" in (size_problem(59, 15) or "")


def test_copied_text_is_wrapped_for_tmux() -> None:
    plain = clipboard.copy_sequence("häł", Terminal())
    assert plain == f"\x1b]52;c;{base64.b64encode('häł'.encode()).decode()}\x07"
    wrapped = clipboard.copy_sequence("x", Terminal(tmux=True))
    assert wrapped is not None
    assert wrapped.startswith("\x1bPtmux;\x1b\x1b]52;")
    assert wrapped.endswith("\x1b\\")


def test_text_that_is_too_long_for_a_terminal_is_not_copied() -> None:
    assert clipboard.copy_sequence("x" * (clipboard.LIMIT + 1), Terminal()) is None
    assert clipboard.format_copied("a\nb") == "Copied 2 lines."


def test_keys_are_formatted_for_reading() -> None:
    assert names.format_key("ctrl+space,ctrl+@") == "^space"
    assert names.format_key("shift+tab") == "⇧tab"
    assert names.format_keys("f2,ctrl+b") == "f2 or ctrl+b"


def test_a_key_given_to_two_actions_is_reported() -> None:
    (sentence,) = overrides.find_conflicts({"help": "ctrl+n"})
    assert "new_worktree" in sentence
    assert "help" in sentence


def test_each_state_of_a_session_has_its_icon() -> None:
    signs = [
        session_icon(a_session(status="waiting")).symbol,
        session_icon(a_session(status="failed")).symbol,
        session_icon(a_session(unread=True)).symbol,
        session_icon(a_session(status="running")).symbol,
        session_icon(a_session()).symbol,
    ]
    assert signs == ["?", "✗", "●", "◐", "·"]
    assert max(StatusIcon) is StatusIcon.NEEDS_YOU


def test_waiting_sessions_come_before_failed_and_unread_ones() -> None:
    state = a_state(
        a_project(),
        a_worktree(),
        a_session(id="a", unread=True),
        a_session(id="b", status="failed"),
        a_session(id="c", status="waiting", updated_at=2.0),
        a_session(id="d", status="waiting", updated_at=1.0),
        a_session(id="e", status="waiting", archived_at=1.0),
        a_session(id="f", status="running"),
    )
    assert [session.id for session in list_needing_attention(state)] == ["d", "c", "b", "a"]


def test_git_counts_are_short_and_omit_zeros() -> None:
    assert git_summary(a_worktree()) == []
    worktree = a_worktree(
        cached_uncommitted_added=12,
        cached_uncommitted_removed=0,
        cached_ahead_count=2,
        cached_behind_count=1,
        pr_number=7,
        cached_check_status="failure",
    )
    assert git_summary(worktree) == ["+12", "↑2", "↓1", "PR 7 ✗"]


@pytest.mark.parametrize(
    ("status", "seen", "spoken"),
    [
        ("draft", "PR 7 draft ✓", "PR 7 draft checks success"),
        ("open", "PR 7 open ✓", "PR 7 open checks success"),
        ("review", "PR 7 review ✓", "PR 7 in review checks success"),
        ("merged", "PR 7 merged ✓", "PR 7 merged checks success"),
        ("closed", "PR 7 closed ✓", "PR 7 closed checks success"),
        (None, "PR 7 ✓", "PR 7 checks success"),
    ],
)
def test_the_tree_shows_the_status_of_a_pull_request(
    status: Any, seen: str, spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = a_worktree(pr_number=7, cached_pr_status=status, cached_check_status="success")
    assert git_summary(worktree) == [seen]
    monkeypatch.setattr(screen_reader, "is_enabled", lambda: True)
    assert git_summary(worktree) == [spoken]


def test_numbers_and_times_are_short() -> None:
    assert [format_number(950), format_number(12_400), format_number(999_960)] == [
        "950",
        "12.4k",
        "1.0M",
    ]
    assert [format_duration(12), format_duration(185), format_duration(3723)] == [
        "12 s",
        "3:05",
        "1:02:03",
    ]


async def changes_of(client: FakeClient, count: int) -> list[Change]:
    """The first `count` changes that a mirror reports."""
    seen: list[Change] = []
    done = asyncio.Event()

    def collect(change: Change) -> None:
        seen.append(change)
        if len(seen) == count:
            done.set()

    task = asyncio.create_task(Mirror(client, 0.0, collect).run())
    try:
        await asyncio.wait_for(done.wait(), PATIENCE)
    finally:
        task.cancel()
    return seen


async def test_the_mirror_names_what_changed() -> None:
    client = a_client()
    client.feed(SessionUpdated(session_id="s1", updates={"name": "x"}))
    first, second = await changes_of(client, 2)
    assert first.loaded
    assert first.sessions == {"s1"}
    assert not second.loaded
    assert (second.sessions, second.worktrees, second.projects) == ({"s1"}, set(), set())
    assert second.state.sessions["s1"].name == "x"


async def test_text_that_is_slow_to_draw_is_drawn_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mirror, "TEXT_PAUSE_FACTOR", 1e9)  # every change counts as slow
    client = a_client()
    seen: list[Change] = []
    task = asyncio.create_task(Mirror(client, 0.0, seen.append).run())
    while not seen:
        await asyncio.sleep(0.001)
    for count in range(10):
        client.feed(ContentDelta(message_id="m", content="a", content_index=0, session_id="s1"))
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert len(seen) == 2, count
    task.cancel()


async def test_the_mirror_retries_after_the_client_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mirror, "RETRY_DELAY", 0.0)

    class Flaky(FakeClient):
        tries = 0

        async def updates(self):  # type: ignore[no-untyped-def, override]
            self.tries += 1
            if self.tries == 1:
                raise SpinneyError("The server is gone.")
            async for update in super().updates():
                yield update

    lost, loaded = await changes_of(Flaky(), 2)
    assert lost.lost is not None
    assert lost.lost.reason == "The server is gone."
    assert loaded.loaded


async def test_wait_for_returns_a_matching_state() -> None:
    client = FakeClient()
    follower = Mirror(client, 0.0, lambda change: None)
    task = asyncio.create_task(follower.run())
    waiting = asyncio.create_task(follower.wait_for(lambda state: "p1" in state.projects))
    client.feed(ProjectAdded(project=a_project()))
    assert "p1" in (await asyncio.wait_for(waiting, PATIENCE)).projects
    task.cancel()


def test_a_worktree_whose_first_message_is_being_sent_does_not_ask_for_one() -> None:
    state, place = a_state(a_project(), a_worktree()), Place("worktree", "w1")
    asks = next_step(state, place, key_of=str)
    sends = next_step(state, place, is_sending=True, key_of=str)
    assert "No sessions yet" in asks.sentence
    assert "Sending your first message" in sends.sentence and "Write below" not in sends.sentence


def test_a_worktree_with_sessions_asks_to_choose_one() -> None:
    state = a_state(a_project(), a_worktree(), a_session())
    step = next_step(state, Place("worktree", "w1"), key_of=str)
    assert "No sessions yet" not in step.sentence
    assert "Choose a session on the left, or describe a task" in step.sentence


async def test_the_title_of_the_open_session_uses_the_free_room(start: Start) -> None:
    title = "Find out why the parser drops the last row of a file without a newline"
    client = a_client(name=title)
    async with start(client) as (app, pilot):
        tabs = app.main.query_one(SessionTabs)
        # A single session has no tabs: its title is in the top bar.
        await until(pilot, lambda: not tabs.display and title in app.main.query_one(TopBar).text)
        client.feed(SessionCreated(session=a_session(id="s2", name=title)))
        await until(pilot, lambda: f"{title[:27]}…" in tabs.text and title[:35] in tabs.text)


def test_a_truncated_help_text_ends_with_an_ellipsis() -> None:
    field = next(field for field in preference_fields().values() if len(field.help) > 60)
    drawn = preferences_rows.row(field, Preferences(), BUILT_IN, 100).plain
    assert drawn.endswith("…") and len(drawn) <= 100


def test_a_wrapped_remedy_is_indented_below_its_first_line() -> None:
    remedy = "Only for pull requests: install GitHub's gh, then run: gh auth login, and try again"
    found = InstallationReport(
        Installation(version="1", log="", findings=[Finding("gh", None, "not found", remedy)]),
        [],
        [],
    )
    lines = Content.assemble(*rows(found)).plain.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(" " * 16) and len(line) <= 72 for line in lines[1:])
