"""The line under the composer: how the session works, what it used, what it does right now."""

import time
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from model.text import clean_line
from tui.marks import reason
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.resources import Session

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
        self._since = 0.0
        self._heard = 0.0
        self._notice = ""
        self._clock: Timer | None = None

    def on_mount(self) -> None:
        """The clock stands still until something runs."""
        self._clock = self.set_interval(1.0, self._draw, pause=True)

    def follow(
        self,
        session: "Session | None",
        *,
        labels: tuple[str, str] = ("", ""),
        queued: int = 0,
        started: float | None = None,
    ) -> None:
        """Show this session. `labels`: agent and model; `started`: when its run began (Unix)."""
        before, self._session = self._session, session
        self._labels, self._queued = labels, queued
        same = before is not None and session is not None and before.id == session.id
        if not same or (before is not None and before.status != "running"):
            age = max(0.0, time.time() - started) if started and not same else 0.0
            self._since = time.monotonic() - age
            self._heard = time.monotonic()
            self._notice = ""
        if self._clock is not None:
            runs = session is not None and session.status == "running"
            self._clock.resume() if runs else self._clock.pause()
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
        tokens = session.usage.input_tokens + session.usage.output_tokens
        words = [*map(clean_line, self._labels)]
        if session.thinking_level != "off" and self.content_size.width >= 78:
            words.append(session.thinking_level)
        if tokens:
            words.append(f"{short(tokens)} tokens")
        if session.context_tokens and session.context_window:
            words.append(f"context {100 * session.context_tokens // session.context_window} %")
        for word in filter(None, words):
            parts += [(" · ", "$text-disabled"), (word, "$text-muted")]
        self.show(Content.assemble(*parts), self._state(session))

    def _state(self, session: "Session") -> Content:
        waiting = f"{self._queued} queued · " if self._queued else ""
        match session.status:
            case "running":
                now = time.monotonic()
                silent = int(now - self._heard)
                if self._notice:
                    return Content.styled(f"{waiting}{clean_line(self._notice)}", "$warning")
                if silent >= SILENT_AFTER:
                    return Content.styled(f"{waiting}no output for {duration(silent)}", "$warning")
                text = f"{waiting}running {duration(int(now - self._since)):>6}"
                return Content.styled(text, "$accent")
            case "waiting":
                return Content.styled(f"{waiting}{reason(session)} waits for you", "bold $warning")
            case "failed":
                return Content.styled(f"{waiting}failed", "bold $error")
            case _:
                ended = session.last_run.status if session.last_run else ""
                words = {"cancelled": "stopped", "interrupted": "interrupted"}
                return Content.styled(waiting + words.get(ended, "idle"), "$text-muted")


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
