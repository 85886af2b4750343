"""Notices about the program itself: restarts, another installed version, a newer release."""

from typing import TYPE_CHECKING

from tui.shell.selection import Selection

if TYPE_CHECKING:
    from model.domain.program import ProgramStatus
    from tui.store.mirror import Change


class ProgramNotices:
    """Follows the mirror, and says each thing once."""

    def __init__(self, screen: Selection) -> None:
        self._screen = screen
        self._said: set[str] = set()

    def follow(self, change: "Change") -> None:
        """Say what is new about the program."""
        program, before = change.state.program, change.before.program
        if program is before:
            return
        if change.loaded:
            self._report_restart(program, before)
        if program.restart == "now":
            self._say_once("Spinney is restarting …", program)
        if program.installed_version is not None:
            key = self._screen.key_of("commands")
            self._say_once(
                f"Spinney {program.installed_version} is installed. To use it: {key}, Restart "
                "Spinney.",
                program,
            )
        if program.release is not None and program.release != self._screen.seen_release:
            self._screen.seen_release = program.release
            self._say_once(
                f"Spinney {program.release} is available. To update: {program.update_command}",
                program,
            )

    def _report_restart(self, program: "ProgramStatus", before: "ProgramStatus") -> None:
        is_first = not before.started_at
        old = program.restarted_from if is_first else before.version
        if old is None or program.started_at == before.started_at:
            return
        if is_first and self._screen.host.attached:
            return  # It began later.
        change = "" if old == program.version else f": {old} is now {program.version}"
        self._say_once(f"Spinney was restarted{change}. Nothing is lost.", program)

    def _say_once(self, sentence: str, program: "ProgramStatus") -> None:
        """Say it, unless it was said about this run of the program."""
        key = f"{program.started_at} {sentence}"
        if key not in self._said:
            self._said.add(key)
            self._screen.say(sentence)
