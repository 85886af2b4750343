"""Records a program in a pseudo-terminal, as asciicast v2 and as an animated SVG."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

import pyte
from pyte.screens import Char

from tests.on_terminal import Screen

MIN_FRAME = 0.12
"""Seconds that a picture of the SVG is shown at least."""
CELL, LINE, FONT = 8.4, 18.0, 14
"""Width and height of a cell, and the size of the font, in pixels."""
NAMES = {
    "black": "#111513", "red": "#ff8378", "green": "#5fc48d", "brown": "#efbf4f",
    "blue": "#6fb5ff", "magenta": "#e2a2f5", "cyan": "#5edcab", "white": "#e7ece8",
}  # fmt: skip


@dataclass
class Recording:
    """The output of a program: pieces, and the seconds after the beginning at which they came."""

    columns: int
    rows: int
    pieces: list[tuple[float, bytes]] = field(default_factory=list)

    def write_cast(self, path: Path) -> None:
        """Write an asciicast v2 file."""
        header = {"version": 2, "width": self.columns, "height": self.rows, "title": "Spinney"}
        lines: list[object] = [header]
        lines += [[round(at, 3), "o", text] for at, text in _decode(self.pieces)]
        path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))

    def frames(self) -> Iterator[tuple[float, list[list[Char]]]]:
        """The screens that differ, each with the time from which it is shown."""
        screen = Screen(self.columns, self.rows)
        stream = pyte.ByteStream(screen)
        shown: list[list[Char]] = []
        begun = 0.0
        for number, (at, piece) in enumerate(self.pieces):
            stream.feed(piece)
            is_last = number + 1 == len(self.pieces)
            if not is_last and self.pieces[number + 1][0] - begun < MIN_FRAME:
                continue
            now = [[screen.buffer[y][x] for x in range(self.columns)] for y in range(self.rows)]
            if now != shown:
                yield at, now
                shown, begun = now, at


class RecordedTerminal:
    """A running program whose output is recorded; `press` sends keys."""

    def __init__(self, descriptor: int, recording: Recording) -> None:
        self._descriptor = descriptor
        self._recording = recording
        self._began = time.monotonic()
        self._screen = Screen(recording.columns, recording.rows)
        self._stream = pyte.ByteStream(self._screen)

    def press(self, *keys: str, pause: float = 0.06) -> None:
        """Press keys one after the other."""
        for key in keys:
            os.write(self._descriptor, key.encode())
            self.watch(pause)

    def type(self, text: str) -> None:
        """Type a text as a person does."""
        self.press(*text, pause=0.045)

    def wait(self, text: str, seconds: float = 30.0) -> None:
        """Wait until the screen shows a text. Raises `TimeoutError` with the screen."""
        end = time.monotonic() + seconds
        while not any(text in row for row in self._screen.display):
            if time.monotonic() > end:
                raise TimeoutError("\n".join([f"{text!r} is not shown:", *self._screen.display]))
            self.watch(0.05)

    def watch(self, seconds: float) -> None:
        """Record for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._descriptor], [], [], left)[0]:
                continue
            try:
                piece = os.read(self._descriptor, 65536)
            except OSError:  # the program has ended
                return
            self._stream.feed(piece)
            self._recording.pieces.append((time.monotonic() - self._began, piece))

    def begin(self) -> None:
        """Forget what was recorded, but begin with the screen as it is."""
        before = b"".join(piece for _, piece in self._recording.pieces)
        self._recording.pieces[:] = [(0.0, before)]
        self._began = time.monotonic()


@contextmanager
def recorded(
    command: Sequence[str], environ: Mapping[str, str], columns: int, rows: int
) -> Iterator[tuple[RecordedTerminal, Recording]]:
    """Run a command in a new terminal; end it on leaving."""
    pid, descriptor = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvpe(command[0], list(command), dict(environ))
    recording = Recording(columns, rows)
    try:
        yield RecordedTerminal(descriptor, recording), recording
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        os.close(descriptor)


def write_svg(recording: Recording, path: Path) -> None:
    """Write an SVG that plays the recording again and again; rows that are equal stand in it once.

    The frames are beside each other, and the style sheet moves the strip by whole frames.
    """
    frames = list(recording.frames())
    total = recording.pieces[-1][0] + 2.0
    width, height = recording.columns * CELL, recording.rows * LINE
    rows: dict[str, int] = {}
    styles: dict[str, int] = {}
    strip: list[str] = []
    for number, (_, lines) in enumerate(frames):
        uses = []
        for y, line in enumerate(lines):
            drawn = _draw_row(line, styles)
            if drawn:
                name = rows.setdefault(drawn, len(rows))
                uses.append(f'<use href="#r{name}" y="{y * LINE:g}"/>')
        strip.append(f'<g transform="translate({number * width:g} 0)">{"".join(uses)}</g>')
    steps = "".join(
        f"{at / total:.3%}{{transform:translateX({-number * width:g}px)}}"
        for number, (at, _) in enumerate(frames)
    )
    classes = "".join(f".s{number}{{{style}}}" for style, number in styles.items())
    symbols = "".join(f'<g id="r{number}">{drawn}</g>' for drawn, number in rows.items())
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 {width + 24:g} {height + 24:g}">'
        f"<style>text{{font:{FONT}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f"white-space:pre;fill:#e7ece8}}{classes}@keyframes play{{{steps}}}"
        f".strip{{animation:play {total:.2f}s steps(1,end) infinite}}</style>"
        f'<rect x="-12" y="-12" width="{width + 24:g}" height="{height + 24:g}" rx="10" '
        f'fill="#111513"/><defs>{symbols}</defs>'
        f'<svg width="{width:g}" height="{height:g}"><g class="strip">{"".join(strip)}</g></svg>'
        "</svg>\n"
    )


def _decode(pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, str]]:
    """The pieces as text; a character that was cut in two goes to the later one."""
    rest = b""
    for at, piece in pieces:
        data = rest + piece
        text = data.decode(errors="ignore")
        rest = data[len(text.encode()) :]
        if text:
            yield at, text


def _draw_row(line: Sequence[Char], styles: dict[str, int]) -> str:
    """The elements of a row at the origin; `styles` numbers the styles that they use."""
    drawn, column = [], 0
    for look, group in groupby(line, key=_look):
        characters = list(group)  # the second cell of a wide one is empty
        text, cells = "".join(char.data for char in characters), len(characters)
        foreground, background, weight = look
        x, size = column * CELL, cells * CELL
        if background:
            number = styles.setdefault(f"fill:{background}", len(styles))
            drawn.append(f'<rect class="s{number}" x="{x:g}" width="{size:g}" height="{LINE:g}"/>')
        if text.strip():
            number = styles.setdefault(f"fill:{foreground};{weight}", len(styles))
            drawn.append(
                f'<text class="s{number}" x="{x:g}" y="{LINE * 0.75:g}" textLength="{size:g}">'
                f"{escape(text)}</text>"
            )
        column += cells
    return "".join(drawn)


def _look(char: Char) -> tuple[str, str, str]:
    """Foreground, background ('' for the terminal's own) and weight of a character."""
    foreground, background = _color(char.fg, "#e7ece8"), _color(char.bg, "")
    if char.reverse:
        foreground, background = background or "#111513", foreground
    weight = "font-weight:bold;" * char.bold + "font-style:italic;" * char.italics
    return foreground, "" if background == "#111513" else background, weight


def _color(name: str, default: str) -> str:
    if name == "default":
        return default
    return NAMES.get(name, f"#{name}")
