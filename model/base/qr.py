"""QR codes as rows of modules, and as lines of a terminal."""

from typing import Final

_BLOCKS: Final = {("0", "0"): " ", ("1", "0"): "▀", ("0", "1"): "▄", ("1", "1"): "█"}


def qr_rows(text: str) -> list[str]:
    """The rows of the QR code of a text, without a margin: a `1` is dark."""
    import segno

    # The lowest error correction, because a small code matters more on a screen.
    matrix = segno.make_qr(text, error="l", boost_error=False).matrix
    return ["".join(map(str, row)) for row in matrix]


def half_blocks(rows: list[str], quiet: int) -> list[str]:
    """Return the code with a margin of `quiet` modules, as lines of half blocks: two rows each."""
    empty, margin = "0" * (len(rows[0]) + 2 * quiet), "0" * quiet
    framed = [empty] * quiet + [f"{margin}{row}{margin}" for row in rows] + [empty] * quiet
    if len(framed) % 2:
        framed.append(empty)
    pairs = zip(framed[::2], framed[1::2], strict=True)
    return ["".join(_BLOCKS[cell] for cell in zip(*pair, strict=True)) for pair in pairs]
