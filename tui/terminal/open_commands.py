"""Choice of the command that opens a file or folder, by preferences and installed programs."""

import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.base.errors import SpinneyError

if TYPE_CHECKING:
    from model.preferences.schema import Preferences

_WINDOWED_EDITORS: Final[Mapping[str, Sequence[str]]] = {
    "zed": ("zed", "zeditor"), "vscode": ("code", "codium"), "cursor": ("cursor",),
    "xcode": ("xed",),
}  # fmt: skip
"""Editors of the preference `editor` that open windows, with their possible program names."""
_TERMINALS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "terminal": (
        ("x-terminal-emulator",), ("gnome-terminal",), ("konsole",), ("xfce4-terminal",),
    ),
    "ghostty": (("ghostty",),),
    "warp": (("warp-terminal",),),
}  # fmt: skip
_MAC_TERMINALS: Final[Mapping[str, str]] = {
    "terminal": "Terminal", "warp": "Warp", "ghostty": "Ghostty", "iterm2": "iTerm",
}  # fmt: skip
_TEXT_EDITORS: Final = ("nano", "vim", "vi")
_PLUS_LINE_EDITORS: Final = frozenset(
    {"vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe", "ne"}
)
"""Editors that accept `+12` before a file as its line."""
_COLON_LINE_EDITORS: Final = frozenset({"zed", "zeditor", "hx", "helix", "subl"})
"""Editors that accept `file:12`."""
_GOTO_EDITORS: Final = frozenset({"code", "codium", "cursor", "code-insiders"})


@dataclass(frozen=True, slots=True)
class Opener:
    """A command, and whether it opens a window."""

    command: tuple[str, ...]
    in_window: bool


def has_desktop(environ: Mapping[str, str]) -> bool:
    """Whether windows can open on the user's desktop."""
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    if sys.platform == "darwin":
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def find_text_editor(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The editor for the terminal: `$VISUAL`, `$EDITOR` or a default. Raises `SpinneyError`."""
    for variable in ("VISUAL", "EDITOR"):
        value = environ.get(variable, "").strip()
        if not value:
            continue
        try:
            words = tuple(shlex.split(value))
        except ValueError:
            words = (value,)
        if shutil.which(words[0], path=environ.get("PATH")):
            return words
        raise SpinneyError(
            f"${variable} is set to '{words[0]}', which is not installed. Set it to your editor.",
            "backend_unavailable",
        )
    program = _find_installed(_TEXT_EDITORS, environ)
    if program is None:
        raise SpinneyError(
            "No editor was found. Set $EDITOR and start Spinney again.",
            "backend_unavailable",
        )
    return (program,)


def find_editor(
    preferences: "Preferences", environ: Mapping[str, str], path: Path, line: int = 0
) -> Opener:
    """The command that opens a file (at a line, from 1) or a folder. Raises `SpinneyError`."""
    is_inline = preferences.file_edit_mode == "inline" and not path.is_dir()
    if has_desktop(environ) and not is_inline:
        program = _find_installed(_WINDOWED_EDITORS[preferences.editor], environ)
        if program is not None:
            return Opener((program, *line_arguments(program, path, line)), in_window=True)
    words = find_text_editor(environ)
    return Opener((*words, *line_arguments(words[0], path, line)), in_window=False)


def line_arguments(program: str, path: Path, line: int) -> tuple[str, ...]:
    """The arguments for a file and, if the program supports it, a line."""
    # Absolute, so that a file named like an option is not parsed as one.
    file = str(path.absolute())
    name = Path(program).name
    if line < 1:
        return (file,)
    if name in _PLUS_LINE_EDITORS:
        return (f"+{line}", file)
    if name in _COLON_LINE_EDITORS:
        return (f"{file}:{line}",)
    if name in _GOTO_EDITORS:
        return ("--goto", f"{file}:{line}")
    return ("--line", str(line), file) if name == "xed" else (file,)


def find_terminal(preferences: "Preferences", environ: Mapping[str, str], folder: Path) -> Opener:
    """The command that opens a shell: in the preferred terminal, or on this screen."""
    name = preferences.terminal
    if has_desktop(environ):
        if sys.platform == "darwin" and name in _MAC_TERMINALS:
            return Opener(("open", "-a", _MAC_TERMINALS[name], str(folder)), in_window=True)
        for words in _TERMINALS.get(name, ()):
            if shutil.which(words[0], path=environ.get("PATH")):
                return Opener(tuple(words), in_window=True)
    return find_shell(environ)


def find_shell(environ: Mapping[str, str]) -> Opener:
    """The user's shell, on this screen."""
    program = environ.get("SHELL") or _find_installed(("bash", "sh"), environ) or "/bin/sh"
    return Opener((program,), in_window=False)


def find_desktop_opener(environ: Mapping[str, str]) -> str | None:
    """The desktop's command for opening folders and URLs, or `None`."""
    if not has_desktop(environ):
        return None
    return _find_installed(("open",) if sys.platform == "darwin" else ("xdg-open",), environ)


def _find_installed(names: Sequence[str], environ: Mapping[str, str]) -> str | None:
    return next((name for name in names if shutil.which(name, path=environ.get("PATH"))), None)
