"""Actions that open editors, shells, folders and web pages."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.actions.links import open_link
from tui.desk import Desk
from tui.terminal import open_commands
from tui.terminal.external_programs import open_in_window, run_in_terminal
from tui.terminal.open_commands import Opener

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree
    from model.preferences.schema import Preferences

    OpenerFactory = Callable[[Preferences, Mapping[str, str], Path], Opener]

_MAX_SEARCH_BYTES = 5_000_000
"""Bytes of a file that are searched for the position of an edit."""


async def open_worktree(desk: Desk) -> None:
    """Open the worktree in the program chosen by the preference `open_in`."""
    match desk.state.preferences.open_in:
        case "editor":
            await open_editor(desk)
        case "terminal":
            await _open_folder(desk, open_commands.find_terminal)
        case "finder":
            await _file_manager(desk)
        case "hosting":
            await _hosting(desk)


async def open_editor(desk: Desk) -> None:
    """Open the worktree's folder in the editor."""
    await _open_folder(desk, open_commands.find_editor)


async def open_shell(desk: Desk) -> None:
    """Run a shell in the worktree, in this terminal."""
    folder = await _folder(desk)
    if folder is not None:
        await _open(desk, open_commands.find_shell(os.environ), folder)


async def open_file(desk: Desk, name: str, line: int = 0, having: str = "") -> None:
    """Open a file of the worktree in the editor, at a line or where the text `having` begins."""
    folder = await _folder(desk)
    if folder is None:
        return
    path = folder / name
    if not await asyncio.to_thread(path.is_file):
        raise SpinneyError(f"The file {clean_line(str(path))} no longer exists.", "not_found")
    if having and not line:
        line = await asyncio.to_thread(_line_of, path, having)
    await _open(
        desk, open_commands.find_editor(desk.state.preferences, os.environ, path, line), folder
    )


async def _open_folder(desk: Desk, opener_of: "OpenerFactory") -> None:
    folder = await _folder(desk)
    if folder is not None:
        await _open(desk, opener_of(desk.state.preferences, os.environ, folder), folder)


async def _file_manager(desk: Desk) -> None:
    folder = await _folder(desk)
    if folder is None:
        return
    program = open_commands.find_desktop_opener(os.environ)
    if program is None:
        raise SpinneyError(
            "There is no desktop on this machine to show a folder. "
            "Use 'Open a shell in the worktree' instead."
        )
    await open_in_window((program, str(folder)), folder, os.environ)


async def _hosting(desk: Desk) -> None:
    worktree = _worktree(desk)
    if worktree is None:
        return
    if not worktree.pr_url:
        raise SpinneyError(
            "This worktree has no pull request yet, so there is no page to open. "
            "Use 'Open the worktree in the editor' to see its files."
        )
    await open_link(desk, worktree.pr_url)


async def _open(desk: Desk, opener: Opener, folder: Path) -> None:
    environment = _build_environment(desk)
    if opener.in_window:
        desk.say(f"Opening in {Path(opener.command[0]).name}.")
        await open_in_window(opener.command, folder, environment)
        return
    code = await run_in_terminal(desk.app, opener.command, folder, environment)
    # A shell's exit code is that of its last command.
    if code and opener != open_commands.find_shell(os.environ):
        desk.say(f"{opener.command[0]} failed with exit code {code}.", bad=True)


def _build_environment(desk: Desk) -> dict[str, str]:
    """Return the user's variables, and those that the worktree's scripts have."""
    if desk.worktree is None:
        return dict(os.environ)
    from model.domain.worktree_variables import build_worktree_variables  # needs pydantic

    return {**os.environ, **build_worktree_variables(desk.worktree, desk.project)}


def _worktree(desk: Desk) -> "Worktree | None":
    if desk.worktree is None:
        desk.say("Open a worktree first.")
    return desk.worktree


async def _folder(desk: Desk) -> Path | None:
    """Return the worktree's folder. Raises `SpinneyError` if it is not on this machine."""
    worktree = _worktree(desk)
    if worktree is None:
        return None
    if desk.host.remote_address:
        raise SpinneyError(
            f"The files are not on this machine. They are on {desk.host.remote_address} in "
            f"{clean_line(worktree.path)}."
        )
    folder = Path(worktree.path)
    if not await asyncio.to_thread(folder.is_dir):
        raise SpinneyError(
            f"The folder {clean_line(worktree.path)} does not exist. "
            "Restore it, or recreate or archive the worktree.",
            "not_found",
        )
    return folder


def _line_of(path: Path, text: str) -> int:
    """Return the line, counted from 1, in which `text` begins; 0 if it is not found."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_SEARCH_BYTES)
    except OSError:
        return 0
    at = content.find(text.encode(errors="replace"))
    return content.count(b"\n", 0, at) + 1 if at >= 0 and text else 0
