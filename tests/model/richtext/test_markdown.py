import json
import subprocess
import sys
import time
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from model.richtext import markdown
from model.richtext.blocks import (
    MAX_LIST_ITEMS,
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Rule,
    Span,
    Table,
    Token,
    as_json,
)
from model.richtext.markdown import MAX_PARAGRAPH, MarkdownStream, parse_markdown
from tests.nightly import examples


def plain(block: Block) -> str:
    """The text of a block without formatting."""
    match block:
        case Paragraph(spans) | Heading(_, spans):
            return "".join(span.text for span in spans)
        case CodeBlock():
            return "\n".join("".join(token.text for token in line) for line in block.lines)
        case Quote(blocks):
            return "\n".join(map(plain, blocks))
        case ListBlock():
            return "\n".join(plain(child) for item in block.items for child in item)
        case Table(header, rows):
            cells = [cell for row in (header, *rows) for cell in row]
            return "\n".join(span.text for cell in cells for span in cell)
        case Rule():
            return ""


def text(*spans: str | Span) -> Paragraph:
    return Paragraph(tuple(Span(span) if isinstance(span, str) else span for span in spans))


class TestParsedMarkdown:
    def test_emphasis_code_and_strikethrough_are_attributes_of_spans(self):
        assert parse_markdown("a *b **c*** `d` ~~e~~") == (
            text(
                "a ",
                Span("b ", italic=True),
                Span("c", bold=True, italic=True),
                " ",
                Span("d", code=True),
                " ",
                Span("e", strike=True),
            ),
        )

    def test_a_line_break_is_kept_as_written(self):
        assert parse_markdown("one\ntwo  \nthree\\\nfour") == (text("one\ntwo\nthree\nfour"),)

    def test_headings_have_levels(self):
        assert parse_markdown("# a\n\n### b ###\n\nc\n---\n") == (
            Heading(1, (Span("a"),)),
            Heading(3, (Span("b"),)),
            Heading(2, (Span("c"),)),
        )

    def test_raw_html_is_text(self):
        assert parse_markdown("<b onclick=x>a</b>\n\n<script>alert(1)</script>") == (
            text("<b onclick=x>a</b>"),
            text("<script>alert(1)</script>"),
        )

    def test_only_web_and_mail_addresses_are_links(self):
        (found,) = parse_markdown("[a](https://x.y/z) <mailto:a@b.c> [c](HTTP://x)")
        assert [span.href for span in found.spans if span.href] == [
            "https://x.y/z",
            "mailto:a@b.c",
            "HTTP://x",
        ]

    @pytest.mark.parametrize(
        "target",
        [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "ftp://x",
            "//x.y",
            "&#106;avascript:alert(1)",
            "java\tscript:x",
        ],
    )
    def test_any_other_link_is_text_with_its_target(self, target):
        for source in (f"[a]({target})", f"<{target}>", f"![a]({target})"):
            (found,) = parse_markdown(source)
            assert all(span.href is None for span in found.spans)
        assert parse_markdown("[the parser](src/parser.py)") == (
            text("the parser (src/parser.py)"),
        )

    def test_an_image_is_a_link_with_its_description(self):
        assert parse_markdown("![a *b*](https://x.y/p.png)") == (
            text(Span("a b", href="https://x.y/p.png")),
        )

    def test_entities_cannot_add_hidden_characters(self):
        (found,) = parse_markdown("a&#x202e;b&#27;c&#x9b;d&ZeroWidthSpace;&amp;")
        shown = plain(found)
        assert shown.endswith("&")
        assert not set(shown) & {"\u202e", "\x1b", "\x9b", "\u200b"}

    def test_lists_nest_and_have_a_first_number_and_spacing(self):
        assert parse_markdown("3. a\n   - b\n4. c\n") == (
            ListBlock(
                ordered=True,
                start=3,
                items=(
                    (text("a"), ListBlock(ordered=False, start=1, items=((text("b"),),))),
                    (text("c"),),
                ),
            ),
        )
        (loose,) = parse_markdown("- a\n\n- b\n")
        assert not loose.tight

    def test_a_long_list_is_split_into_several_blocks(self):
        found = parse_markdown(
            "".join(f"{number}. x\n" for number in range(1, 2 * MAX_LIST_ITEMS + 2))
        )
        assert [(block.start, len(block.items), block.continues) for block in found] == [
            (1, MAX_LIST_ITEMS, False),
            (MAX_LIST_ITEMS + 1, MAX_LIST_ITEMS, True),
            (2 * MAX_LIST_ITEMS + 1, 1, True),
        ]

    def test_a_table_has_aligned_columns_and_complete_rows(self):
        assert parse_markdown("|a|b|c|\n|-|:-:|-:|\n|1|`2`|\n") == (
            Table(
                header=((Span("a"),), (Span("b"),), (Span("c"),)),
                rows=(((Span("1"),), (Span("2", code=True),), ()),),
                aligns=("left", "center", "right"),
            ),
        )

    def test_a_quote_holds_blocks(self):
        assert parse_markdown("> a\n>\n> ---\n") == (Quote((text("a"), Rule())),)

    @pytest.mark.parametrize(
        ("source", "closed", "code"),
        [
            ("```\na\n```", True, "a"),
            ("```\na\n", False, "a"),
            ("```\na", False, "a"),
            ("~~~~\na\n~~~\n~~~~~", True, "a\n~~~"),
            ("```\n\n```", True, ""),
            ("> ```\n> a\n> ```", True, "a"),
            ("- ```\n  a\n", False, "a"),
            ("- ```\n  a\n  ```\n", True, "a"),
        ],
    )
    def test_a_fence_is_closed_by_its_mark_only(self, source, closed, code):
        (block,) = parse_markdown(source)
        while not isinstance(block, CodeBlock):
            block = block.blocks[0] if isinstance(block, Quote) else block.items[0][0]
        assert block.closed is closed
        assert plain(block) == code

    def test_code_names_its_language_and_has_token_classes(self):
        (block,) = parse_markdown("```{.python} title=x\ndef f(): pass\n```\n")
        assert block.language == "python"
        assert block.lines[0][:2] == (Token("def ", "storage"), Token("f", "function"))

    def test_a_definition_may_come_after_its_link(self):
        assert parse_markdown("[a][b]\n\n[b]: https://x.y") == (
            text(Span("a", href="https://x.y")),
        )

    def test_text_nested_too_deeply_is_shown_as_written(self):
        for source in (">" * 300 + " deep", "- " * 300 + "deep"):
            assert parse_markdown(source) == (text(source),)

    def test_blocks_convert_to_json(self):
        source = "# a\n\n1. b\n\n> c\n\n|d|\n|-|\n|e|\n\n```py\nf = 1\n```\n\n---\n\n*g*"
        trees = [as_json(block) for block in parse_markdown(source)]
        assert json.loads(json.dumps(trees)) == trees
        assert [tree["type"] for tree in trees] == (
            ["heading", "list", "quote", "table", "code", "rule", "paragraph"]
        )
        assert trees[-1] == {"type": "paragraph", "spans": [{"text": "g", "italic": True}]}
        assert trees[4]["lines"] == [[["f "], ["= ", "operator"], ["1", "number"]]]


NASTY = (
    "\n¦\n\n¦\r¦\r\n¦ ¦  ¦    ¦\t¦\0¦a¦b c¦é漢🙂¦\\¦\\\n"  # breaks, space, text
    "¦2¦2.¦2. x¦1)¦-¦- ¦- x¦-\n¦- a\n\n  b\n¦1. a\n   - b\n     c\n"  # lists
    "¦* * *¦***¦* ¦**¦*a¦_b_¦~~¦---¦===¦= ¦#¦# ¦###### x"  # emphasis, rules, headings
    "¦`¦``¦```¦```py\n¦````¦~~~¦~~~\n¦- ```\n  a\n¦> ```\n¦x = 1\n¦def f(): '''\n¦'''¦/* "  # code
    "¦> ¦>¦>> x¦> - c\n> d\n¦&#124;¦&amp;¦&lt¦<b>¦<!-- ¦</div>\n"  # quotes, entities, HTML
    "¦![¦[¦]¦](¦)¦'¦\"¦](https://x.y)¦<https://x.y>"  # links
    "¦[a]¦[a]:¦[a]: /u\n¦[a]: https://x.y 'title\n¦[a]: u\n'b\n"  # definitions
    "¦| a | b |\n¦|---|:-:|\n¦|-¦|¦| 1 | 2 |\n¦a | b\n¦-|-\n¦|x"  # tables
)
FRAGMENTS = st.sampled_from(NASTY.split("¦"))
TEXTS = st.lists(FRAGMENTS, max_size=30).map("".join)
LONG_LISTS = st.builds(
    lambda items, rest: "".join(items) + rest,
    st.lists(
        st.sampled_from(["- a\n", "- b\n\n", "-\n", "- c\n  d\n", "- e\n\n  f\n", "lazy\n"]),
        min_size=MAX_LIST_ITEMS - 2,
        max_size=2 * MAX_LIST_ITEMS + 5,
    ),
    TEXTS,
)
THOROUGH = settings(
    max_examples=examples(80, 1000), deadline=None, suppress_health_check=list(HealthCheck)
)


def stream_in_parts(source: str, cuts: list[int], read: bool) -> MarkdownStream:
    """Feed `source` split at `cuts`; if `read`, check that stable blocks never change."""
    stream = MarkdownStream()
    positions = sorted({cut % (len(source) + 1) for cut in cuts})
    final: tuple[Block, ...] = ()
    for start, end in zip([0, *positions], [*positions, len(source)], strict=True):
        stream.append(source[start:end])
        if read:
            blocks = stream.blocks
            assert blocks[: len(final)] == final
            assert stream.stable >= len(final)
            final = blocks[: stream.stable]
    return stream


class TestStreamedMarkdown:
    @THOROUGH
    @given(TEXTS | LONG_LISTS, st.lists(st.integers(0, 5000), max_size=40), st.booleans())
    @example("[b]: /u\n'title\n===\nfoo'", [20], True)
    @example("a\n\n2", [2], True)
    @example("```\na\r", [4], True)
    @example("```\n ", [], False)
    def test_a_text_split_anywhere_is_parsed_like_the_whole(self, source, cuts, read):
        stream = stream_in_parts(source, cuts, read)
        before = stream.blocks
        first_changed = stream.finish()
        assert stream.blocks == parse_markdown(source)
        assert stream.stable == len(stream.blocks)
        assert before[:first_changed] == stream.blocks[:first_changed]

    @THOROUGH
    @given(TEXTS, st.lists(st.integers(0, 5000), max_size=40))
    @example("a paragraph that is too long for emphasis\n\nb", [42])
    def test_a_paragraph_over_the_limit_grows_like_the_whole(self, source, cuts):
        source = f"a paragraph of more than twenty characters{source}"
        with mock.patch.object(markdown, "MAX_PARAGRAPH", 20):
            stream = stream_in_parts(source, cuts, read=True)
            stream.finish()
            assert stream.blocks == parse_markdown(source)

    @THOROUGH
    @given(TEXTS | LONG_LISTS, st.lists(st.integers(0, 5000), max_size=40))
    @example("| a |\n|-|\n| b |\n\n```\nc\n", list(range(25)))
    def test_a_text_that_waits_to_be_parsed_ends_like_the_whole(self, source, cuts):
        with mock.patch.multiple(markdown, _MAX_SIGNS=0, _SHARE=1):
            stream = stream_in_parts(source, cuts, read=True)
            before = stream.blocks
            first_changed = stream.finish()
        assert stream.blocks == parse_markdown(source)
        assert before[:first_changed] == stream.blocks[:first_changed]

    @pytest.mark.parametrize(
        "word", ["a|b\n-|-\n", "> a\n", "a\n", "1a\n", "[", "- a\n\n  ", "a\n\n\n", "    a\n\n"]
    )
    def test_what_is_parsed_grows_in_proportion_to_the_text(self, word):
        parsed = 0
        parse = markdown._parse

        def count(text, **options):
            nonlocal parsed
            parsed += len(text)
            return parse(text, **options)

        source = word * (6000 // len(word))
        stream = MarkdownStream()
        with mock.patch.object(markdown, "_parse", count):
            for start in range(0, len(source), 20):
                stream.append(source[start : start + 20])
                assert stream.blocks
        # Up to a thousand signs all is parsed each time; of six thousand characters, three million.
        assert parsed < 350_000

    def test_the_text_that_waits_is_shown_as_it_is(self):
        table = "| a | b |\n|---|---|\n" + "| *c* | d |\n" * 300
        stream = MarkdownStream()
        stream.append(table)
        assert [type(block) for block in stream.blocks] == [Table]
        stream.append("| *e* | f\x1b |\n| g")
        assert stream.blocks[1:] == (text("| *e* | f␛ |\n| g"),)
        stream.append(" | h |\n\nThe *end*\nof it")
        assert [plain(block)[-7:] for block in stream.blocks] == ["\nf␛\ng\nh", "d\nof it"]
        stream.finish()
        assert len(stream.blocks) == 2

    @settings(THOROUGH, max_examples=examples(40, 300))
    @given(TEXTS)
    @example("```a | b\n-|-\n")
    def test_a_text_fed_by_characters_is_parsed_like_the_whole(self, source):
        stream = stream_in_parts(source, list(range(len(source))), read=True)
        stream.finish()
        assert stream.blocks == parse_markdown(source)

    def test_a_block_is_stable_once_the_next_has_a_complete_line(self):
        stream = MarkdownStream()
        stream.append("one\n\ntwo")
        assert stream.stable == 0
        stream.append("\n")
        assert stream.stable == 1
        stream.append("\n```\ncode\n")
        assert stream.stable == 2
        stream.append("```\n")
        assert stream.stable == 3

    def test_a_partial_line_that_may_close_the_fence_is_held_back(self):
        stream = MarkdownStream()
        stream.append("```py\nx = 1\n``")
        assert plain(stream.blocks[0]) == "x = 1"
        stream.append(" no")
        assert plain(stream.blocks[0]) == "x = 1\n`` no"

    def test_an_open_fence_is_highlighted_while_it_grows(self):
        stream = MarkdownStream()
        stream.append('```python\ndef f():\n    """Says\n    much."""\n    return 1\n')
        kinds = [{token.kind for token in line} for line in stream.blocks[0].lines]
        assert "storage" in kinds[0]
        assert kinds[2] <= {"string", "string_doc", None}
        assert "keyword" in kinds[3]

    def test_a_late_definition_creates_its_links_at_the_end(self):
        stream = MarkdownStream()
        stream.append("See [a].\n\nMore.\n\n[a]: https://x.y\n")
        assert stream.blocks[0] == text("See [a].")
        assert stream.finish() == 0
        assert stream.blocks[0] == text("See ", Span("a", href="https://x.y"), ".")

    def test_discarded_stable_blocks_are_not_listed(self):
        stream = MarkdownStream()
        stream.append("one\n\ntwo\n\nthree")
        stream.discard_stable()
        assert (stream.blocks, stream.stable) == ((text("two"), text("three")), 0)
        assert stream.finish() == 2
        assert stream.stable == 2

    def test_a_late_definition_restores_discarded_blocks(self):
        stream = MarkdownStream()
        stream.append("See [a].\n\nMore.\n\n[a]: https://x.y\n")
        stream.discard_stable()
        assert stream.finish() == -1
        assert stream.blocks == (text("See ", Span("a", href="https://x.y"), "."), text("More."))

    def test_finish_reports_that_nothing_changed(self):
        stream = MarkdownStream()
        stream.append("one\n\ntwo\n")
        assert stream.finish() == 2

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "line",
        [
            "Some *prose* with `code` in it, and no end of it.\n\n",
            "- an item of a very long list with **some** words\n",
            "    indented = 1\n\ntext\n\n",
        ],
    )
    def test_the_cost_of_an_append_depends_on_the_tail_not_the_length(self, line):
        def parsed_characters(length: int) -> int:
            stream, total = MarkdownStream(), 0
            for _ in range(length):
                stream.append(line)
                _ = stream.blocks
                total += len(stream._tail)
            return total

        assert parsed_characters(400) < 2.5 * parsed_characters(200)

    def test_a_code_block_of_eighty_thousand_characters_streams_within_five_seconds(self):
        stream = MarkdownStream()
        stream.append("```python\n")
        began = time.process_time()
        for number in range(300):
            stream.append(f"    value_{number} = compute(number, 'text', {number}) + other\n" * 5)
            _ = stream.blocks
        stream.append("```\n")
        assert stream.stable == 1
        assert time.process_time() - began < 5


def test_markdown_without_code_imports_no_pygments_and_the_module_imports_no_parser():
    code = (
        "import sys, model.richtext.markdown;"
        "print('markdown_it' in sys.modules);"
        "model.richtext.markdown.parse_markdown('# a\\n\\n```\\nplain\\n```\\n');"
        "print('pygments' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=30)
    assert done.stdout.split() == [b"False", b"False"]


def test_a_paragraph_over_the_limit_is_shown_as_written() -> None:
    long = "**a** " * (MAX_PARAGRAPH // 6 + 1)
    shown, after = parse_markdown(f"{long}\n\n**b**")
    assert shown == Paragraph((Span(long.rstrip()),))
    assert after == Paragraph((Span("b", bold=True),))
