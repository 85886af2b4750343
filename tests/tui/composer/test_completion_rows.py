"""Rows of the completion list, as they are drawn."""

from tui.composer.completion_rows import Row, render_rows

ROWS = [Row("/a", "[x]", "Does it", "Agent"), Row("/bcd", about="Does more", agent="Agent")]


def test_descriptions_and_agents_are_in_columns() -> None:
    assert render_rows(ROWS, 30, 0).plain.split("\n") == [
        " /a [x]  Does it        Agent ",
        " /bcd    Does more      Agent ",
    ]


def test_the_whole_row_of_the_chosen_one_is_highlighted() -> None:
    for width in (30, 8):  # The second has no room for descriptions.
        drawn = render_rows(ROWS, width, 1)
        assert [row.cell_length for row in drawn.split("\n")] == [width, width]
        (span,) = [span for span in drawn.spans if "$selection" in str(span.style)]
        assert (span.start, span.end) == (width + 1, 2 * width + 1)
