"""A message that is being written: its text, and what stands behind the chips in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

FOLD_LINES: Final = 20
FOLD_CHARACTERS: Final = 4_000
UNFOLD_LIMIT: Final = 200_000
"""Characters of a paste that are still shown when somebody asks: more makes each key slow."""


@dataclass(slots=True)
class Draft:
    """A text with chips, such as `[pasted 1,234 lines]` and `[image map.png]`."""

    text: str = ""
    pastes: dict[str, str] = field(default_factory=dict)
    """What was pasted, by its chip."""
    images: dict[str, str] = field(default_factory=dict)
    """Paths of images, by their chips."""

    @classmethod
    def of(cls, text: str, images: Iterable[str] = ()) -> "Draft":
        """A message that was whole already, as one to write on: folded where it is long."""
        draft = cls()
        draft.text = draft.fold(text) if is_long(text) else text
        for path in images:
            draft.text = f"{draft.text} {draft.attach(path)}".lstrip()
        return draft

    def __bool__(self) -> bool:
        return bool(self.text)

    def full(self) -> str:
        """What is sent: pastes unfolded. Chips of images keep their places, unless they are all."""
        if not self.pastes and not self.images:
            return self.text
        text = _replaced(self.text, self.pastes)
        return "" if not _replaced(self.text, dict.fromkeys(self.images, "")).strip() else text

    def whole(self) -> str:
        """All of the text, pastes unfolded, with the chips of images as they are."""
        return _replaced(self.text, self.pastes)

    def with_images(self, other: "Draft") -> "Draft":
        """The same text; chips of images in it stand for what they stand for in `other`."""
        images = {chip: path for chip, path in other.images.items() if chip in self.whole()}
        return Draft(self.text, self.pastes, {**self.images, **images})

    def image_paths(self) -> tuple[str, ...]:
        """The images that are sent, in the order of their chips."""
        found = [path for chip, path in self.images.items() if chip in self.text]
        return tuple(sorted(found, key=lambda path: self.text.index(self._chip_of(path))))

    def fold(self, text: str) -> str:
        """A chip for a pasted text; for the same text, the same chip."""
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > FOLD_LINES else f"{len(text):,} characters"
        return _kept(self.pastes, f"pasted {size}", text)

    def attach(self, path: str) -> str:
        """A chip for an image."""
        name = re.sub(r"[\[\]]", "", PurePath(path).name)
        return _kept(self.images, f"image {name}", path)

    def chip_before(self, text: str) -> str:
        """The chip that `text` ends with, or nothing."""
        chips = (*self.pastes, *self.images)
        return next((chip for chip in chips if text.endswith(chip)), "")

    def pruned(self, text: str) -> "Draft":
        """The same chips, those that are not in `text` left out."""
        return Draft(
            text,
            {chip: paste for chip, paste in self.pastes.items() if chip in text},
            {chip: path for chip, path in self.images.items() if chip in text},
        )

    def before(self, other: "Draft") -> "Draft":
        """Both, this one first; of equal chips with different contents each gets its own."""
        if not self or not other:
            return self or other
        both = Draft("", dict(self.pastes), dict(self.images))
        names = {chip: both.fold(paste) for chip, paste in other.pastes.items()}
        names |= {chip: both.attach(path) for chip, path in other.images.items()}
        both.text = f"{self.text.rstrip()}\n\n{_replaced(other.text, names)}"
        return both

    def _chip_of(self, path: str) -> str:
        return next(chip for chip, other in self.images.items() if other == path)


def is_long(text: str) -> bool:
    """Whether a text is shown as a chip."""
    return len(text) > FOLD_CHARACTERS or line_count(text) > FOLD_LINES


def line_count(text: str) -> int:
    """Lines, of which the last may end with a break."""
    return text.count("\n") + (not text.endswith("\n"))


def _kept(chips: dict[str, str], words: str, content: str) -> str:
    chip, number = f"[{words}]", 1
    while chips.get(chip, content) != content:
        number += 1
        chip = f"[{words}, {number}]"
    chips[chip] = content
    return chip


def _replaced(text: str, chips: dict[str, str]) -> str:
    """In one pass: what stands behind one chip may look like another."""
    if not chips:
        return text
    return re.sub("|".join(map(re.escape, chips)), lambda found: chips[found[0]], text)
