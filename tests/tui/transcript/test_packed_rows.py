"""Packed rows: reading them back, appending and concatenating."""

from rich.segment import Segment
from textual.strip import Strip

from tests.tui.transcript_app import DARK
from tui.draw.line_parts import to_strip
from tui.transcript.packed_rows import CHUNK_ROWS, ConcatenatedRows, PackedRows

STYLES = (DARK.text, DARK.faint, DARK.code_inline)


def a_row(number: int) -> Strip:
    words = [f"row {number} ", "\U0001f9f5 wide ", "\ud800", ""][: number % 5]
    line = [Segment(word, STYLES[at % 3]) for at, word in enumerate(words)]
    return to_strip(line, 40 + number % 2, "dark")


ROWS = [a_row(number) for number in range(2 * CHUNK_ROWS + 7)]


def test_packed_rows_equal_the_original_ones() -> None:
    packed = PackedRows()
    for at in range(0, len(ROWS), 100):
        packed += ROWS[at : at + 100]
    assert len(packed) == len(ROWS)
    assert list(packed) == ROWS
    assert [row.cell_length for row in packed] == [row.cell_length for row in ROWS]
    assert packed[3] is not ROWS[3], "it was packed"
    assert (packed[-1], packed[5:600:90]) == (ROWS[-1], ROWS[5:600:90])


def test_concatenated_rows_do_not_grow_with_their_parts() -> None:
    packed = PackedRows()
    packed += ROWS[:5]
    joined = ConcatenatedRows((packed, [], ROWS[7:9]))
    packed += ROWS[5:]
    assert list(joined) == [*ROWS[:5], *ROWS[7:9]]
    assert list(ConcatenatedRows(())) == []
