"""The dialog with a worktree's scripts: text, trust, state and output."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast, get_args

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from model.base.errors import SpinneyError
from model.base.text import find_hidden, make_visible
from model.domain.scripts import Script, ScriptName
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line
from tui.widgets.status_line import format_duration

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.domain.scripts import ScriptRun

NAMES: Final[tuple[ScriptName, ...]] = get_args(ScriptName)
POLL_INTERVAL: Final = 0.7
"""Seconds between reads of a script's output."""
_MAX_LINES: Final = 400
"""Most lines of output that are shown; the newest."""

_WHEN: Final[dict[ScriptName, str]] = {
    "setup": "runs in each new worktree",
    "run": "runs on demand until you stop it",
    "teardown": "runs before a worktree is deleted",
    "check": "has to pass before it lands",
}


@dataclass(frozen=True, slots=True)
class ScriptWork:
    """The operations on the scripts of one worktree."""

    read: Callable[[], Awaitable[Sequence[Script]]]
    read_run: Callable[[ScriptName], Awaitable["ScriptRun | None"]]
    """Returns the current or last run; `None` if the script never ran."""
    run: Callable[[ScriptName], Awaitable[None]]
    stop: Callable[[ScriptName], Awaitable[None]]
    trust: Callable[[Script], Awaitable[None]]
    save: Callable[[ScriptName, str], Awaitable[None]]


class Scripts(Dialog[None]):
    """One script at a time, with its text, state and live output."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,shift+tab", "step(-1)", show=False, priority=True),
        Binding("right,tab", "step(1)", show=False, priority=True),
        Binding("r", "run", show=False),
        Binding("s", "stop", show=False),
        Binding("t", "trust", show=False),
        Binding("e", "edit", show=False),
    ]

    def __init__(self, worktree: str, work: ScriptWork, name: ScriptName = "run") -> None:
        super().__init__(f"Scripts of {worktree}")
        self._work = work
        self.script: ScriptName = name
        """The displayed script."""
        self._scripts: dict[str, Script] = {}
        self._run: ScriptRun | None = None
        self._problem = ""

    def body(self) -> list[Widget]:
        """Names, state, text and output, keys."""
        self._names = Static("", markup=False)
        self._state = Static("", markup=False, classes="words")
        self._text = Static("", markup=False)
        self._page = VerticalScroll(self._text, classes="page", id="script-page")
        self._keys = Static("", classes="keys")
        return [self._names, self._state, self._page, self._keys]

    def on_mount(self) -> None:
        """Read the scripts, and follow the running one."""
        self._page.focus()
        self._draw()
        self._start(self._read())
        self.set_interval(POLL_INTERVAL, self._poll)

    # Reading ------------------------------------------------------------------------------------

    def _start(self, work: Awaitable[None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except SpinneyError as error:
                self._problem = error.message
                self._draw()

        self.run_worker(guarded(), exit_on_error=False)

    async def _read(self) -> None:
        self._problem = ""
        self._scripts = {script.name: script for script in await self._work.read()}
        await self._read_run()

    def _poll(self) -> None:
        if self.app.screen is self:
            self.run_worker(
                cast("WorkType[None]", self._read_run),
                group="look",
                exclusive=True,
                exit_on_error=False,
            )

    async def _read_run(self) -> None:
        name = self.script
        try:
            run = await self._work.read_run(name)
        except SpinneyError as error:
            self._problem = error.message
            run = None
        if name == self.script:
            self._run = run
            self._draw()

    # Showing ------------------------------------------------------------------------------------

    def _draw(self) -> None:
        names = [
            part
            for name in NAMES
            for part in ((f" {name} ", "bold reverse" if name == self.script else ""), "  ")
        ]
        script, run = self._scripts.get(self.script), self._run
        self._names.update(Content.assemble(*names, (_WHEN[self.script], "$text-muted")))
        self._state.update(self._state_of(script, run))
        follows = self._page.scroll_offset.y >= self._page.max_scroll_y
        content = _page(script, run)
        if content != self._text.content:
            self._text.update(content)
            if follows and run is not None:
                self._page.scroll_end(animate=False)
        self._keys.update(keys_line(*self._available_keys(script, run)))

    def _state_of(self, script: Script | None, run: "ScriptRun | None") -> Content:
        parts: list[tuple[str, str]] = []
        if script is not None and script.hidden is not None:
            parts.append((f"Cannot be trusted: {script.hidden}. Remove it.  ", "bold $error"))
        elif script is not None and not script.trusted:
            parts.append(("Not trusted. Review it before you run it.  ", "bold $warning"))
        if run is not None:
            parts.append(_format_state(run))
        if self._problem:
            parts.append((f"\n{make_visible(self._problem)}", "$error"))
        return Content.assemble(*parts)

    def _available_keys(
        self, script: Script | None, run: "ScriptRun | None"
    ) -> list[tuple[str, str]]:
        is_running = run is not None and run.status == "running"
        keys = [("← →", "other script")]
        if is_running:
            keys.append(("s", "stop"))
        elif script is not None and script.trusted:
            keys.append(("r", "run"))
        if script is not None and not script.trusted and script.hidden is None:
            keys.append(("t", "trust script"))
        return [*keys, ("e", "edit"), ("esc", "close")]

    # Actions ------------------------------------------------------------------------------------

    def action_step(self, step: int) -> None:
        """Show the next or previous script."""
        self.script = NAMES[(NAMES.index(self.script) + step) % len(NAMES)]
        self._run, self._problem = None, ""
        self._draw()
        self._poll()

    def action_run(self) -> None:
        """Run the script."""
        self._start(self._run_and_reload(self._work.run(self.script)))

    def action_stop(self) -> None:
        """Stop the script and all processes that it started."""
        self._start(self._run_and_reload(self._work.stop(self.script)))

    def action_trust(self) -> None:
        """Trust exactly the displayed text."""
        script = self._scripts.get(self.script)
        if script is not None and not script.trusted:
            self._start(self._run_and_reload(self._work.trust(script)))

    def action_edit(self) -> None:
        """Edit the script."""
        script = self._scripts.get(self.script)
        name = self.script

        def save(text: str | None) -> None:
            if text is not None:
                self._start(self._run_and_reload(self._work.save(name, text)))

        self.app.push_screen(EditScript(name, script.text if script else ""), save)

    async def _run_and_reload(self, work: Awaitable[None]) -> None:
        await work
        await self._read()


class EditScript(Dialog[str]):
    """The text of a script; an empty text removes the script."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "save", "Save", priority=True, show=False)
    ]

    def __init__(self, name: ScriptName, text: str) -> None:
        super().__init__(f"The {name} script")
        self._text = text

    def body(self) -> list[Widget]:
        """The text and its keys."""
        self._problem = Static("", markup=False)
        return [
            TextArea(self._text, id="plan", compact=True, highlight_cursor_line=False),
            self._problem,
            Static(keys_line(("^g", "save and trust"), ("esc", "cancel")), classes="keys"),
        ]

    def action_save(self) -> None:
        """Save to the repository's `spinney.json`; refuse a text with hidden characters."""
        text = self.query_one("#plan", TextArea).text.strip()
        if (hidden := find_hidden(text)) is not None:
            self._problem.update(Content.styled(f"Not saved: {hidden}. Remove it.", "$error"))
            return
        self.dismiss(text)


def _page(script: Script | None, run: "ScriptRun | None") -> Content:
    """Return the script's text with its output below."""
    parts: list[tuple[str, str]] = []
    if script is None:
        parts.append(("spinney.json has no such script. Press e to write one.", "italic"))
    else:
        parts += [(f"{script.file}\n", "$text-muted"), (script.shown, "")]
    if run is not None:
        lines = make_visible(run.output).rstrip().splitlines()
        cut = f" (the last {_MAX_LINES} lines)" if len(lines) > _MAX_LINES else ""
        parts.append((f"\n\nOutput{cut}\n", "$text-muted"))
        parts.append(("\n".join(lines[-_MAX_LINES:]) or "No output yet.", ""))
    return Content.assemble(*parts)


def _format_state(run: "ScriptRun") -> tuple[str, str]:
    """Return the state of a run with its style."""
    took = f" after {format_duration(int(run.ended_at - run.started_at))}" if run.ended_at else ""
    match run.status:
        case "running":
            return "Running", "bold $accent"
        case "completed":
            return f"Done{took}", "$success"
        case "stopped":
            return f"Stopped{took}", "$text-muted"
        case _:
            reason = make_visible(run.error) if run.error else f"exit code {run.exit_code}"
            return f"Failed{took}: {reason}", "$error"
