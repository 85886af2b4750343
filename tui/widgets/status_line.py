"""The line under the composer: how the session works, what it used, what it does right now."""

import time
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from model.base.text import clean_line
from tui.draw.status_icons import reason
from tui.terminal import plain
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.resources import Session

SILENT_AFTER = 30
"""Seconds without a word of the agent, after which that is said."""
_MODE_COLORS = {"plan": "$info", "build": "$success", "yolo": "$warning"}


class StatusLine(Line):
    """Mode, agent, model, tokens; on the right the state, with a clock while something runs."""

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
        self._heard = 0.0
        self._notice = ""
        self._stopping = ""
        """The session that is being stopped."""
        self._clock: Timer | None = None

    def on_mount(self) -> None:
        """The clock stands still until something runs."""
        self._clock = self.set_interval(1.0, self._draw, pause=True)

    def on_resize(self) -> None:
        """Other words fit."""
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

        `labels`: agent and model; `started`: when its answer began (Unix); `is_set_up`: whether no
        setup script runs in its worktree; `hold`: why its first message waits; `is_reviewed`:
        whether the plan that was set aside is asked about again.
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
            self._heard = time.monotonic()
            self._notice = ""
        if self._clock is not None:
            runs = session is not None and session.status == "running"
            self._clock.resume() if runs else self._clock.pause()
        self._draw()

    def show_stopping(self, session_id: str) -> None:
        """Say that this session is being stopped, until it is (empty)."""
        self._stopping = session_id
        self._draw()

    def heard(self, notice: str = "") -> None:
        """The agent said something; `notice` is a passing word about its run."""
        self._heard = time.monotonic()
        self._notice = notice
        self._draw()

    def _draw(self) -> None:
        session = self._session
        if session is None:
            self.show(Content(""))
            return
        mode = session.execution_mode
        parts: list[str | tuple[str, str] | Content] = [(mode, f"bold {_MODE_COLORS[mode]}")]
        when = f" from the next turn on, {session.turn_mode} now" if session.turn_mode else ""
        parts += [(when, "$warning")] if when else []
        state = self._state(session)
        room = self.content_size.width - state.cell_length - len(mode) - len(when) - 2
        for word in _fitting(self._words(session), room):
            parts += [(" · ", "$text-disabled"), (word, "$text-muted")]
        self.show(Content.assemble(*parts), state)

    def _words(self, session: "Session") -> dict[str, str]:
        """What is told of the session, by name, in the order in which it stands."""
        agent, model = map(clean_line, self._labels)
        tokens = session.usage.total
        words = {"agent": agent, "model": model if model != agent else ""}
        words["thinking"] = session.thinking_level if session.thinking_level != "off" else ""
        words["tokens"] = f"{short(tokens)} tokens" if tokens else ""
        if session.context_tokens and session.context_window:
            share = 100 * session.context_tokens // session.context_window
            words["context"] = f"context {share} %"
        return {name: word for name, word in words.items() if word}

    def _state(self, session: "Session") -> Content:
        queued = f"{self._queued} queued"
        waiting, as_well = (f"{queued} · ", f" · {queued}") if self._queued else ("", "")
        if session.is_active and self._stopping == session.id:
            return Content.styled(f"{waiting}stopping …", "$warning")
        match session.status:
            case "running":
                now = time.monotonic()
                silent = int(now - self._heard)
                if self._notice:
                    return Content.styled(f"{waiting}{clean_line(self._notice)}", "$warning")
                if silent >= SILENT_AFTER:
                    return Content.styled(f"{waiting}no output for {duration(silent)}", "$warning")
                if plain.is_on():  # a clock would be read out each second
                    return Content.styled(f"{waiting}running", "$accent")
                text = f"{waiting}running {duration(int(now - self._since)):>6}"
                return Content.styled(text, "$accent")
            case "waiting":
                return Content.styled(
                    f"{waiting}{reason(session) or 'it'} waits for you", "bold $warning"
                )
            case _ if self._is_reviewed:
                return Content.styled(f"{waiting}plan waits for you", "bold $warning")
            case "failed":
                return Content.styled(f"failed{as_well}", "bold $error")
            case _ if self._queued and self._hold == "running":
                return Content.styled("waiting for setup, esc stops it", "$accent")
            case _ if self._queued and self._hold == "failed":
                return Content.styled("setup failed, enter sends anyway", "bold $error")
            case _ if not self._is_set_up:
                return Content.styled(f"{waiting}▶ setup runs, esc stops it", "$accent")
            case _:
                ended = session.last_run.status if session.last_run else ""
                words = {"cancelled": "stopped by you", "interrupted": "interrupted"}
                word = words.get(ended, "idle")
                if session.set_aside_plan is not None:
                    word = "plan set aside, /approve asks again"
                return Content.styled(f"{word}{as_well}", "$text-muted")


def _fitting(words: dict[str, str], room: int) -> list[str]:
    """Whole words only; those that matter least go first."""
    kept = dict(words)
    for name in ("thinking", "tokens", "agent", "context", "model"):
        if sum(len(word) + 3 for word in kept.values()) <= room:
            break
        kept.pop(name, None)
    return list(kept.values())


def duration(seconds: int) -> str:
    """`12 s`, `3:05`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def short(number: int) -> str:
    """`950`, `12.4k`, `1.2M`."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"
