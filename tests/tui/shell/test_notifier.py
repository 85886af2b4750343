"""Notifications of sessions and terminals that the user is not looking at, and no others."""

from typing import Any

import pytest
from textual import events as textual_events
from textual.pilot import Pilot

from model.domain.events.base import Event
from model.domain.events.notices import NoticesSent
from model.domain.events.sessions import SessionUpdated, SessionWaiting
from model.preferences.schema import Preferences
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.terminal.notifications import (
    NotificationProtocol,
    detect_protocol,
    notification_sequence,
    title_sequence,
)

KITTY = {"TERM": "xterm-kitty"}


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "osc9"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "osc777"),
        ({"TERM": "xterm-ghostty"}, "osc777"),
        (KITTY, "osc99"),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"}, "osc99"),
        ({"TERM": "xterm-256color"}, ""),
        ({"TERM": "linux", "TERM_PROGRAM": "kitty"}, ""),
        ({"TERM": "screen", "STY": "1.x", "KITTY_WINDOW_ID": "1"}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_notification_protocol_depends_on_the_terminal_and_unknown_ones_have_none(
    environ: dict[str, str], way: NotificationProtocol
) -> None:
    assert detect_protocol(environ) == way


def test_no_name_can_end_the_sequence_or_begin_another() -> None:
    evil = "a\x07\x1b]0;title\x07\x1b\\b\x9c;c\n"
    for way in ("osc9", "osc777", "osc99"):
        sequence = notification_sequence(way, evil, evil, tmux=False)
        body = sequence.removeprefix("\x1b]").removesuffix("\x07").removesuffix("\x1b\\")
        inner = body.replace("\x1b\\\x1b]99;i=spinney:d=1:p=body;", "")
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in inner)
    assert notification_sequence("osc777", "a;b", "c", tmux=False) == "\x1b]777;notify;a,b;c\x07"
    assert title_sequence(evil) == "\x1b]2;a␇␛]0;title␇␛\\b<U+009C>;c\x07"


def test_inside_tmux_the_sequence_is_wrapped() -> None:
    assert (
        notification_sequence("osc9", "a", "b", tmux=True) == "\x1bPtmux;\x1b\x1b]9;a: b\x07\x1b\\"
    )
    assert notification_sequence("", "a", "b", tmux=True) == ""


class _TerminalRecorder:
    """Records bells, and sequences that are written besides the frames."""

    def __init__(self, app: SpinneyApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bells = 0
        self.written: list[str] = []
        monkeypatch.setattr(app, "bell", self._ring)
        monkeypatch.setattr(app, "write", self._write)

    def _ring(self) -> None:
        self.bells += 1

    def _write(self, data: str) -> None:
        if data.startswith(("\x1b]", "\x1bPtmux", "\x1b[22;2t")):
            self.written.append(data)


def client_with_running_sessions(**preferences: Any) -> FakeClient:
    state = a_state(
        a_project(),
        a_worktree(),
        a_session(status="running"),
        a_session(id="s2", name="Rename \x1b[31m[/]", status="running"),
    )
    client = FakeClient(state)
    client.reload(
        type(state)(
            projects=state.projects, worktrees=state.worktrees, sessions=state.sessions,
            preferences=Preferences(**preferences),
        )
    )  # fmt: skip
    return client


async def open_first_session(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    await until(pilot, lambda: app.main.is_connected and app.main.state.sessions)
    app.main.open_session("s1")
    await until(pilot, lambda: app.main.chat.session_id == "s1")


def waiting_events(session_id: str) -> tuple[Event, Event]:
    return (
        SessionUpdated(session_id=session_id, updates={"status": "waiting", "waiting_for": "plan"}),
        SessionWaiting(session_id=session_id, waiting_for="plan", request=None),
    )


def sent(channel: str) -> Event:
    return NoticesSent(
        channel=channel, notice_ids=["finished.s1"], at=1, title="Fix the parser has finished"
    )


def finished_event(session_id: str, how: str = "completed") -> Event:
    updates = {"status": "idle", "last_run": {"status": how}}
    return SessionUpdated(session_id=session_id, updates=updates)


async def test_a_request_of_another_session_is_shown_on_screen_and_not_on_the_desktop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_with_running_sessions(waiting_sound="ding")
    app = SpinneyApp(lambda: client, environ=KITTY)
    async with app.run_test(notifications=True) as pilot:
        await open_first_session(app, pilot)
        recorded = _TerminalRecorder(app, monkeypatch)
        client.feed(*waiting_events("s1"), *waiting_events("s2"))
        await until(pilot, lambda: recorded.bells)
        messages = notifications(app)
        assert messages == ["'Rename ␛[31m[/]' needs you: plan (^space)"]
        assert recorded.bells == 1
        assert recorded.written == ["\x1b]2;2 need you · Spinney\x07"]


async def test_without_focus_the_open_session_notifies_on_the_desktop_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_with_running_sessions()
    app = SpinneyApp(lambda: client, environ=KITTY)
    async with app.run_test(notifications=True) as pilot:
        await open_first_session(app, pilot)
        app.post_message(textual_events.AppBlur())
        await until(pilot, lambda: client.called("set_focus")[-1:] == [{"session_id": None}])
        recorded = _TerminalRecorder(app, monkeypatch)
        client.feed(finished_event("s1"), sent("page"), sent("terminal"))
        await until(pilot, lambda: len(recorded.written) == 2)
        assert recorded.written[0] == (
            "\x1b]99;i=spinney:d=0;Spinney\x1b\\"
            "\x1b]99;i=spinney:d=1:p=body;Fix the parser has finished\x1b\\"
        )
        assert recorded.bells == 0  # the sound is switched off
        app.post_message(textual_events.AppFocus())
        await until(pilot, lambda: app.app_focus)
        client.feed(sent("terminal"), finished_event("s2"))
        await until(pilot, lambda: notifications(app) != [])
        assert len(recorded.written) == 3  # the title


async def test_the_session_that_is_shown_is_reported_and_none_behind_a_full_screen() -> None:
    client = client_with_running_sessions()
    app = SpinneyApp(lambda: client, environ=KITTY)

    def reported() -> list[str | None]:
        return [given["session_id"] for name, given in client.calls if name == "set_focus"]

    async with app.run_test() as pilot:
        await open_first_session(app, pilot)
        await until(pilot, lambda: reported() == ["s1"])
        app.main.open_session("s2")
        await until(pilot, lambda: reported() == ["s1", "s2"])
        await pilot.press("ctrl+o")
        await until(pilot, lambda: reported() == ["s1", "s2", None])
        await pilot.press("escape")
        await until(pilot, lambda: reported() == ["s1", "s2", None, "s2"])
        client.lose()
        client.reload()
        await until(pilot, lambda: reported() == ["s1", "s2", None, "s2", "s2"])


async def test_a_finished_run_rings_by_its_own_preference_and_a_stopped_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_with_running_sessions(review_sound="chime")
    app = SpinneyApp(lambda: client, environ={})
    async with app.run_test(notifications=True) as pilot:
        await open_first_session(app, pilot)
        recorded = _TerminalRecorder(app, monkeypatch)
        client.feed(finished_event("s2", "cancelled"))
        client.feed(SessionUpdated(session_id="s2", updates={"status": "running"}))
        pause = {"kind": "usage_limit", "since": 1, "is_joined": True}
        client.feed(SessionUpdated(session_id="s2", updates={"status": "paused", "pause": pause}))
        client.feed(SessionUpdated(session_id="s2", updates={"status": "running", "pause": None}))
        client.feed(finished_event("s2"))
        await until(pilot, lambda: recorded.bells)
        assert recorded.bells == 1 and recorded.written == []
        assert notifications(app) == ["'Rename ␛[31m[/]' has finished (^space)"]


async def test_the_title_is_written_only_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_with_running_sessions()
    app = SpinneyApp(lambda: client, environ={"TERM": "xterm-256color"})
    async with app.run_test() as pilot:
        await open_first_session(app, pilot)
        recorded = _TerminalRecorder(app, monkeypatch)
        client.feed(SessionUpdated(session_id="s1", updates={"name": "Another name"}))
        client.feed(finished_event("s1"))
        client.feed(SessionUpdated(session_id="s1", updates={"name": "And another"}))
        await until(pilot, lambda: app.main.state.sessions["s1"].name == "And another")
        assert recorded.written == ["\x1b]2;1 running · Spinney\x07"]
