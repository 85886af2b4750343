"""A worktree's scripts: what they are, whether they are trusted, how they run, what they print."""

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
from tui.widgets.status_line import duration

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.domain.scripts import ScriptRun

NAMES: Final[tuple[ScriptName, ...]] = get_args(ScriptName)
LOOK_EVERY: Final = 0.7
"""Seconds between two looks at what a script printed."""
_SHOWN: Final = 400
"""Lines of output on the screen; the newest."""

_WHEN: Final[dict[ScriptName, str]] = {
    "setup": "runs in each new worktree",
    "run": "runs when you say so, until you stop it",
    "teardown": "runs before a worktree is deleted",
}


@dataclass(frozen=True, slots=True)
class ScriptWork:
    """What can be done with the scripts of one worktree."""

    read: Callable[[], Awaitable[Sequence[Script]]]
    look: Callable[[ScriptName], Awaitable["ScriptRun | None"]]
    """How it runs or ran last; `None` if it never did."""
    run: Callable[[ScriptName], Awaitable[None]]
    stop: Callable[[ScriptName], Awaitable[None]]
    trust: Callable[[Script], Awaitable[None]]
    save: Callable[[ScriptName, str], Awaitable[None]]


class Scripts(Dialog[None]):
    """One script at a time: its text, its state, its output as it comes."""

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
        """The one that is shown."""
        self._scripts: dict[str, Script] = {}
        self._ran: ScriptRun | None = None
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
        """Read them, and follow what runs."""
        self._page.focus()
        self._draw()
        self._start(self._read())
        self.set_interval(LOOK_EVERY, self._look_again)

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
        await self._look()

    def _look_again(self) -> None:
        if self.app.screen is self:
            self.run_worker(
                cast("WorkType[None]", self._look),
                group="look",
                exclusive=True,
                exit_on_error=False,
            )

    async def _look(self) -> None:
        name = self.script
        try:
            ran = await self._work.look(name)
        except SpinneyError as error:
            self._problem = error.message
            ran = None
        if name == self.script:
            self._ran = ran
            self._draw()

    # Showing ------------------------------------------------------------------------------------

    def _draw(self) -> None:
        names = [
            part
            for name in NAMES
            for part in ((f" {name} ", "bold reverse" if name == self.script else ""), "  ")
        ]
        script, ran = self._scripts.get(self.script), self._ran
        self._names.update(Content.assemble(*names, (_WHEN[self.script], "$text-muted")))
        self._state.update(self._state_of(script, ran))
        follows = self._page.scroll_offset.y >= self._page.max_scroll_y
        content = _page(script, ran)
        if content != self._text.content:
            self._text.update(content)
            if follows and ran is not None:
                self._page.scroll_end(animate=False)
        self._keys.update(keys_line(*self._what_can_be_done(script, ran)))

    def _state_of(self, script: Script | None, ran: "ScriptRun | None") -> Content:
        parts: list[tuple[str, str]] = []
        if script is not None and script.hidden is not None:
            parts.append((f"Cannot be trusted: {script.hidden}. Take it out.  ", "bold $error"))
        elif script is not None and not script.trusted:
            parts.append(("Not trusted: read it; only then let it run.  ", "bold $warning"))
        if ran is not None:
            parts.append(_how(ran))
        if self._problem:
            parts.append((f"\n{make_visible(self._problem)}", "$error"))
        return Content.assemble(*parts)

    def _what_can_be_done(
        self, script: Script | None, ran: "ScriptRun | None"
    ) -> list[tuple[str, str]]:
        runs = ran is not None and ran.status == "running"
        keys = [("← →", "other script")]
        if runs:
            keys.append(("s", "stop"))
        elif script is not None and script.trusted:
            keys.append(("r", "run"))
        if script is not None and not script.trusted and script.hidden is None:
            keys.append(("t", "trust this text"))
        return [*keys, ("e", "edit"), ("esc", "close")]

    # Doing --------------------------------------------------------------------------------------

    def action_step(self, step: int) -> None:
        """Show the script beside."""
        self.script = NAMES[(NAMES.index(self.script) + step) % len(NAMES)]
        self._ran, self._problem = None, ""
        self._draw()
        self._look_again()

    def action_run(self) -> None:
        """Start it."""
        self._start(self._then(self._work.run(self.script)))

    def action_stop(self) -> None:
        """End it and all that it started."""
        self._start(self._then(self._work.stop(self.script)))

    def action_trust(self) -> None:
        """Trust the very text that is on the screen."""
        script = self._scripts.get(self.script)
        if script is not None and not script.trusted:
            self._start(self._then(self._work.trust(script)))

    def action_edit(self) -> None:
        """Change the text."""
        script = self._scripts.get(self.script)
        name = self.script

        def changed(text: str | None) -> None:
            if text is not None:
                self._start(self._then(self._work.save(name, text)))

        self.app.push_screen(EditScript(name, script.text if script else ""), changed)

    async def _then(self, work: Awaitable[None]) -> None:
        await work
        await self._read()


class EditScript(Dialog[str]):
    """The text of a script; an empty one takes the script away."""

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
            Static(
                keys_line(("^g", "save and trust"), ("esc", "leave it as it was")), classes="keys"
            ),
        ]

    def action_save(self) -> None:
        """Write it to the repository's `spinney.json`; what hides something stays to be changed."""
        text = self.query_one("#plan", TextArea).text.strip()
        if (hidden := find_hidden(text)) is not None:
            self._problem.update(Content.styled(f"Not saved: {hidden}. Take it out.", "$error"))
            return
        self.dismiss(text)


def _page(script: Script | None, ran: "ScriptRun | None") -> Content:
    """The text, and under it what was printed."""
    parts: list[tuple[str, str]] = []
    if script is None:
        parts.append(("There is no such script in spinney.json; press e to write one.", "italic"))
    else:
        parts += [(f"{script.file}\n", "$text-muted"), (script.shown, "")]
    if ran is not None:
        lines = make_visible(ran.output).rstrip().splitlines()
        cut = f" (the last {_SHOWN} lines)" if len(lines) > _SHOWN else ""
        parts.append((f"\n\nOutput{cut}\n", "$text-muted"))
        parts.append(("\n".join(lines[-_SHOWN:]) or "Nothing was printed yet.", ""))
    return Content.assemble(*parts)


def _how(ran: "ScriptRun") -> tuple[str, str]:
    """How it runs or ran."""
    took = f" after {duration(int(ran.ended_at - ran.started_at))}" if ran.ended_at else ""
    match ran.status:
        case "running":
            return "Running", "bold $accent"
        case "completed":
            return f"Done{took}", "$success"
        case "stopped":
            return f"Stopped{took}", "$text-muted"
        case _:
            why = make_visible(ran.error) if ran.error else f"exit code {ran.exit_code}"
            return f"Failed{took}: {why}", "$error"
