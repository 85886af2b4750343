"""A unified diff as rows, in one column and in two, and where its lines are found again."""

from rich.segment import Segment

from model.richtext.diff_comments import changed_part, comment_on, kept, message_of, read
from model.richtext.diff_rows import DiffRow, changed_between, diff_rows, diff_words_cached
from model.richtext.diff_text import DiffText, Heading, Note, diff_text
from tests.tui.diff_tree import PARSER
from tui.diff.lines import Mark, Painter
from tui.draw.colors import palette


def in_two(text: DiffText) -> list[tuple[str, str]]:
    """The pairs as words."""

    def word(at: int) -> str:
        row = text.rows[at] if at >= 0 else None
        return f"{row.sign}{row.text}" if isinstance(row, DiffRow) else ""

    return [(word(one), word(other)) for one, other in text.pairs]


def test_lines_have_the_numbers_of_their_sides() -> None:
    rows = [row for row in diff_text(PARSER).rows if isinstance(row, DiffRow)]
    assert [(row.sign, row.old, row.new) for row in rows] == [
        (" ", 1, 1), ("-", 2, None), ("+", None, 2), (" ", 3, 3),
        (" ", 20, 20), ("+", None, 21), (" ", 21, 22),
    ]  # fmt: skip


def test_what_was_removed_stands_beside_what_came_for_it() -> None:
    text = diff_text("@@ -1,4 +1,3 @@\n-a\n-b\n-c\n+A\n+B\n d\n")
    assert in_two(text)[1:] == [("-a", "+A"), ("-b", "+B"), ("-c", ""), (" d", " d")]
    assert [text.places[at] for at in range(7)] == [0, 1, 2, 3, 1, 2, 4]


def test_lines_that_look_like_heads_are_lines() -> None:
    text = diff_text("@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n @@ -1 +1 @@\n")
    assert [row.text for row in text.rows if isinstance(row, DiffRow)] == [
        "-- a/x",
        "++ b/x",
        "@@ -1 +1 @@",
    ]


def test_a_missing_line_break_belongs_to_its_line() -> None:
    end = "\\ No newline at end of file\n"
    text = diff_text(f"@@ -1 +1 @@\n-a\n{end}+a\n")
    assert [row.no_line_break for row in text.rows if isinstance(row, DiffRow)] == [True, False]


def test_what_git_says_besides_is_said() -> None:
    cut = "\\ The rest is not shown: the diff is larger than 32 MB.\n"
    text = diff_text(f"diff --git a/x b/x\nnew file mode 120000\n@@ -0,0 +1 @@\n+a\n{cut}")
    assert [row.text for row in text.rows if isinstance(row, Note)] == [
        "A symbolic link; its content is the path that it points to.",
        "The rest is not shown: the diff is larger than 32 MB.",
    ]
    assert diff_text("").rows == []


def test_a_row_is_found_again_by_its_words_and_else_by_its_number() -> None:
    before, after = diff_text(PARSER), diff_text(PARSER.replace("+print(2)", "+x\n+y\n+print(2)"))
    at = next(n for n, row in enumerate(before.rows) if row.text == "print(2)")
    assert after.rows[after.place_near(before.rows[at], at)].text == "print(2)"
    gone = DiffRow("+", "gone", None, 21)
    near = after.rows[after.place_near(gone, 7)]
    assert isinstance(near, DiffRow)
    assert near.new == 21
    assert after.place_near(Heading(1, ""), 0) == after.heads[1]
    assert DiffText().place_near(gone, 7) == 0


def test_a_comment_on_a_hunk_stands_where_its_new_lines_are() -> None:
    rows = changed_part(diff_text(PARSER).hunk_rows(0))
    said = comment_on("parser.py", "unstaged", rows, "Why?")
    assert (said.place, said.quoted) == ("parser.py:2", ("-print(1)", "+print(2)"))
    removed = comment_on("parser.py", "unstaged", [DiffRow("-", "x", 7)], "Why?")
    assert removed.place == "parser.py:7 (removed)"
    assert read(kept([said, removed])) == [said, removed]
    assert read("no draft of comments") == []


def test_the_lines_of_a_comment_are_found_by_their_text_next_to_where_they_were() -> None:
    rows = diff_text(PARSER).rows
    said = comment_on("parser.py", "unstaged", rows[2:4], "Why?")  # type: ignore[arg-type]
    assert said.found_in(rows) == range(2, 4)
    assert said.found_in(rows[1:]) == range(1, 3)
    assert said.found_in(rows[:3]) is None
    twice = [DiffRow("+", "pass", None, number) for number in (5, 9, 5_000, 9_000)]
    one = comment_on("a", "unstaged", twice[1:2], "Why?")
    assert one.found_in(twice) == range(1, 2)
    assert one.found_in(twice[2:]) is None  # far away, and one of many
    assert one.found_in(twice[3:]) == range(1)
    assert one.moved_to(twice, range(3, 4)).place == "a:9000"


def test_quoted_code_cannot_end_its_own_quotation() -> None:
    said = comment_on("a.md", "unstaged", [DiffRow("+", "```", None, 1)], "Why?")
    assert "~~~~~~diff\n+```\n~~~~~~\nWhy?" in message_of([said])


def test_the_words_that_changed_are_found_and_long_lines_are_not_searched() -> None:
    old, new = changed_between("    while row:", "    while row or tail:")
    assert (old, new) == ((), ((13, 21),))
    assert changed_between("return one", "import sys  # all") == ((), ())
    long = "x" * 3_000
    assert changed_between(f"{long} a", f"{long} b") == ((), ())
    # Many words are no obstacle where both lines begin and end alike.
    many = ", ".join(map(str, range(400)))
    assert changed_between(f"[{many}, 1]", f"[{many}, 2]")[1] == ((len(many) + 3, len(many) + 4),)
    others = ", ".join(map(str, range(1000, 1200)))
    assert changed_between(others, others.replace("1", "2")) == ((), ())


def test_a_pair_of_lines_is_compared_wherever_it_stands_and_only_when_it_is_drawn() -> None:
    diff_words_cached.cache_clear()
    count = 140  # the removed lines and those that came for them are far from one another
    old = "".join(f"-    call({n}, old)\n" for n in range(count))
    new = "".join(f"+    call({n}, new)\n" for n in range(count))
    text = diff_text(f"--- a/x\n+++ b/x\n@@ -1,{count} +1,{count} @@\n{old}{new}")
    look = palette("dark", "dracula")
    painter = Painter(text, "x.py", look)
    strip = painter.unified(count, 80, 0, Mark(Segment(" ")))
    ground = look.deleted.word.bgcolor
    assert [s.text for s in strip if s.style and s.style.bgcolor == ground] == ["old"]
    strip = painter.unified(count * 2, 80, 0, Mark(Segment(" ")))
    ground = look.inserted.word.bgcolor
    assert [s.text for s in strip if s.style and s.style.bgcolor == ground] == ["new"]
    assert diff_words_cached.cache_info().misses == 1


def test_hidden_characters_of_an_edit_are_shown_and_tell_lines_apart() -> None:
    rows = diff_rows("same\na\u200b\r\n", "same\na\u200b\n\x1b[2J\u202e\n")
    shown = [(row.sign, row.text) for row in rows]
    assert shown == [
        (" ", "same"),
        ("-", "a<U+200B>␍"),
        ("+", "a<U+200B>"),
        ("+", "␛[2J<U+202E>"),
    ]
