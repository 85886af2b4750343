"""Draws the page's icon, for tabs, home screens and stores of the system: `make media`.

The shapes stand here once; the SVG names them and the PNGs are filled from them.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

WEB: Final = Path(__file__).parents[2] / "server" / "web"
SIDE: Final = 32
"""Of the drawing, in its own units."""
ROUND: Final = 7
"""Radius of the ground's corners."""
GROUND: Final = "#1b7446"

_ACROSS: Final = 4
"""Samples across a pixel: 16 in all, for smooth edges."""

Point = tuple[float, float]
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Shape:
    """A filled outline."""

    points: tuple[Point, ...]
    colour: str


def _tree(middle: float, top: float, foot: float, reach: tuple[float, float, float]) -> list[Point]:
    """The outline of a fir: two rows of branches; `reach` is how far each and the waist go out."""
    upper, waist, lower = reach
    cut = top + (foot - top) * 9 / 16
    sides = ((upper, cut), (waist, cut), (lower, foot))
    right = [(middle + out, y) for out, y in sides]
    left = [(middle - out, y) for out, y in reversed(sides)]
    return [(middle, top), *right, *left]


SHAPES: Final = (
    Shape(tuple(_tree(10, 6, 22, (5, 2, 6))), "#ffffff"),
    Shape(tuple(_tree(22, 10, 24, (4.6, 1.8, 5))), "#b9e6cb"),
    Shape(((9, 22), (11, 22), (11, 26), (9, 26)), "#ffffff"),
    Shape(((21, 24), (23, 24), (23, 26), (21, 26)), "#b9e6cb"),
)


def svg() -> str:
    """The icon as an SVG."""
    paths = [
        f'  <path d="M{" ".join(f"{x:g},{y:g}" for x, y in shape.points)}z" fill="{shape.colour}"/>'
        for shape in SHAPES
    ]
    box = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">'
    ground = f'  <rect width="{SIDE}" height="{SIDE}" rx="{ROUND}" fill="{GROUND}"/>'
    return "\n".join([box, ground, *paths, "</svg>", ""])


def png(side: int, *, full: bool = False) -> bytes:
    """The icon as a PNG of this many pixels a side.

    A `full` one has its ground up to the edge and its trees in the middle four fifths, as systems
    want it that cut icons to a form of their own.
    """
    rows = (_row(y, side, full) for y in range(side))
    drawn = b"".join(b"\0" + row for row in rows)
    head = struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(drawn, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def _row(y: int, side: int, full: bool) -> bytes:
    """One row of pixels: red, green, blue and opacity of each."""
    sums = [[0, 0, 0, 0] for _ in range(side)]
    for step in range(_ACROSS):
        down = (y + (step + 0.5) / _ACROSS) * SIDE / side
        for x, colour in enumerate(_line(down, side * _ACROSS, full)):
            if colour is not None:
                pixel = sums[x // _ACROSS]
                for i in range(3):
                    pixel[i] += colour[i]
                pixel[3] += 1
    row = bytearray()
    for *light, count in sums:
        row += bytes(round(part / count) if count else 0 for part in light)
        row.append(round(255 * count / _ACROSS**2))
    return bytes(row)


def _line(y: float, steps: int, full: bool) -> list[Colour | None]:
    """What a line through the drawing meets, at points of equal distance."""
    left, right = (0.0, float(SIDE)) if full else _ground(y)
    places = [(i + 0.5) * SIDE / steps for i in range(steps)]
    ground = _rgb(GROUND)
    line: list[Colour | None] = [ground if left <= x <= right else None for x in places]
    if full:  # The trees stand in the middle, smaller.
        y, places = _zoomed(y), [_zoomed(x) for x in places]
    for shape in SHAPES:
        for start, end in _spans(shape, y):
            for i, x in enumerate(places):
                if start <= x < end:
                    line[i] = _rgb(shape.colour)
    return line


def _zoomed(place: float) -> float:
    return (place - SIDE / 2) / 0.8 + SIDE / 2


def _ground(y: float) -> Point:
    """From where to where the rounded square reaches at this height."""
    inside = max(ROUND - y, y - (SIDE - ROUND), 0.0)
    cut = ROUND - (ROUND**2 - inside**2) ** 0.5
    return cut, SIDE - cut


def _spans(shape: Shape, y: float) -> list[Point]:
    """Where a line at this height is inside the outline."""
    crossings = []
    for (x1, y1), (x2, y2) in zip(shape.points, shape.points[1:] + shape.points[:1], strict=True):
        if (y1 <= y) != (y2 <= y):
            crossings.append(x1 + (y - y1) / (y2 - y1) * (x2 - x1))
    crossings.sort()
    return list(zip(crossings[::2], crossings[1::2], strict=True))


def _rgb(colour: str) -> Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def write(folder: Path) -> None:
    """All icons, in this folder of the page."""
    (folder / "icons").mkdir(parents=True, exist_ok=True)
    (folder / "icon.svg").write_text(svg())
    (folder / "icons" / "192.png").write_bytes(png(192))
    (folder / "icons" / "512.png").write_bytes(png(512))
    (folder / "icons" / "full-512.png").write_bytes(png(512, full=True))


if __name__ == "__main__":
    write(WEB)
