"""The top bar: the current location, the number of waiting and running sessions, the server."""

from typing import TYPE_CHECKING

from textual.content import Content

from model.base.text import clean_line
from tui.draw.status_icons import count_waiting_and_running
from tui.widgets.line import Line, clickable

if TYPE_CHECKING:
    from model.client.base import Disconnected
    from model.state import State


MARK = "▲"
"""Spinney's mark, a fir."""


class TopBar(Line):
    """The path on the left, counts on the right."""

    def follow(
        self,
        state: "State",
        path: tuple[str, ...],
        lost: "Disconnected | None",
        server: str,
        *,
        scripts: str = "",
    ) -> None:
        """Show `path` (names of project, worktree and session) and its running scripts."""
        start = MARK if path else f"{MARK} Spinney"
        left: list[Content | str | tuple[str, str]] = [(start, "bold $accent")]
        for number, name in enumerate(path):
            left.append((" " if number == 0 else " ▸ ", "$text-muted"))
            left.append((clean_line(name), "bold" if number == len(path) - 1 else ""))
        if scripts:
            scripts_link = Content.styled(f"  {scripts}", "$accent")
            left.append(clickable(scripts_link, "screen.do('show_scripts')"))
        waiting, running = count_waiting_and_running(state)
        right: list[Content | str | tuple[str, str]] = []
        if lost is not None and state.program.restart == "now":
            right.append((" Spinney is restarting ", "$background on $accent"))
        elif lost is not None:
            right.append((" connection lost, reconnecting ", "$background on $error"))
        elif state.program.restart == "idle":
            right.append(_restart_link("restarts when idle"))
        elif state.program.installed_version is not None:
            right.append(_restart_link("restart to update"))
        if waiting:
            verb = "needs" if waiting == 1 else "need"
            gap = " " if lost is not None else " · "
            right += [gap if right else "", (f"{waiting} {verb} you", "bold $warning")]
        if running:
            right += [" · " if right else "", (f"{running} running", "$accent")]
        if server:
            right += [" · " if right else "", ("●", "$success"), (f" {server}", "$text-muted")]
        self.show(Content.assemble(*left), Content.assemble(*right))


def _restart_link(text: str) -> Content:
    return clickable(Content.styled(text, "$accent"), "screen.do('restart_spinney')")
