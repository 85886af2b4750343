"""The footer: the keys that matter where one is, made from the table of actions."""

from collections.abc import Iterable, Mapping

from textual.content import Content
from textual.style import Style

from tui.keymap import ACTIONS, keys_of, shown
from tui.widgets.line import Line


class KeyHints(Line):
    """Keys and a word each; a click does the same."""

    def follow(
        self,
        overrides: Mapping[str, str],
        *,
        first: Iterable[tuple[str, str]] = (),
        without: frozenset[str] = frozenset(),
    ) -> None:
        """`first`: keys of the focused pane, and their words. `without`: actions of no use now."""
        parts: list[Content | str | tuple[str, str]] = []
        for key, words in first:
            parts += [(key, "bold $accent"), (f" {words}  ", "$text-muted")]
        for action in ACTIONS:
            if not action.hint or action.id in without:
                continue
            key = shown(keys_of(action.id, overrides))
            hint = Content.assemble((key, "bold $accent"), (f" {action.hint}", "$text-muted"))
            click = Style.from_meta({"@click": f"screen.do('{action.id}')"})
            parts += [hint.stylize(click), "  "]
        self.show(Content.assemble(*parts))
