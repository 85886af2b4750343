"""Entries of the command palette that any screen can have: actions, and the keys of a dialog."""

from collections.abc import Mapping
from functools import partial
from typing import Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.keys.keymap import Action, keys_of
from tui.keys.names import shown
from tui.keys.word_match import WordMatch
from tui.widgets.key_line import keys_told


class ActingScreen(Protocol):
    """A screen with actions of the key map."""

    @property
    def key_overrides(self) -> Mapping[str, str]:
        """The user's own keys."""

    def action_do(self, action_id: str) -> None:
        """Run an action."""


class _Pressable(Protocol):
    def press(self, name: str) -> None:
        """Press a key of the dialog's foot."""


class ActionCommands(Provider):
    """Actions by title, with their keys; which ones, a subclass for each screen says."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in self._actions():
            yield DiscoveryHit(
                self._title(action), partial(self._acting.action_do, action.id), help=action.help
            )

    async def search(self, query: str) -> Hits:
        """Those that the query finds in their titles."""
        matcher = WordMatch(query, self.match_style)
        for action in self._actions():
            score = matcher.match(action.title)
            if score > 0:
                yield Hit(
                    score,
                    Content.assemble(matcher.highlight(action.title), self._key(action)),
                    partial(self._acting.action_do, action.id),
                    text=action.title,
                    help=action.help,
                )

    @property
    def _acting(self) -> ActingScreen:
        return cast("ActingScreen", self.screen)

    def _actions(self) -> list[Action]:
        raise NotImplementedError

    def _title(self, action: Action) -> Content:
        return Content.assemble(action.title, self._key(action))

    def _key(self, action: Action) -> tuple[str, str]:
        key = shown(keys_of(action.id, self._acting.key_overrides))
        return (f"  {key}" if key else "", "$text-muted")


class DialogCommands(Provider):
    """What a dialog names at its foot."""

    async def discover(self) -> Hits:
        """All of it, in the order in which it stands there."""
        for key, words in keys_told(self.screen):
            yield DiscoveryHit(
                Content.assemble(_title(words), (f"  {key}", "$text-muted")),
                partial(self._dialog.press, key),
            )

    async def search(self, query: str) -> Hits:
        """What has the query in its words."""
        matcher = WordMatch(query, self.match_style)
        for key, words in keys_told(self.screen):
            if (score := matcher.match(_title(words))) > 0:
                label = Content.assemble(
                    matcher.highlight(_title(words)), (f"  {key}", "$text-muted")
                )
                yield Hit(score, label, partial(self._dialog.press, key), text=_title(words))

    @property
    def _dialog(self) -> _Pressable:
        return cast("_Pressable", self.screen)


def _title(words: str) -> str:
    return words[:1].upper() + words[1:]
