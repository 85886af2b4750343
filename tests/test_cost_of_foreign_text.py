"""Regular expressions and `shlex.split` take linear time, whatever untrusted text they read.

Anyone can file an issue, name a branch or control what a remote prints, and one event loop serves
all clients: an expression with quadratic time would block them all.
"""

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest

from model.richtext.markdown import MarkdownStream, parse_markdown
from tests.text_cost import MAX_GROWTH, measure_growth
from tests.text_readers import OTHERS, READERS, findall, search

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("model", "server", "tui", "themes")

WORDS: Final = (
    "a", "a.", "a-", "a/", "1", "1.", "_", " ", "\t", " \n", "\n", "\r", "-", "+a", "//", "://",
    "@", ":", "[", "](", "[a](", "<", "</a>", "<a>", "`", "*", "'", '"', "\\", "\x1b[", "\x1b[0;",
    "|", "\u0301", "\ufe0f", "\u200d", "文",
)  # fmt: skip
"""Hostile texts repeat one of these, or a literal part of the expression itself."""
END: Final = "\x01"
"""The end of each text, which makes an expression for the whole text backtrack."""


@cache
def find_uses() -> list[tuple[str, str]]:
    """Each use of `re` and `shlex.split` as `file: name`, with the source of the call."""
    return list(_iterate_uses())


def _iterate_uses() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text()
            if "import re" in source or "from re " in source or "shlex.split" in source:
                file = path.relative_to(ROOT).as_posix()
                for name, call in _find_calls(ast.parse(source), ()):
                    yield f"{file}: {'.'.join(name)}", ast.unparse(call)


def _find_calls(
    node: ast.AST, inside: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ast.AST]]:
    for child in ast.iter_child_nodes(node):
        name = inside
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = (*inside, child.name)
            case ast.AnnAssign(target=ast.Name(id=word)) | ast.Assign(targets=[ast.Name(id=word)]):
                name = inside or (word,)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=does)) if (
                does != "escape"
            ):
                yield inside, child
            case ast.Call(func=ast.Attribute(value=ast.Name(id="shlex"), attr="split")):
                yield inside, child
            case ast.ImportFrom(module="re"):
                yield ("from re import",), child
        yield from _find_calls(child, name)


@pytest.mark.longer
@pytest.mark.core
def test_each_expression_is_in_the_list_of_readers_once() -> None:
    found = {place for place, _ in find_uses()}
    assert sorted(found - READERS.keys() - OTHERS.keys()) == [], "add a row for each of these"
    assert sorted((READERS.keys() | OTHERS.keys()) - found) == [], "remove these from the list"
    assert not READERS.keys() & OTHERS.keys()


def make_writers(expressions: list[str]) -> Iterator[Callable[[int], str]]:
    """Functions that make a hostile text of a given size, also from parts of the expressions."""
    own = {word for shown in expressions for word in re.findall(r"[\w' :/<>*-]{3,30}", shown)}
    for word in (*WORDS, *own):
        for beginning in ("", *own):
            yield partial(_make_text, beginning, word)


def _make_text(beginning: str, word: str, size: int) -> str:
    return f"{beginning}{word * (size // len(word))}{END}"


@pytest.mark.longer
@pytest.mark.core
@pytest.mark.parametrize("place", READERS)
def test_a_longer_text_takes_longer_in_proportion(place: str) -> None:
    file, _, name = place.partition(": ")
    reader: Any = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for part in name.removesuffix(".__init__").split("."):
        reader = getattr(reader, part)
    expressions = [shown for known, shown in find_uses() if known == place]
    read = partial(READERS[place], reader)
    for write in make_writers(expressions):
        assert measure_growth(read, write) <= MAX_GROWTH, f"{place} and {write(40)!r}"


def _parse_stream(text: str) -> object:
    stream = MarkdownStream()
    stream.append(text)
    return stream.blocks


@pytest.mark.longer
@pytest.mark.parametrize(
    ("read", "beginning", "word"),
    [
        (_parse_stream, "```\n", "\n"),
        (_parse_stream, "", "```\n```\n"),
        (parse_markdown, "", "a\n"),
        (parse_markdown, "", "[a]("),
        (parse_markdown, "- ", "> "),
        (parse_markdown, "|a|\n|-|\n", "|a"),
    ],
)
def test_markdown_is_parsed_in_linear_time(
    read: Callable[[str], object], beginning: str, word: str
) -> None:
    assert (
        measure_growth(read, partial(_make_text, beginning, word), (1_000, 10_000, 400_000))
        <= MAX_GROWTH
    )


@pytest.mark.longer
@pytest.mark.core
@pytest.mark.parametrize(
    ("expression", "method"),
    [
        (r"(\b[a-z][a-z0-9+.-]*://)[^/@\s]*@", findall),
        (r"failed to read .*worktrees/[^\n]*/(?:commondir|locked)", search),
        (r"^\s*(?:\d+[.)]|[-*])\s+\S", findall),
        (r"<a>(.*?)</a>\s*<b>(.*?)</b>!", search),
    ],
)
def test_slow_expressions_are_detected(
    expression: str, method: Callable[[Any, str], object]
) -> None:
    read = partial(method, re.compile(expression, re.MULTILINE | re.IGNORECASE))
    assert any(
        measure_growth(read, write) > MAX_GROWTH for write in make_writers([repr(expression)])
    )
