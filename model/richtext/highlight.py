"""Code to coloured lines: whole, or line by line while it is still being written.

Pygments is loaded when the first code in a known language comes, not when this module is read.
Code is foreign: a lexer that fails or loses a character costs the colours, never the text.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from model.richtext.blocks import CodeLine, Token
from model.richtext.token_classes import CLASSES, LANGUAGE_CLASSES, STORAGE_WORDS
from themes.tokens import TokenClass

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

MAX_CHARACTERS: Final = 60_000
"""Longer code stays plain: at about 0.4 MB a second it would hold up everything else."""
MAX_LINE: Final = 2_000
"""Code with a longer line stays plain: it is generated, and some lexers are slow on such lines."""

_BRACKETS: Final = frozenset("()[]{}")
_RawToken = tuple[Any, str]


def highlight_code(code: str, language: str | None) -> tuple[CodeLine, ...]:
    """The lines of `code`, coloured; plain where the language is unknown or the code too long.

    The texts of a line's tokens make up the line. A line break at the end adds no line.
    """
    lines = code.removesuffix("\n").split("\n") if code else []
    lexer = _lexer(_first_word(language or ""))
    if lexer is None or len(code) > MAX_CHARACTERS or any(len(line) > MAX_LINE for line in lines):
        return tuple(map(_plain, lines))
    text = "\n".join(lines) + "\n"
    try:
        raw = [(kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text)]
    except Exception:  # a lexer may fail in any way on code it does not expect
        return tuple(map(_plain, lines))
    coloured = tuple(_lines(raw, lexer.aliases[0]))
    return coloured if _same_text(coloured, lines) else tuple(map(_plain, lines))


class LineHighlighter:
    """Colours lines as they come, keeping the lexer's state between them.

    Where one pattern of the language reaches over several lines the colours may differ from
    those of the whole code; `highlight_code` sets that right once the code is complete.
    """

    def __init__(self, language: str | None) -> None:
        self._lexer = _lexer(_first_word(language or ""))
        self._stack = ["root"]
        self._left = MAX_CHARACTERS

    def line(self, text: str) -> CodeLine:
        """The next line, without its line break."""
        self._left -= len(text) + 1
        if self._lexer is None or self._left < 0 or len(text) > MAX_LINE:
            return _plain(text)
        try:
            raw = list(self._tokens(self._lexer, text + "\n"))
        except Exception:  # see highlight_code
            self._lexer = None
            return _plain(text)
        coloured = tuple(_lines(raw, self._lexer.aliases[0]))
        return coloured[0] if _same_text(coloured, [text]) else _plain(text)

    def _tokens(self, lexer: "Lexer", text: str) -> Iterator[_RawToken]:
        from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

        if not isinstance(lexer, RegexLexer):
            yield from ((kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text))
            return
        # The plain lexer's method forgets its stack at the end; the extended one's keeps it in
        # the context and runs on the same tables.
        context = LexerContext(text, 0, self._stack)
        for _, kind, value in ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context):
            yield kind, value
        self._stack = context.stack


@lru_cache(maxsize=512)
def language_for_path(path: str) -> str | None:
    """The language of a file by its name, as `highlight_code` takes it; None where unknown."""
    from pygments.lexers import find_lexer_class_for_filename  # type: ignore[import-untyped]

    lexer = find_lexer_class_for_filename(PurePath(path).name)
    return lexer.aliases[0] if lexer and lexer.aliases and lexer.name != "Text only" else None


def _first_word(language: str) -> str:
    words = language.lower().strip("{}. \t").split(maxsplit=1)
    return words[0].partition(",")[0].strip("{}.") if words else ""


@lru_cache(maxsize=128)
def _lexer(language: str) -> "Lexer | None":
    if language in ("", "text", "plain", "plaintext", "txt", "output"):
        return None
    # For a name that it does not know Pygments would read the metadata of every installed package,
    # and while a block is being written its language is nothing but half a name.
    if language not in _known_languages():
        return None
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language)


@lru_cache(maxsize=1)
def _known_languages() -> frozenset[str]:
    from pygments.lexers import get_all_lexers

    every = get_all_lexers(plugins=False)
    return frozenset(alias for _, aliases, _, _ in every for alias in aliases)


def _plain(line: str) -> CodeLine:
    return (Token(line),) if line else ()


def _same_text(coloured: tuple[CodeLine, ...], lines: list[str]) -> bool:
    return ["".join(token.text for token in line) for line in coloured] == lines


def _lines(raw: list[_RawToken], language: str) -> Iterator[CodeLine]:
    line: list[Token] = []
    for text, kind in _classed(raw, language):
        first, *rest = text.split("\n")
        _add(line, first, kind)
        for part in rest:
            yield tuple(line)
            line = []
            _add(line, part, kind)
    if line:
        yield tuple(line)


def _add(line: list[Token], text: str, kind: TokenClass | None) -> None:
    if not text:
        return
    if line and (line[-1].kind == kind or text.isspace()):
        line[-1] = Token(line[-1].text + text, line[-1].kind)
    else:
        line.append(Token(text, kind))


def _classed(raw: list[_RawToken], language: str) -> Iterable[tuple[str, TokenClass | None]]:
    last = len(raw) - 1
    for index, (kind, text) in enumerate(raw):
        name = _class(kind, language)
        if name == "keyword" and text in STORAGE_WORDS:
            name = "storage"
        elif name == "punctuation" and text in _BRACKETS:
            name = "bracket"
        elif name in (None, "variable") and index < last and raw[index + 1][1].startswith("("):
            name = "function_call" if text.isidentifier() else name
        yield text, name


@lru_cache(maxsize=2048)
def _class(kind: Any, language: str) -> TokenClass | None:
    own = LANGUAGE_CLASSES.get(language, {})
    while kind.parent is not None:
        name = str(kind).removeprefix("Token.")
        if name in own:
            return own[name]
        if name in CLASSES:
            return CLASSES[name]
        kind = kind.parent
    return None
