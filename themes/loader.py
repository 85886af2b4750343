"""Reads the colour files: 19 syntax themes for code, and a dark and a light chrome for the rest.

It gives plain values and knows neither screen nor page; those make styles and style sheets of them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from themes.tokens import TOKEN_CLASSES, TokenClass

Kind = Literal["dark", "light"]

_FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class TokenStyle:
    """How one token class looks; colours are opaque `#rrggbb`."""

    color: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    background: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxTheme:
    """The colours of code: the editor's own, the sixteen of a terminal, one style a token class."""

    name: str
    title: str
    kind: Kind
    ui: Mapping[str, str]
    """`background`, `foreground`, `selection`, `line_highlight`, `cursor`, `line_number`,
    `inserted_background` and `deleted_background` are always here; others where the theme has them.
    """
    ansi: Mapping[str, str]
    """Terminal colours by name, empty where the theme sets none."""
    tokens: Mapping[TokenClass, TokenStyle]


@dataclass(frozen=True, slots=True, eq=False)
class Chrome:
    """The colours of everything that is not code."""

    name: str
    kind: Kind
    ui: Mapping[str, str]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of all syntax themes, sorted; they are the values of the preference."""
    return tuple(sorted(path.stem for path in (_FOLDER / "syntax").glob("*.toml")))


@lru_cache
def syntax_theme(name: str) -> SyntaxTheme:
    """The syntax theme of this name; `ValueError` with a sentence where there is none."""
    if name not in names():
        raise ValueError(f"No syntax theme is called {name!r}. Choose one of: {', '.join(names())}")
    table = _read(_FOLDER / "syntax" / f"{name}.toml")
    return SyntaxTheme(
        name=table["name"],
        title=table["title"],
        kind=cast(Kind, table["kind"]),
        ui=MappingProxyType(table["ui"]),
        ansi=MappingProxyType(table.get("ansi", {})),
        tokens=MappingProxyType({key: _style(table["tokens"][key]) for key in TOKEN_CLASSES}),
    )


@lru_cache
def chrome(kind: Kind) -> Chrome:
    """Our own colours, dark or light; `ValueError` with a sentence for anything else."""
    if kind not in ("dark", "light"):
        raise ValueError(f"No chrome is called {kind!r}. Choose dark or light.")
    table = _read(_FOLDER / "chrome" / f"spinney-{kind}.toml")
    return Chrome(name=table["name"], kind=kind, ui=MappingProxyType(table["ui"]))


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _style(entry: Mapping[str, Any]) -> TokenStyle:
    # `default` says that the theme leaves the class to its foreground: of no use once it is read.
    return TokenStyle(**{key: value for key, value in entry.items() if key != "default"})
