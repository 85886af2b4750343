"""Syntax highlighting: of a whole text, or line by line while it is being streamed.

Pygments is imported for the first code in a known language, not together with this module. Code is
untrusted: if a lexer fails or loses a character, the highlighting is dropped, never the text.
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
"""Longer code is not highlighted: at about 0.4 MB per second it would block everything else."""
MAX_LINE_LENGTH: Final = 2_000
"""Code with a longer line is not highlighted: it is generated, and some lexers are slow on it."""

_BRACKETS: Final = frozenset("()[]{}")
_RawToken = tuple[Any, str]


def highlight_code(code: str, language: str | None) -> tuple[CodeLine, ...]:
    """Highlight the lines of `code`; plain if the language is unknown or the code is too long.

    The tokens of a line add up to its text. A trailing line break adds no line.
    """
    lines = code.removesuffix("\n").split("\n") if code else []
    lexer = _lexer(_first_word(language or ""))
    if (
        lexer is None
        or len(code) > MAX_CHARACTERS
        or any(len(line) > MAX_LINE_LENGTH for line in lines)
    ):
        return tuple(map(_plain, lines))
    text = "\n".join(lines) + "\n"
    try:
        raw = [(kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text)]
    except Exception:  # a lexer may raise anything for unexpected code
        return tuple(map(_plain, lines))
    highlighted = tuple(_lines(raw, lexer.aliases[0]))
    return highlighted if _same_text(highlighted, lines) else tuple(map(_plain, lines))


class LineHighlighter:
    """Highlights lines as they arrive, keeping the lexer's state between them.

    Where a pattern of the language spans several lines, the result may differ from that for the
    whole code; `highlight_code` corrects it once the code is complete.
    """

    def __init__(self, language: str | None) -> None:
        self._lexer = _lexer(_first_word(language or ""))
        self._stack = ["root"]
        self._remaining = MAX_CHARACTERS

    def line(self, text: str) -> CodeLine:
        """Highlight the next line, given without its line break."""
        self._remaining -= len(text) + 1
        if self._lexer is None or self._remaining < 0 or len(text) > MAX_LINE_LENGTH:
            return _plain(text)
        try:
            raw = list(self._tokens(self._lexer, text + "\n"))
        except Exception:  # see highlight_code
            self._lexer = None
            return _plain(text)
        highlighted = tuple(_lines(raw, self._lexer.aliases[0]))
        return highlighted[0] if _same_text(highlighted, [text]) else _plain(text)

    def _tokens(self, lexer: "Lexer", text: str) -> Iterator[_RawToken]:
        from pygments.lexer import ExtendedRegexLexer, LexerContext, RegexLexer

        if not isinstance(lexer, RegexLexer):
            yield from ((kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text))
            return
        # `RegexLexer` discards its stack at the end; `ExtendedRegexLexer` keeps it in the context
        # and uses the same tables.
        context = LexerContext(text, 0, self._stack)
        for _, kind, value in ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context):
            yield kind, value
        self._stack = context.stack


@lru_cache(maxsize=512)
def language_for_path(path: str) -> str | None:
    """The language of a file by its name, as for `highlight_code`; `None` if unknown."""
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
    # For an unknown name Pygments would read the metadata of every installed package, and while a
    # block is being streamed, its language is an incomplete name.
    if language not in _known_languages():
        return None
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language)


@lru_cache(maxsize=1)
def _known_languages() -> frozenset[str]:
    from pygments.lexers import get_all_lexers

    lexers = get_all_lexers(plugins=False)
    return frozenset(alias for _, aliases, _, _ in lexers for alias in aliases)


def _plain(line: str) -> CodeLine:
    return (Token(line),) if line else ()


def _same_text(highlighted: tuple[CodeLine, ...], lines: list[str]) -> bool:
    return ["".join(token.text for token in line) for line in highlighted] == lines


def _lines(raw: list[_RawToken], language: str) -> Iterator[CodeLine]:
    line: list[Token] = []
    for text, kind in _classify(raw, language):
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


def _classify(raw: list[_RawToken], language: str) -> Iterable[tuple[str, TokenClass | None]]:
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
