"""The line below the composer: the session's settings, usage and current activity."""

import time
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.timer import Timer

from model.base.amounts import format_cost, format_number
from model.base.moments import format_moment
from model.base.text import clean_line
from tui.draw.status_icons import waiting_reason
from tui.terminal import screen_reader
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.sessions import Session

SILENT_AFTER = 30
"""Seconds without output of the agent before that is shown."""
_SHELL_NOTE: Final = Content.assemble(
    ("! runs in the worktree", "bold $secondary"), ("  \\! sends it to the agent", "$text-muted")
)
_MODE_COLORS = {"plan": "$info", "build": "$success", "yolo": "$warning"}


class StatusLine(Line):
    """Mode, agent, model, tokens; on the right the status, with a clock while running."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session: Session | None = None
        self._labels = ("", "")
        self._queued = 0
        self._is_set_up = True
        self._hold: str | None = None
        self._is_reviewed = False
        self._started: float | None = None
        self._since = 0.0
        self._last_output = 0.0
        self._notice = ""
        self._stopping = ""
        """The id of the session that is being stopped."""
        self._is_shell = False
        """Whether the message box contains a command for the shell."""
        self._clock: Timer | None = None

    def on_mount(self) -> None:
        """Create the clock, paused until a session runs."""
        self._clock = self.set_interval(1.0, self._draw, pause=True)

    def on_resize(self) -> None:
        """Redraw with the details that fit."""
        self._draw()

    def follow(
        self,
        session: "Session | None",
        *,
        labels: tuple[str, str] = ("", ""),
        queued: int = 0,
        started: float | None = None,
        is_set_up: bool = True,
        hold: str | None = None,
        is_reviewed: bool = False,
    ) -> None:
        """Show this session.

        `labels`: agent and model; `started`: Unix time at which its answer began; `is_set_up`:
        whether no setup script is running in its worktree; `hold`: why its first message waits;
        `is_reviewed`: whether its plan was set aside and is shown again.
        """
        self._is_reviewed = is_reviewed
        before, self._session = self._session, session
        self._labels, self._queued, self._is_set_up = labels, queued, is_set_up
        self._hold = hold
        same = before is not None and session is not None and before.id == session.id
        if not same or started != self._started or (before and before.status != "running"):
            age = max(0.0, time.time() - started) if started else 0.0
            self._started = started
            self._since = time.monotonic() - age
            self._last_output = time.monotonic()
            self._notice = ""
        if self._clock is not None:
            runs = session is not None and session.status == "running"
            self._clock.resume() if runs else self._clock.pause()
        self._draw()

    def follow_box(self, is_shell: bool) -> None:
        """Show that enter runs what is in the message box in the worktree."""
        self._is_shell = is_shell
        self._draw()

    def show_stopping(self, session_id: str) -> None:
        """Show that this session is being stopped; '' ends that."""
        self._stopping = session_id
        self._draw()

    def note_output(self, notice: str = "") -> None:
        """Note output of the agent; `notice` is a temporary text about its run."""
        self._last_output = time.monotonic()
        self._notice = notice
        self._draw()

    def _draw(self) -> None:
        session = self._session
        if session is None:
            self.show(_SHELL_NOTE if self._is_shell else Content(""))
            return
        if self._is_shell:
            self.show(_SHELL_NOTE, self._state(session))
            return
        mode = session.execution_mode
        parts: list[str | tuple[str, str] | Content] = [(mode, f"bold {_MODE_COLORS[mode]}")]
        mode_note = f" from the next turn on, {session.turn_mode} now" if session.turn_mode else ""
        parts += [(mode_note, "$warning")] if mode_note else []
        state = self._state(session)
        available = self.content_size.width - state.cell_length - len(mode) - len(mode_note) - 2
        for detail in _fit(self._details(session), available):
            parts += [(" · ", "$text-disabled"), (detail, "$text-muted")]
        self.show(Content.assemble(*parts), state)

    def _details(self, session: "Session") -> dict[str, str]:
        """The details of the session by name, in display order."""
        agent, model = map(clean_line, self._labels)
        tokens = session.usage.total
        details = {"agent": agent, "model": model if model != agent else ""}
        details["thinking"] = session.thinking_level if session.thinking_level != "off" else ""
        details["tokens"] = f"{format_number(tokens)} tokens" if tokens else ""
        if session.cost is not None and session.cost.usd:
            cost = session.cost
            details["cost"] = format_cost(
                cost.usd, is_estimated=cost.is_estimated, is_partial=cost.is_partial
            )
        if session.context_tokens and session.context_window:
            share = 100 * session.context_tokens // session.context_window
            details["context"] = f"context {share} %"
        return {name: detail for name, detail in details.items() if detail}

    def _state(self, session: "Session") -> Content:
        queued = f"{self._queued} queued"
        before, after = (f"{queued} · ", f" · {queued}") if self._queued else ("", "")
        if session.is_active and self._stopping == session.id:
            return Content.styled(f"{before}stopping …", "$warning")
        match session.status:
            case "running":
                now = time.monotonic()
                silent = int(now - self._last_output)
                if self._notice:
                    return Content.styled(f"{before}{clean_line(self._notice)}", "$warning")
                if silent >= SILENT_AFTER:
                    return Content.styled(
                        f"{before}no output for {format_duration(silent)}", "$warning"
                    )
                if screen_reader.is_enabled():  # a clock would be read aloud every second
                    return Content.styled(f"{before}running", "$accent")
                text = f"{before}running {format_duration(int(now - self._since)):>6}"
                return Content.styled(text, "$accent")
            case "waiting":
                return Content.styled(
                    f"{before}{waiting_reason(session) or 'it'} waits for you", "bold $warning"
                )
            case _ if self._is_reviewed:
                return Content.styled(f"{before}plan waits for you", "bold $warning")
            case "paused":
                return Content.styled(f"{before}{_describe_pause(session)}", "$text-muted")
            case "failed":
                return Content.styled(f"failed{after}", "bold $error")
            case _ if self._queued and self._hold == "running":
                return Content.styled("waiting for setup, esc stops it", "$accent")
            case _ if self._queued and self._hold == "failed":
                return Content.styled("setup failed, enter sends anyway", "bold $error")
            case _ if not self._is_set_up:
                return Content.styled(f"{before}▶ setup running, esc stops it", "$accent")
            case _:
                ended = session.last_run.status if session.last_run else ""
                details = {"cancelled": "stopped by you", "interrupted": "interrupted"}
                detail = details.get(ended, "idle")
                if session.set_aside_plan is not None:
                    detail = "plan set aside, /approve reviews it"
                return Content.styled(f"{detail}{after}", "$text-muted")


def _describe_pause(session: "Session") -> str:
    until = session.pause.until if session.pause is not None else None
    return "paused" if until is None else f"paused until {format_moment(until, time.time())}"


def _fit(details: dict[str, str], available: int) -> list[str]:
    """The details that fit; the least important ones are dropped first."""
    remaining = dict(details)
    for name in ("thinking", "tokens", "agent", "cost", "context", "model"):
        if sum(len(detail) + 3 for detail in remaining.values()) <= available:
            break
        remaining.pop(name, None)
    return list(remaining.values())


def format_duration(seconds: int) -> str:
    """`12 s`, `3:05`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
