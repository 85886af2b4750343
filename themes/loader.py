"""Reads the color files: 19 syntax themes for code, and a dark and a light chrome for the rest.

It returns plain values; the terminal and the page turn them into styles and style sheets.
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
    """The style of a token class; colors are opaque `#rrggbb`."""

    color: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    background: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxTheme:
    """The colors of code: the editor's, the 16 of a terminal, and a style for each token class."""

    name: str
    title: str
    kind: Kind
    ui: Mapping[str, str]
    """`background`, `foreground`, `selection`, `line_highlight`, `cursor`, `line_number`,
    `inserted_background` and `deleted_background` are always set; others only in some themes.
    """
    ansi: Mapping[str, str]
    """Terminal colors by name, empty if the theme sets none."""
    tokens: Mapping[TokenClass, TokenStyle]


@dataclass(frozen=True, slots=True, eq=False)
class Chrome:
    """The colors of everything that is not code."""

    name: str
    kind: Kind
    ui: Mapping[str, str]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The sorted names of all syntax themes, which are the values of the preference."""
    return tuple(sorted(path.stem for path in (_FOLDER / "syntax").glob("*.toml")))


@lru_cache
def syntax_theme(name: str) -> SyntaxTheme:
    """Load a syntax theme. Raises `ValueError` with a message for the user if there is none."""
    if name not in names():
        raise ValueError(f"There is no syntax theme {name!r}. Choose one of: {', '.join(names())}")
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
    """Load our own colors, dark or light. Raises `ValueError` for anything else."""
    if kind not in ("dark", "light"):
        raise ValueError(f"There is no chrome {kind!r}. Choose dark or light.")
    table = _read(_FOLDER / "chrome" / f"spinney-{kind}.toml")
    return Chrome(name=table["name"], kind=kind, ui=MappingProxyType(table["ui"]))


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _style(entry: Mapping[str, Any]) -> TokenStyle:
    # `default` marks classes that have the theme's foreground; it is not needed at run time.
    return TokenStyle(**{key: value for key, value in entry.items() if key != "default"})
