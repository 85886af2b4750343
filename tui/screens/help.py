"""The help: every key and mark, made from the tables that also bind and draw them."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from textual.content import Content

from tui.keymap import (
    ACTIONS,
    CANVAS_KEYS,
    COMPOSER_KEYS,
    DIFF_KEYS,
    TRANSCRIPT_KEYS,
    TREE_KEYS,
    Where,
    all_shown,
    keys_of,
)
from tui.marks import MEANINGS
from tui.screens.dialog import Report
from tui.widgets.session_tabs import ROLE_COLORS

Part = str | tuple[str, str]
KEYS_WIDTH = 16
WORDS_WIDTH = 56


def help_page(overrides: Mapping[str, str], columns: int) -> Report:
    """The page with the keys as they are here, for a screen of so many columns."""
    # The frame, its padding and the scroll bar take ten, and the box leaves a sixteenth free.
    width = max(20, min(WORDS_WIDTH, columns * 15 // 16 - KEYS_WIDTH - 2 - 10))
    parts: list[Part] = [
        *_table("Everywhere", _actions("everywhere", overrides), width),
        *_table("Message box", COMPOSER_KEYS, width),
        *_table("Conversation", TRANSCRIPT_KEYS, width),
        *_table("Projects", [*TREE_KEYS, *_actions("projects", overrides)], width),
        *_table("All sessions", [*CANVAS_KEYS, *_actions("canvas", overrides)], width),
        *_table("Changes (diff)", [*DIFF_KEYS, *_actions("diff", overrides)], width),
        ("Marks\n", "bold $accent"),
    ]
    for mark, meaning in MEANINGS:
        parts += [(f"{mark.sign:>{KEYS_WIDTH}}  ", ROLE_COLORS[mark]), f"{meaning}\n"]
    parts += [
        ("\nEverything else", "bold $accent"),
        " is in the command palette (ctrl+p). Hold shift to select text with the mouse.\n"
        "Keys of your own: the preference ",
        ("keybindings", "bold"),
        ", for example ",
        ('{"new_worktree": "f7"}', "bold"),
        "; the names: ",
        (", ".join(action.id for action in ACTIONS), "$text-muted"),
        ".",
    ]
    return Report("Help", Content.assemble(*parts), ("↑ ↓", "scroll"))


def _actions(where: Where, overrides: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for action in ACTIONS:
        if action.where == where and (keys := keys_of(action.id, overrides)):
            yield all_shown(keys), f"{action.title}{'. ' + action.help if action.help else ''}"


def _table(title: str, rows: Iterable[tuple[str, str]], width: int) -> list[Part]:
    parts: list[Part] = [(f"{title}\n", "bold $accent")]
    for keys, words in rows:
        first, *rest = wrap(words, width)
        parts += [(f"{keys:>{KEYS_WIDTH}}  ", "bold"), f"{first}\n"]
        parts += [f"{'':{KEYS_WIDTH}}  {line}\n" for line in rest]
    return [*parts, "\n"]
