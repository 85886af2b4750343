"""Actions that leave Spinney's screen: editors, shells, folders and pages in a browser."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from tui.actions.git import open_diff
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import Confirm
from tui.terminal import open_commands
from tui.terminal.external_programs import in_terminal, in_window
from tui.terminal.open_commands import Opener

if TYPE_CHECKING:
    from model.domain.resources import Worktree
    from model.preferences.schema import Preferences
    from tui.shell.main_screen import MainScreen
    from tui.transcript.targets import Target

    How = Callable[[Preferences, Mapping[str, str], Path], Opener]

_SEARCHED = 5_000_000
"""Bytes of a file in which an edit's place is looked for."""


async def open_worktree(screen: "MainScreen") -> None:
    """Where the preference `open_in` says."""
    match screen.state.preferences.open_in:
        case "editor":
            await open_editor(screen)
        case "terminal":
            await _open_folder(screen, open_commands.terminal)
        case "finder":
            await _file_manager(screen)
        case "hosting":
            await _hosting(screen)


async def open_editor(screen: "MainScreen") -> None:
    """The worktree's folder in the editor."""
    await _open_folder(screen, open_commands.editor)


async def open_shell(screen: "MainScreen") -> None:
    """A shell in the worktree, on this screen."""
    folder = await _folder(screen)
    if folder is not None:
        await _open(screen, open_commands.shell(os.environ), folder)


async def open_file(screen: "MainScreen", name: str, line: int = 0, having: str = "") -> None:
    """A file of the worktree in the editor, at a line or at the first place that has a text."""
    folder = await _folder(screen)
    if folder is None:
        return
    path = folder / name
    if not await asyncio.to_thread(path.is_file):
        raise SpinneyError(f"There is no file {clean_line(str(path))} any more.", "not_found")
    if having and not line:
        line = await asyncio.to_thread(_line_of, path, having)
    await _open(
        screen, open_commands.editor(screen.state.preferences, os.environ, path, line), folder
    )


async def open_one(screen: "MainScreen", targets: "Sequence[Target]") -> None:
    """One of the files and pages that a message speaks of; people choose among several."""
    if not targets:
        screen.say("Nothing here names a file with its line, or a page.")
        return
    at: str | None = "0"
    if len(targets) > 1:
        choices = [Choice(str(n), clean_line(each.label)) for n, each in enumerate(targets)]
        at = await screen.app.push_screen_wait(Choose("Open", choices))
    if at is None:
        return
    target = targets[int(at)]
    if target.in_diff:
        await open_diff(screen, _inside(screen, target.path))
    elif target.href:
        await open_link(screen, target.href)
    else:
        await open_file(screen, target.path, target.line, target.having)


def _inside(screen: "MainScreen", path: str) -> str:
    """The path as git calls it in the worktree."""
    root = screen.worktree.path.rstrip("/") if screen.worktree is not None else ""
    return path.removeprefix(f"{root}/").removeprefix("./")


async def open_link(screen: "MainScreen", href: str) -> None:
    """A page in the browser, after a look at its whole address; it is a stranger's."""
    address = make_visible(href)
    if urlsplit(address).scheme not in ("http", "https"):
        screen.app.copy_to_clipboard(address)
        screen.say("Only http and https links are opened; its address was copied.")
        return
    program = open_commands.desktop_opener(os.environ)
    if program is None:
        screen.app.copy_to_clipboard(address)
        screen.say("There is no browser on this side; the link's address was copied.")
        return
    dialog = Confirm("Open in the browser", address, "open it", harmless=True)
    if await screen.app.push_screen_wait(dialog):
        await in_window((program, address), Path.home(), os.environ)


async def _open_folder(screen: "MainScreen", how: "How") -> None:
    folder = await _folder(screen)
    if folder is not None:
        await _open(screen, how(screen.state.preferences, os.environ, folder), folder)


async def _file_manager(screen: "MainScreen") -> None:
    folder = await _folder(screen)
    if folder is None:
        return
    program = open_commands.desktop_opener(os.environ)
    if program is None:
        raise SpinneyError(
            "There is no desktop here that could show a folder. "
            "“Open a shell in the worktree” works without one."
        )
    await in_window((program, str(folder)), folder, os.environ)


async def _hosting(screen: "MainScreen") -> None:
    worktree = _worktree(screen)
    if worktree is None:
        return
    if not worktree.pr_url:
        raise SpinneyError(
            "This worktree has no pull request yet, so there is no page to open. "
            "“Open the worktree in the editor” goes to its files."
        )
    await open_link(screen, worktree.pr_url)


async def _open(screen: "MainScreen", opener: Opener, folder: Path) -> None:
    if opener.in_window:
        screen.say(f"{Path(opener.command[0]).name} opens it.")
        await in_window(opener.command, folder, os.environ)
        return
    code = await in_terminal(screen.spinney, opener.command, folder, os.environ)
    # A shell ends with whatever its last command ended with.
    if code and opener != open_commands.shell(os.environ):
        screen.say(f"{opener.command[0]} ended with exit code {code}.", bad=True)


def _worktree(screen: "MainScreen") -> "Worktree | None":
    if screen.worktree is None:
        screen.say("Open a worktree first.")
    return screen.worktree


async def _folder(screen: "MainScreen") -> Path | None:
    """The worktree's folder, if it is on this machine. Raises `SpinneyError` where it is not."""
    worktree = _worktree(screen)
    if worktree is None:
        return None
    if screen.spinney.elsewhere:
        raise SpinneyError(
            f"The files are on the machine of {screen.spinney.elsewhere}, not on this one. "
            f"There they are in {clean_line(worktree.path)}."
        )
    folder = Path(worktree.path)
    if not await asyncio.to_thread(folder.is_dir):
        raise SpinneyError(
            f"The folder {clean_line(worktree.path)} does not exist. "
            "Put it back, or recreate or archive the worktree.",
            "not_found",
        )
    return folder


def _line_of(path: Path, text: str) -> int:
    """The line, counted from 1, at which `text` begins; 0 where it is not found."""
    try:
        with path.open("rb") as file:
            content = file.read(_SEARCHED)
    except OSError:
        return 0
    at = content.find(text.encode(errors="replace"))
    return content.count(b"\n", 0, at) + 1 if at >= 0 and text else 0
