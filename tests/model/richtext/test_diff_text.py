"""Rows of a unified diff, unified and side by side, and the positions of comments."""

from rich.segment import Segment

from model.richtext.diff_comments import (
    create_comment,
    dump_comments,
    format_message,
    load_comments,
    trim_context,
)
from model.richtext.diff_rows import DiffRow, diff_rows, diff_short_lines, diff_words
from model.richtext.diff_text import DiffText, FileNote, HunkHeading, parse_diff
from tests.tui.diff_tree import PARSER
from tui.draw.colors import get_palette
from tui.draw.diff_lines import Mark, Painter


def pair_texts(text: DiffText) -> list[tuple[str, str]]:
    """The texts of the pairs of rows."""

    def word(at: int) -> str:
        row = text.rows[at] if at >= 0 else None
        return f"{row.sign}{row.text}" if isinstance(row, DiffRow) else ""

    return [(word(one), word(other)) for one, other in text.pairs]


def test_rows_have_the_line_numbers_of_their_sides() -> None:
    rows = [row for row in parse_diff(PARSER).rows if isinstance(row, DiffRow)]
    assert [(row.sign, row.old, row.new) for row in rows] == [
        (" ", 1, 1), ("-", 2, None), ("+", None, 2), (" ", 3, 3),
        (" ", 20, 20), ("+", None, 21), (" ", 21, 22),
    ]  # fmt: skip


def test_removed_lines_are_paired_with_added_lines() -> None:
    text = parse_diff("@@ -1,4 +1,3 @@\n-a\n-b\n-c\n+A\n+B\n d\n")
    assert pair_texts(text)[1:] == [("-a", "+A"), ("-b", "+B"), ("-c", ""), (" d", " d")]
    assert [text.pair_indices[at] for at in range(7)] == [0, 1, 2, 3, 1, 2, 4]


def test_lines_that_look_like_headers_are_lines() -> None:
    text = parse_diff("@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n @@ -1 +1 @@\n")
    assert [row.text for row in text.rows if isinstance(row, DiffRow)] == [
        "-- a/x",
        "++ b/x",
        "@@ -1 +1 @@",
    ]


def test_a_missing_line_break_belongs_to_its_line() -> None:
    end = "\\ No newline at end of file\n"
    text = parse_diff(f"@@ -1 +1 @@\n-a\n{end}+a\n")
    assert [row.no_line_break for row in text.rows if isinstance(row, DiffRow)] == [True, False]


def test_other_notes_of_git_are_shown() -> None:
    cut = "\\ The rest is not shown: the diff is larger than 32 MB.\n"
    text = parse_diff(f"diff --git a/x b/x\nnew file mode 120000\n@@ -0,0 +1 @@\n+a\n{cut}")
    assert [row.text for row in text.rows if isinstance(row, FileNote)] == [
        "A symbolic link; its content is the path that it points to.",
        "The rest is not shown: the diff is larger than 32 MB.",
    ]
    assert parse_diff("").rows == []


def test_a_row_is_found_by_its_text_or_else_by_its_number() -> None:
    before, after = parse_diff(PARSER), parse_diff(PARSER.replace("+print(2)", "+x\n+y\n+print(2)"))
    at = next(n for n, row in enumerate(before.rows) if row.text == "print(2)")
    assert after.rows[after.find_row(before.rows[at], at)].text == "print(2)"
    gone = DiffRow("+", "gone", None, 21)
    near = after.rows[after.find_row(gone, 7)]
    assert isinstance(near, DiffRow)
    assert near.new == 21
    assert after.find_row(HunkHeading(1, ""), 0) == after.heading_indices[1]
    assert DiffText().find_row(gone, 7) == 0


def test_a_comment_on_a_hunk_is_located_at_its_new_lines() -> None:
    rows = trim_context(parse_diff(PARSER).hunk_rows(0))
    said = create_comment("parser.py", "unstaged", rows, "Why?")
    assert (said.location, said.quoted) == ("parser.py:2", ("-print(1)", "+print(2)"))
    removed = create_comment("parser.py", "unstaged", [DiffRow("-", "x", 7)], "Why?")
    assert removed.location == "parser.py:7 (removed)"
    assert load_comments(dump_comments([said, removed])) == [said, removed]
    assert load_comments("no draft of comments") == []


def test_the_lines_of_a_comment_are_found_by_their_text_near_their_old_position() -> None:
    rows = parse_diff(PARSER).rows
    said = create_comment("parser.py", "unstaged", rows[2:4], "Why?")  # type: ignore[arg-type]
    assert said.find_in(rows) == range(2, 4)
    assert said.find_in(rows[1:]) == range(1, 3)
    assert said.find_in(rows[:3]) is None
    twice = [DiffRow("+", "pass", None, number) for number in (5, 9, 5_000, 9_000)]
    one = create_comment("a", "unstaged", twice[1:2], "Why?")
    assert one.find_in(twice) == range(1, 2)
    assert one.find_in(twice[2:]) is None  # far away, and not the only one
    assert one.find_in(twice[3:]) == range(1)
    assert one.move_to(twice, range(3, 4)).location == "a:9000"


def test_quoted_code_cannot_close_its_own_fence() -> None:
    said = create_comment("a.md", "unstaged", [DiffRow("+", "```", None, 1)], "Why?")
    assert "````diff\n+```\n````\nWhy?" in format_message([said])


def test_the_words_that_changed_are_found_and_long_lines_are_not_searched() -> None:
    old, new = diff_words("    while row:", "    while row or tail:")
    assert (old, new) == ((), ((13, 21),))
    assert diff_words("return one", "import sys  # all") == ((), ())
    long = "x" * 3_000
    assert diff_words(f"{long} a", f"{long} b") == ((), ())
    # Many words are allowed if both lines begin and end alike.
    many = ", ".join(map(str, range(400)))
    assert diff_words(f"[{many}, 1]", f"[{many}, 2]")[1] == ((len(many) + 3, len(many) + 4),)
    others = ", ".join(map(str, range(1000, 1200)))
    assert diff_words(others, others.replace("1", "2")) == ((), ())


def test_distant_pairs_of_lines_are_compared_only_when_they_are_drawn() -> None:
    diff_short_lines.cache_clear()
    count = 140  # removed and added lines are far apart
    old = "".join(f"-    call({n}, old)\n" for n in range(count))
    new = "".join(f"+    call({n}, new)\n" for n in range(count))
    text = parse_diff(f"--- a/x\n+++ b/x\n@@ -1,{count} +1,{count} @@\n{old}{new}")
    look = get_palette("dark", "dracula")
    painter = Painter(text, "x.py", look)
    strip = painter.unified(count, 80, 0, Mark(Segment(" ")))
    ground = look.deleted.changed.bgcolor
    assert [s.text for s in strip if s.style and s.style.bgcolor == ground] == ["old"]
    strip = painter.unified(count * 2, 80, 0, Mark(Segment(" ")))
    ground = look.inserted.changed.bgcolor
    assert [s.text for s in strip if s.style and s.style.bgcolor == ground] == ["new"]
    assert diff_short_lines.cache_info().misses == 1


def test_hidden_characters_of_an_edit_are_shown_and_distinguish_lines() -> None:
    rows = diff_rows("same\na\u200b\r\n", "same\na\u200b\n\x1b[2J\u202e\n")
    shown = [(row.sign, row.text) for row in rows]
    assert shown == [
        (" ", "same"),
        ("-", "a<U+200B>␍"),
        ("+", "a<U+200B>"),
        ("+", "␛[2J<U+202E>"),
    ]
