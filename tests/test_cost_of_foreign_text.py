"""Text of others costs at most twice the work where it is twice as long, whatever it says.

Anybody can file an issue, name a branch or have a remote say a word, and one loop serves everybody:
an expression that goes back and forth over such a text would hold up all.
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
from tests.text_cost import MOST, growth
from tests.text_readers import OTHERS, READERS, every, search

ROOT: Final = Path(__file__).parents[1]
ROOMS: Final = ("model", "server", "tui", "themes")

WORDS: Final = (
    "a", "a.", "a-", "a/", "1", "1.", "_", " ", "\t", " \n", "\n", "\r", "-", "+a", "//", "://",
    "@", ":", "[", "](", "[a](", "<", "</a>", "<a>", "`", "*", "'", '"', "\\", "\x1b[", "\x1b[0;",
    "|", "\u0301", "\ufe0f", "\u200d", "文",
)  # fmt: skip
"""Hostile texts say one of these again and again, or words of the expression itself."""
END: Final = "\x01"
"""What comes at the end of all, so that an expression that wants the whole text goes back."""


@cache
def uses() -> list[tuple[str, str]]:
    """Each place that uses `re`, as `file: name`, and the source of its expressions."""
    return list(_uses())


def _uses() -> Iterator[tuple[str, str]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            source = path.read_text()
            if "import re" in source or "from re " in source:
                file = path.relative_to(ROOT).as_posix()
                for name, call in _calls(ast.parse(source), ()):
                    yield f"{file}: {'.'.join(name)}", ast.unparse(call)


def _calls(node: ast.AST, inside: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.AST]]:
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
            case ast.ImportFrom(module="re"):
                yield ("from re import",), child
        yield from _calls(child, name)


def test_each_expression_is_in_the_list_of_readers_once() -> None:
    found = {place for place, _ in uses()}
    assert sorted(found - READERS.keys() - OTHERS.keys()) == [], "add a row for each of these"
    assert sorted((READERS.keys() | OTHERS.keys()) - found) == [], "take these out of the list"
    assert not READERS.keys() & OTHERS.keys()


def texts(expressions: list[str]) -> Iterator[Callable[[int], str]]:
    """What writes hostile texts of a size, with the words of the expressions."""
    own = {word for shown in expressions for word in re.findall(r"[\w' :/<>*-]{3,30}", shown)}
    for word in (*WORDS, *own):
        for beginning in ("", *own):
            yield partial(_text, beginning, word)


def _text(beginning: str, word: str, size: int) -> str:
    return f"{beginning}{word * (size // len(word))}{END}"


@pytest.mark.longer
@pytest.mark.parametrize("place", READERS)
def test_twice_the_text_is_about_twice_the_work(place: str) -> None:
    file, _, name = place.partition(": ")
    reader: Any = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for part in name.removesuffix(".__init__").split("."):
        reader = getattr(reader, part)
    expressions = [shown for known, shown in uses() if known == place]
    read = partial(READERS[place], reader)
    for write in texts(expressions):
        assert growth(read, write) <= MOST, f"{place} and {write(40)!r}"


def _streamed(text: str) -> object:
    stream = MarkdownStream()
    stream.append(text)
    return stream.blocks


@pytest.mark.longer
@pytest.mark.parametrize(
    ("read", "beginning", "word"),
    [
        (_streamed, "```\n", "\n"),
        (_streamed, "", "```\n```\n"),
        (parse_markdown, "", "a\n"),
        (parse_markdown, "", "[a]("),
        (parse_markdown, "- ", "> "),
        (parse_markdown, "|a|\n|-|\n", "|a"),
    ],
)
def test_markdown_is_read_once(read: Callable[[str], object], beginning: str, word: str) -> None:
    assert growth(read, partial(_text, beginning, word), (1_000, 10_000, 400_000)) <= MOST


@pytest.mark.parametrize(
    ("expression", "method"),
    [
        (r"(\b[a-z][a-z0-9+.-]*://)[^/@\s]*@", every),
        (r"failed to read .*worktrees/[^\n]*/(?:commondir|locked)", search),
        (r"^\s*(?:\d+[.)]|[-*])\s+\S", every),
        (r"<a>(.*?)</a>\s*<b>(.*?)</b>!", search),
    ],
)
def test_what_would_be_slow_is_found(expression: str, method: Callable[[Any, str], object]) -> None:
    read = partial(method, re.compile(expression, re.MULTILINE | re.IGNORECASE))
    assert any(growth(read, write) > MOST for write in texts([repr(expression)]))
