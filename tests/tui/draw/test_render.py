import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from model.domain.messages import ToolUseBlock
from model.richtext.blocks import CodeBlock
from model.richtext.diff_rows import DiffRow, count_changed_lines, diff_rows, find_changed_words
from model.richtext.markdown import parse_markdown
from tests.nightly import examples
from themes.loader import list_syntax_themes, load_syntax_theme
from tui.draw.markdown import (
    get_palette,
    render_block,
    render_blocks,
    render_code_lines,
    render_diff,
    render_diff_rows,
)
from tui.draw.wrap import line_width, wrap, wrap_code
from tui.transcript.tools import ToolUseState

DARK = get_palette("dark", "vitesse-black")
PLAIN = Style()
WIDTHS = pytest.mark.parametrize("width", [20, 60, 120])

SAMPLE = """\
# A heading with some words

Prose with **bold**, *leaning*, `code()` and [a link](https://x.y/z), and a word that is
very/long/because/it/is/a/path/of/a/file/that/humans/can/read/in/twenty/cells.py.
日本語のテキストは単語の間に空白がありません。🙂 e\u0301

1. first
   - nested words that go on and on until they wrap
     > quoted

     ```python
     def f(x: int = 1) -> str: return "a string that is too long for a narrow line"
     ```
1000000. last

| name | what it is | number |
|:--|:-:|--:|
| `a` | words that have to wrap in a narrow table | 1 |
| 漢字 | b | 22222 |

---

```
\ttab\there
```
"""

PIECES = (
    "a¦word ¦longer-word-than-most ¦漢字¦。¦🙂¦👩‍👩‍👧¦e\u0301¦ ¦\n¦\n\n¦\t¦    ¦`c`¦**b** "
    "¦- ¦> ¦1. ¦# ¦```\n¦|¦|-|-|\n"
)


def shown(lines):
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


def letters(text):
    return [character for character in text if not character.isspace()]


class TestBlocks:
    @WIDTHS
    def test_no_line_is_wider_than_the_width(self, width):
        lines = render_blocks(parse_markdown(SAMPLE), width, DARK)
        assert max(map(line_width, lines)) <= width
        assert not any("\t" in text or "\n" in text for text in shown(lines))

    def test_words_wrap_and_list_items_are_indented(self):
        blocks = parse_markdown("- one two three four five\n  - six seven eight nine\n")
        assert shown(render_blocks(blocks, 20, DARK)) == [
            "• one two three four",
            "  five",
            "  ◦ six seven eight",
            "    nine",
        ]

    def test_list_numbers_are_aligned(self):
        blocks = parse_markdown("".join(f"{number}. x\n" for number in range(8, 12)))
        assert shown(render_blocks(blocks, 20, DARK)) == [" 8. x", " 9. x", "10. x", "11. x"]

    def test_a_list_keeps_the_spacing_of_its_source(self):
        assert shown(render_blocks(parse_markdown("- a\n\n- b\n"), 20, DARK)) == ["• a", "", "• b"]

    def test_a_long_list_has_no_gaps(self):
        lines = shown(render_blocks(parse_markdown("- x\n" * 120), 20, DARK))
        assert lines == ["• x"] * 120

    def test_a_quote_has_a_bar_beside_every_line(self):
        lines = shown(render_blocks(parse_markdown("> one two three\n>\n> - four\n"), 12, DARK))
        assert lines == ["▎ one two", "▎ three", "▎", "▎ • four"]

    def test_a_table_is_aligned(self):
        blocks = parse_markdown("|a|bb|c|\n|-|-:|:-:|\n|dd|e|fff|\n")
        assert shown(render_blocks(blocks, 40, DARK)) == [
            "a  │ bb │  c",
            "───┼────┼────",
            "dd │  e │ fff",
        ]

    def test_a_wide_table_wraps_its_widest_cells(self):
        blocks = parse_markdown("|a|b|\n|-|-|\n|c|one two three four|\n|d|e|\n")
        assert shown(render_blocks(blocks, 16, DARK)) == [
            "a │ b",
            "──┼─────────────",
            "c │ one two",
            "  │ three four",
            "──┼─────────────",
            "d │ e",
        ]

    def test_a_table_of_too_many_columns_becomes_a_list_of_its_cells(self):
        blocks = parse_markdown("|a|b|c|d|\n|-|-|-|-|\n|one|two|three|four five|\n")
        lines = shown(render_blocks(blocks, 12, DARK))
        assert lines == ["a", "  one", "b", "  two", "c", "  three", "d", "  four five"]

    def test_code_has_the_background_of_its_theme_over_the_whole_width(self):
        lines = render_blocks(parse_markdown("```python\nif x:\n    y = '''a\n```\n"), 40, DARK)
        assert all(line_width(line) == 40 for line in lines)
        assert {segment.style.bgcolor.name for line in lines for segment in line} == {"#000000"}
        first = shown(lines)[0]
        assert (first.split()[-1], first.strip("▏ ").split(":")[0]) == ("python", "if x")

    def test_a_long_line_of_code_wraps_with_a_mark(self):
        lines = shown(
            render_blocks(parse_markdown("```\nabcdefghijklmnopqrstuvwxyz\n```\n"), 20, DARK)
        )
        assert lines == ["▏abcdefghijklmnopqr", "▏↪ stuvwxyz"]

    def test_new_lines_of_a_code_block_can_be_drawn_alone(self):
        (block,) = parse_markdown("```python\na = 1\n\nb = 2\n```\n")
        whole = render_block(block, 30, DARK)
        grown = render_block(CodeBlock("python", block.lines[:1], closed=False), 30, DARK)
        assert grown + render_code_lines(block.lines[1:], 30, DARK) == whole

    def test_only_web_links_reach_the_terminal(self):
        lines = render_blocks(parse_markdown("[a](https://x.y) <mailto:a@b.c> [d](e.py)"), 60, DARK)
        assert [s.style.link for line in lines for s in line if s.style.link] == ["https://x.y"]

    def test_textual_markup_is_text(self):
        source = "[red]a[/red] [@click=app.quit]x[/] [/nope]"
        assert shown(render_blocks(parse_markdown(source), 60, DARK)) == [source]

    def test_ascii_glyphs_are_ascii(self):
        plain = get_palette("dark", "nord", ascii_glyphs=True)
        source = "- a\n  - b\n\n> c\n\n|d|e|\n|-|-|\n|f|g|\n\n---\n\n```\n" + "x" * 40 + "\n```\n"
        assert "".join(shown(render_blocks(parse_markdown(source), 30, plain))).isascii()

    @settings(deadline=None, max_examples=examples(50, 300))
    @given(
        st.lists(
            st.sampled_from(PIECES.split("¦")),
            max_size=40,
        ).map("".join),
        st.integers(8, 60),
    )
    def test_lines_of_any_text_fit_any_width_and_keep_every_letter(self, source, width):
        blocks = parse_markdown(source)
        narrow = render_blocks(blocks, width, DARK)
        assert all(line_width(line) <= width for line in narrow)
        wide = letters("".join(shown(render_blocks(blocks, 4000, DARK))))
        marks = set("─┼│▎▏↪•◦▪")
        kept = [letter for letter in wide if letter not in marks]
        drawn = [letter for letter in letters("".join(shown(narrow))) if letter not in marks]
        assert sorted(kept) == sorted(drawn) or "|" in source
        assert set(kept) == set(drawn)


class TestWrapping:
    def test_east_asian_text_breaks_between_characters_but_not_before_a_full_stop(self):
        assert shown(wrap([("漢字漢字。漢字", PLAIN)], 8)) == ["漢字漢", "字。漢字"]

    def test_a_wide_character_is_not_cut_in_two(self):
        lines = wrap([("a漢漢漢漢漢", PLAIN)], 8)
        assert [line_width(line) for line in lines] == [7, 4]

    def test_styles_stay_with_their_letters(self):
        bold = Style(bold=True)
        lines = wrap([("one tw", PLAIN), ("o three", bold)], 8)
        assert [[(part.text, part.style) for part in line] for line in lines] == [
            [("one tw", PLAIN), ("o", bold)],
            [("three", bold)],
        ]

    @settings(deadline=None)
    @given(st.text(st.sampled_from("ab \t漢🙂\u200d\u0301"), max_size=60), st.integers(4, 20))
    @example("\u200d\u200d\ta", 4)
    def test_wrapped_code_keeps_all_characters_and_spaces(self, text, width):
        lines = wrap_code([(text, PLAIN)], width, width - 2)
        drawn = "".join(part.text for line in lines for part in line)
        assert drawn.replace(" ", "") == text.replace("\t", "").replace(" ", "")
        assert drawn.count(" ") >= text.count(" ")
        assert all(line_width(line) <= width for line in lines)

    def test_a_tab_reaches_to_the_next_stop_across_styles(self):
        (line,) = wrap_code([("a\t", PLAIN), ("漢\tb", PLAIN)], 40, 40)
        assert "".join(part.text for part in line) == "a   漢  b"


OLD = "import os\n\n\ndef f(a):\n    x = 1\n    return a\n\n\nend\n"
NEW = "import os\n\n\ndef f(a):\n    x = 1\n    return a + x\n\n\nend\n"


class TestDiffs:
    def test_a_change_is_shown_in_context_with_line_numbers_and_signs(self):
        assert shown(render_diff(OLD, NEW, "f.py", 30, DARK, context=1)) == [
            "… 4 lines",
            "5       x = 1",
            "6 -     return a",
            "6 +     return a + x",
            "7",
        ]

    def test_changed_words_are_marked(self):
        rows = diff_rows(OLD, NEW, context=0)
        assert find_changed_words(rows) == [(), ((12, 16),)]
        lines = render_diff(OLD, NEW, "f.py", 40, DARK, context=0)
        marked = [
            s.text
            for line in lines
            for s in line
            if s.style.bgcolor == DARK.inserted.changed.bgcolor
        ]
        assert "".join(marked) == " + x"

    def test_lines_with_little_in_common_are_not_compared_by_words(self):
        rows = [DiffRow("-", "one two three"), DiffRow("+", "completely = different()")]
        assert find_changed_words(rows) == [(), ()]

    def test_counts_are_of_lines(self):
        assert count_changed_lines("a\nb\nc\n", "a\nx\ny\nc\n") == (2, 1)
        assert count_changed_lines("", "a\nb") == (2, 0)
        assert count_changed_lines("a", "a") == (0, 0)

    def test_comparisons_keep_no_references_to_long_texts(self):
        old, new = (f"{word} {'x' * 3000}\n" * 9 for word in ("old", "new"))
        lines = old.splitlines()

        def compare():
            edit = {"file_path": "f", "old_content": old, "new_content": new}
            block = ToolUseBlock(id="t", name="edit", input=edit)
            assert ToolUseState(block, None, is_running=False).changes == (9, 9)
            assert find_changed_words([DiffRow("-", lines[0]), DiffRow("+", new)]) == [(), ()]

        before = sys.getrefcount(old), sys.getrefcount(lines[0])
        compare()
        assert (sys.getrefcount(old), sys.getrefcount(lines[0])) == before

    def test_equal_texts_show_nothing(self):
        assert render_diff(OLD, OLD, "f.py", 40, DARK) == []

    def test_a_missing_line_break_at_the_end_is_shown(self):
        lines = shown(render_diff("a\n", "a", "x", 60, DARK))
        assert lines == ["1 - a", "1 + a (no line break at the end)"]

    def test_a_long_diff_says_how_much_is_not_shown(self):
        new = "".join(f"{number}\n" for number in range(100))
        lines = shown(render_diff("", new, "x.txt", 40, DARK, max_lines=10))
        assert len(lines) == 11
        assert lines[-1] == "… 90 more lines"

    def test_a_long_changed_line_wraps(self):
        lines = shown(render_diff("", "x" * 30 + "\n", "x", 20, DARK))
        assert lines == ["1 + " + "x" * 16, "  ↪ " + "x" * 14]

    @WIDTHS
    def test_rows_of_git_fill_any_width(self, width):
        rows = [
            DiffRow(" ", "def f():", 9, 9, hidden=8),
            DiffRow("-", "\treturn '漢字' + " + "x" * 90, old=10),
            DiffRow("+", "\treturn 1", new=10),
        ]
        lines = render_diff_rows(rows, "a/b.py", width, DARK)
        assert all(line_width(line) == width for line in lines)

    @settings(deadline=None)
    @given(
        st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30)
    )
    def test_the_rows_contain_the_old_and_the_new_text(self, before, after):
        old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
        rows = diff_rows(old, new, context=100)
        if old != new:
            assert [row.text for row in rows if row.sign != "+"] == before
            assert [row.text for row in rows if row.sign != "-"] == after
            assert [row.old for row in rows if row.old] == list(range(1, len(before) + 1))
            assert [row.new for row in rows if row.new] == list(range(1, len(after) + 1))
        added, removed = count_changed_lines(old, new)
        assert sum(row.sign == "+" for row in rows) == added
        assert sum(row.sign == "-" for row in rows) == removed

    def test_a_big_file_with_one_change_is_compared_at_once(self):
        old = "".join(f"line {number}\n" for number in range(50_000))
        new = old.replace("line 25000\n", "line changed\n")
        assert [row.sign for row in diff_rows(old, new, context=1)] == [" ", "-", "+", " "]


class TestPalettes:
    @pytest.mark.parametrize("name", list_syntax_themes())
    def test_every_theme_renders(self, name):
        theme = load_syntax_theme(name)
        colors = get_palette(theme.kind, name)
        lines = render_blocks(parse_markdown(SAMPLE), 60, colors) + render_diff(
            OLD, NEW, "f.py", 60, colors
        )
        assert all(line_width(line) <= 60 for line in lines)
        assert colors.code.bgcolor.name == theme.ui["background"]

    def test_the_same_choice_gives_the_same_palette(self):
        assert get_palette("dark", "nord") is get_palette("dark", "nord")

    def test_the_glyphs_of_both_sets_are_one_cell_wide(self):
        for marks in (DARK.glyphs, get_palette("dark", "nord", ascii_glyphs=True).glyphs):
            signs = [*marks.bullets, marks.quote, marks.code, marks.horizontal, marks.vertical]
            signs += [marks.cross, marks.continued, marks.more]
            assert {cell_len(sign) for sign in signs} == {1}


def test_drawing_loads_no_highlighter_server_or_git():
    code = (
        "import sys, tui.draw.markdown;"
        "print(*[m for m in ('pygments', 'markdown_it', 'aiohttp', 'git') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=30)
    assert done.stdout.split() == []
