"""The dialog that runs a command in a worktree, and shows its output while it arrives."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError, as_user_error
from model.base.text import clean_line, make_visible
from tui.draw.colors import Palette
from tui.screens.dialog import Dialog
from tui.screens.tool_output import OutputView
from tui.widgets.key_line import keys_line
from tui.widgets.status_line import format_duration

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.domain.scripts import CommandRun

READ_INTERVAL: Final = 0.25
"""Seconds between two reads of the output while the command runs."""
SEND_DELAY: Final = 0.6
"""Seconds after the end until enter sends: it may have been meant for the command."""
_MAX_COMMAND_ROWS: Final = 3

Ending = Literal["send"]


@dataclass(frozen=True, slots=True)
class CommandWork:
    """The operations on the command of one worktree."""

    run: Callable[[], Awaitable["CommandRun"]]
    read: Callable[[], Awaitable["CommandRun"]]
    """Returns the run with its output so far."""
    stop: Callable[[], Awaitable[None]]


class LiveOutput(OutputView):
    """Output that grows: shows its end, unless the user has scrolled up."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._follows = True

    def replace(self, text: str) -> None:
        """Show another text."""
        follows = self._follows
        super().replace(text)
        self._stay(follows)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again if the width has changed."""
        follows = self._follows
        super().on_resize(event)
        self.call_after_refresh(self._stay, follows)

    def _stay(self, follows: bool) -> None:
        if follows:
            self.scroll_end(animate=False, immediate=True)
        self._follows = follows

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Note whether the end is visible."""
        super().watch_scroll_y(old_value, new_value)
        self._follows = new_value >= self.max_scroll_y


class CommandOutput(Dialog[Ending]):
    """Runs the command at once. Escape stops it, and closes the dialog when it has ended."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send(True)", show=False),
        Binding("s", "send", show=False),
        Binding("r", "run", show=False),
    ]

    def __init__(
        self, worktree: str, command: str, work: CommandWork, palette: Callable[[], Palette]
    ) -> None:
        super().__init__(f"Run in {worktree}")
        self._command = command
        self._work = work
        self._palette = palette
        self._started = 0.0
        self._ended = 0.0
        self._is_stopping = False
        self._problem = ""
        self.result: CommandRun | None = None
        """The last run, once it has ended."""

    def body(self) -> list[Widget]:
        """Command, output, state and keys."""
        lines = make_visible(self._command).splitlines()
        shown = "\n".join(lines[:_MAX_COMMAND_ROWS]) + " …" * (len(lines) > _MAX_COMMAND_ROWS)
        self._view = LiveOutput(self._palette())
        self._state = Static("", markup=False, classes="state")
        self._keys = Static("", classes="keys")
        return [
            Static(Content.assemble(("$ ", "$text-muted"), (shown, "bold")), classes="words"),
            self._view,
            self._state,
            self._keys,
        ]

    def on_mount(self) -> None:
        """Run the command."""
        self._view.focus()
        self._clock = self.set_interval(READ_INTERVAL, self._read, pause=True)
        self.app.theme_changed_signal.subscribe(
            self, lambda _: self._view.set_palette(self._palette())
        )
        self.action_run()

    @property
    def is_executing(self) -> bool:
        """Whether the command is running."""
        return self._started > 0

    # Running ------------------------------------------------------------------------------------

    def action_run(self) -> None:
        """Run the command, again if it has ended."""
        if self.is_executing:
            return
        self._started, self._is_stopping, self._problem = time.monotonic(), False, ""
        self.result = None
        self._view.replace("")
        self._clock.resume()
        self._draw()
        self.run_worker(cast("WorkType[None]", self._run), group="run", exit_on_error=False)

    async def _run(self) -> None:
        try:
            self.result = await self._work.run()
        except SpinneyError as error:
            self._problem = error.message
        except Exception as error:
            self._problem = as_user_error(error, "a command").message
        self._started, self._ended = 0.0, time.monotonic()
        self._clock.pause()
        if self.result is not None:
            self._show(self.result.output)
        self._draw()

    def _read(self) -> None:
        self._draw()
        self.run_worker(
            cast("WorkType[None]", self._read_output),
            group="read",
            exclusive=True,
            exit_on_error=False,
        )

    async def _read_output(self) -> None:
        try:
            run = await self._work.read()
        except SpinneyError:
            return  # `run` reports it
        if self.is_executing and run.status == "running":
            self._show(run.output)

    def _show(self, output: str) -> None:
        self._view.replace(make_visible(output).rstrip("\n"))

    # Keys ---------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        """Stop the command; close if it has ended."""
        if not self.is_executing or self._is_stopping:
            self.dismiss(None)
            return
        self._is_stopping = True
        self._draw()
        self.run_worker(self._stop(), exit_on_error=False)

    async def _stop(self) -> None:
        try:
            await self._work.stop()
        except SpinneyError as error:
            self._problem = error.message
            self._draw()

    def action_send(self, waits: bool = False) -> None:
        """Close, and send command and output to the agent."""
        is_early = waits and time.monotonic() - self._ended < SEND_DELAY
        if self.result is not None and not is_early:
            self.dismiss("send")

    # Drawing ------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._state.update(self._describe())
        if self.is_executing:
            keys = [("↑ ↓", "scroll"), ("esc", "close" if self._is_stopping else "stop")]
        else:
            send = [("enter", "send to the agent")] if self.result is not None else []
            keys = [*send, ("r", "run again"), ("↑ ↓", "scroll"), ("esc", "close")]
        self._keys.update(keys_line(*keys))

    def _describe(self) -> Content:
        if self.is_executing:
            took = format_duration(int(time.monotonic() - self._started))
            doing = "Stopping" if self._is_stopping else "Running"
            return Content.styled(f"{doing} … {took}", "$accent")
        if self.result is None:
            return Content.styled(make_visible(self._problem), "$error")
        return Content.styled(describe_end(self.result), _end_style(self.result))


def describe_end(run: "CommandRun") -> str:
    """How a command ended, and after how long."""
    seconds = max(0.0, (run.ended_at or run.started_at) - run.started_at)
    took = f"{seconds:.1f} s" if seconds < 10 else format_duration(int(seconds))
    if run.status == "stopped":
        return f"Stopped after {took}"
    if run.error:
        return f"Failed after {took}: {clean_line(run.error)}"
    return f"Exit code {run.exit_code} after {took}"


def _end_style(run: "CommandRun") -> str:
    styles = {"stopped": "$text-muted", "completed": "$success"}
    return styles.get(run.status, "$error")
