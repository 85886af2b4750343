"""The written difference makes the terminal show the screen, whatever it showed before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.terminal.emulator import Emulator
from tui.terminal.cells import Cells
from tui.terminal.frame_difference import WriteOptions, diff_frames
from tui.terminal.sgr import PLAIN, change, pen_of

WIDTH, HEIGHT = 40, 12
PENS = [
    pen_of(codes)
    for codes in (
        "",
        "1;38;2;200;10;10;48;2;17;21;19",
        "38;2;200;10;10;48;2;17;21;19",
        "48;2;17;21;19",
        "2;3;31;44",
        "4;38;5;17",
        "7;97;100",
        "9;21;53",
    )
]
WORDS = ["a", "tree", " ", "    ", " " * 12, "─" * 7, "日本", "e\u0301x", "👩‍🌾", "❤️"]

pieces = st.tuples(
    st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.sampled_from(WORDS),
    st.sampled_from(PENS),
)  # fmt: skip
frames = st.lists(
    st.one_of(
        st.lists(pieces, max_size=12),
        st.tuples(st.integers(-5, 5).filter(bool), st.integers(0, 4), st.integers(6, HEIGHT)),
    ),
    min_size=1,
    max_size=6,
)


def expected(cells: Cells) -> list[list[tuple[str, str]]]:
    """The cells in the format of the emulator."""
    return [
        [
            (text, change(PLAIN, pen.blank if text == " " else pen))
            for text, pen in zip(row, pens, strict=True)
        ]
        for row, pens in zip(cells.text, cells.pens, strict=True)
    ]


def fill_with_text(cells: Cells) -> None:
    """Fill the rows with distinguishable text beside a column that never changes."""
    for y in range(cells.height):
        x = cells.put(0, y, "│", PENS[2])
        x = cells.put(x, y, f" row {y} {chr(65 + y) * 20}", PENS[1 + y % 2])
        cells.put(x, y, " " * (WIDTH - x), PENS[3])


@given(frames, st.booleans(), st.booleans(), st.sampled_from([None, 60]))
def test_the_terminal_shows_each_screen(
    changes: list[list[tuple[int, int, str, object]] | tuple[int, int, int]],
    erases: bool,
    whole_words: bool,
    limit: int | None,
) -> None:
    shown, wanted = Cells(WIDTH, HEIGHT), Cells(WIDTH, HEIGHT)
    terminal = Emulator(WIDTH, HEIGHT, erases=erases)
    options = WriteOptions(erases, whole_words)
    fill_with_text(wanted)
    for changed in [[], *changes]:
        if isinstance(changed, tuple):
            rows, top, bottom = changed
            wanted.scroll(top, bottom, max(top - bottom, min(rows, bottom - top)))
        else:
            for x, y, text, pen in changed:
                wanted.put(x, y, text, pen)
        for _ in range(4 * HEIGHT):
            terminal.feed(diff_frames(shown, wanted, options, cursor_row=3, limit=limit))
        assert terminal.cells == expected(wanted)
        assert diff_frames(shown, wanted, options) == ""


def test_moved_rows_are_scrolled_and_not_written_again() -> None:
    shown, wanted = Cells(WIDTH, HEIGHT), Cells(WIDTH, HEIGHT)
    fill_with_text(wanted)
    diff_frames(shown, wanted, WriteOptions())
    wanted.scroll(2, 10, 2)
    for y in (8, 9):
        wanted.put(0, y, "│ new".ljust(WIDTH), PENS[2])
    written = diff_frames(shown, wanted, WriteOptions())
    assert written.startswith("\x1b[3;10r\x1b[10;1H\n\n\x1b[r")
    assert "row" not in written


def test_equal_neighbors_share_a_pen_and_only_its_change_is_written() -> None:
    shown, wanted = Cells(WIDTH, 1, " "), Cells(WIDTH, 1, " ")
    x = wanted.put(0, 0, "plain ", PENS[2])
    x = wanted.put(x, 0, "and so on", PENS[2])
    wanted.put(x, 0, " bold", PENS[1])
    written = diff_frames(shown, wanted, WriteOptions())
    colors = "38;2;200;10;10;48;2;17;21;19"
    assert written == f"\x1b[1H\x1b[{colors}mplain and so on\x1b[1m bold\x1b[m"


def test_screen_readers_get_whole_words_except_in_the_row_of_the_cursor() -> None:
    shown, wanted = Cells(WIDTH, 2, " "), Cells(WIDTH, 2, " ")
    for cells, word in ((shown, "it was idle"), (wanted, "it was idly")):
        for y in (0, 1):
            cells.put(0, y, word, PLAIN)
    options = WriteOptions(whole_words=True)
    assert diff_frames(shown, wanted, options, cursor_row=1) == "\x1b[1;8Hidly\x1b[2;11Hy"


@pytest.mark.parametrize(
    ("environ", "erases"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "screen-256color"}, False),
        ({"TERM": "screen-256color", "TMUX": "/tmp/tmux"}, True),
        ({"TERM": "screen-256color-bce"}, True),
        ({"TERM": "vt100"}, False),
        ({}, False),
    ],
)
def test_blanks_are_erased_on_terminals_that_erase_with_the_background_color(
    environ: dict[str, str], erases: bool
) -> None:
    assert WriteOptions.from_environ(environ).erases is erases
