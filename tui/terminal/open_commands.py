"""Which command opens a file or a folder: the preferences, what is installed, what is possible."""

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

_WINDOWED: Final[Mapping[str, Sequence[str]]] = {
    "zed": ("zed", "zeditor"), "vscode": ("code", "codium"), "cursor": ("cursor",),
    "xcode": ("xed",),
}  # fmt: skip
"""Programs of the preference `editor`: those that open windows, by the names they may have."""
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
_PLAIN_EDITORS: Final = ("nano", "vim", "vi")
_JUMPING: Final = frozenset({"vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe", "ne"})
"""Editors that take `+12` before a file for its line."""
_COLON: Final = frozenset({"zed", "zeditor", "hx", "helix", "subl"})
"""Editors that take `file:12`."""
_CODE: Final = frozenset({"code", "codium", "cursor", "code-insiders"})


@dataclass(frozen=True, slots=True)
class Opener:
    """A command, and where it shows itself."""

    command: tuple[str, ...]
    in_window: bool


def has_desktop(environ: Mapping[str, str]) -> bool:
    """Whether windows can open where a person sees them."""
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    if sys.platform == "darwin":
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def text_editor(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The editor for the terminal: `$VISUAL`, `$EDITOR` or any. Raises `SpinneyError`."""
    for variable in ("VISUAL", "EDITOR"):
        given = environ.get(variable, "").strip()
        if not given:
            continue
        try:
            words = tuple(shlex.split(given))
        except ValueError:
            words = (given,)
        if shutil.which(words[0], path=environ.get("PATH")):
            return words
        raise SpinneyError(
            f"${variable} names {words[0]}, which is not installed. Set it to your editor.",
            "backend_unavailable",
        )
    found = _installed(_PLAIN_EDITORS, environ)
    if found is None:
        raise SpinneyError(
            "No editor was found. Set $EDITOR to one, and start Spinney again.",
            "backend_unavailable",
        )
    return (found,)


def editor(
    preferences: "Preferences", environ: Mapping[str, str], path: Path, line: int = 0
) -> Opener:
    """What opens a file (at a line, counted from 1) or a folder. Raises `SpinneyError`."""
    is_inline = preferences.file_edit_mode == "inline" and not path.is_dir()
    if has_desktop(environ) and not is_inline:
        program = _installed(_WINDOWED[preferences.editor], environ)
        if program is not None:
            return Opener((program, *at_line(program, path, line)), in_window=True)
    words = text_editor(environ)
    return Opener((*words, *at_line(words[0], path, line)), in_window=False)


def at_line(program: str, path: Path, line: int) -> tuple[str, ...]:
    """The arguments that name a file and, where the program can be told, a line in it."""
    # A file called like an option is none: it has a slash before it.
    file = str(path.absolute())
    name = Path(program).name
    if line < 1:
        return (file,)
    if name in _JUMPING:
        return (f"+{line}", file)
    if name in _COLON:
        return (f"{file}:{line}",)
    if name in _CODE:
        return ("--goto", f"{file}:{line}")
    return ("--line", str(line), file) if name == "xed" else (file,)


def terminal(preferences: "Preferences", environ: Mapping[str, str], folder: Path) -> Opener:
    """What opens a shell: a window of the preferred terminal, or the shell on this screen."""
    name = preferences.terminal
    if has_desktop(environ):
        if sys.platform == "darwin" and name in _MAC_TERMINALS:
            return Opener(("open", "-a", _MAC_TERMINALS[name], str(folder)), in_window=True)
        for words in _TERMINALS.get(name, ()):
            if shutil.which(words[0], path=environ.get("PATH")):
                return Opener(tuple(words), in_window=True)
    return shell(environ)


def shell(environ: Mapping[str, str]) -> Opener:
    """The person's shell, on this screen."""
    found = environ.get("SHELL") or _installed(("bash", "sh"), environ) or "/bin/sh"
    return Opener((found,), in_window=False)


def desktop_opener(environ: Mapping[str, str]) -> str | None:
    """The desktop's own way to open a folder or an address; `None` where there is none."""
    if not has_desktop(environ):
        return None
    return _installed(("open",) if sys.platform == "darwin" else ("xdg-open",), environ)


def _installed(names: Sequence[str], environ: Mapping[str, str]) -> str | None:
    return next((name for name in names if shutil.which(name, path=environ.get("PATH"))), None)
