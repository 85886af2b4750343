"""A message draft: its text, and the content of the chips in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

MAX_LINES: Final = 20
MAX_CHARACTERS: Final = 4_000
UNFOLD_LIMIT: Final = 200_000
"""Characters of a paste that can be expanded in the box: more makes each key slow."""


@dataclass(slots=True)
class Draft:
    """A text with chips, such as `[pasted 1,234 lines]` and `[image map.png]`."""

    text: str = ""
    pastes: dict[str, str] = field(default_factory=dict)
    """Pasted texts by chip."""
    images: dict[str, str] = field(default_factory=dict)
    """Image paths by chip."""

    @classmethod
    def from_text(cls, text: str, images: Iterable[str] = ()) -> "Draft":
        """Create a draft from a message, with a chip in place of a long text."""
        draft = cls()
        draft.text = draft.add_paste(text) if is_long(text) else text
        for path in images:
            draft.text = f"{draft.text} {draft.add_image(path)}".lstrip()
        return draft

    def __bool__(self) -> bool:
        return bool(self.text)

    def text_to_send(self) -> str:
        """The text to send: pastes expanded, image chips kept unless there is nothing else."""
        if not self.pastes and not self.images:
            return self.text
        text = _replace_chips(self.text, self.pastes)
        return "" if not _replace_chips(self.text, dict.fromkeys(self.images, "")).strip() else text

    def expanded_text(self) -> str:
        """The text with pastes expanded and image chips kept."""
        return _replace_chips(self.text, self.pastes)

    def with_images(self, other: "Draft") -> "Draft":
        """A copy with the images of `other` whose chips are in the text."""
        images = {chip: path for chip, path in other.images.items() if chip in self.expanded_text()}
        return Draft(self.text, self.pastes, {**self.images, **images})

    def image_paths(self) -> tuple[str, ...]:
        """The paths of the images to send, in the order of their chips."""
        paths = [path for chip, path in self.images.items() if chip in self.text]
        return tuple(sorted(paths, key=lambda path: self.text.index(self._chip_of(path))))

    def add_paste(self, text: str) -> str:
        """Add a pasted text and return its chip; equal texts share one chip."""
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > MAX_LINES else f"{len(text):,} characters"
        return _add_chip(self.pastes, f"pasted {size}", text)

    def add_image(self, path: str) -> str:
        """Add an image and return its chip."""
        name = re.sub(r"[\[\]]", "", PurePath(path).name)
        return _add_chip(self.images, f"image {name}", path)

    def chip_before(self, text: str) -> str:
        """The chip that `text` ends with, or ''."""
        chips = (*self.pastes, *self.images)
        return next((chip for chip in chips if text.endswith(chip)), "")

    def prune(self, text: str) -> "Draft":
        """A draft with this text and only the chips that are in it."""
        return Draft(
            text,
            {chip: paste for chip, paste in self.pastes.items() if chip in text},
            {chip: path for chip, path in self.images.items() if chip in text},
        )

    def join(self, other: "Draft") -> "Draft":
        """Join both drafts, this one first; equal chips with different content are renamed."""
        if not self or not other:
            return self or other
        joined = Draft("", dict(self.pastes), dict(self.images))
        renamed = {chip: joined.add_paste(paste) for chip, paste in other.pastes.items()}
        renamed |= {chip: joined.add_image(path) for chip, path in other.images.items()}
        joined.text = f"{self.text.rstrip()}\n\n{_replace_chips(other.text, renamed)}"
        return joined

    def _chip_of(self, path: str) -> str:
        return next(chip for chip, other in self.images.items() if other == path)


def is_long(text: str) -> bool:
    """Whether a pasted text is replaced by a chip."""
    return len(text) > MAX_CHARACTERS or line_count(text) > MAX_LINES


def line_count(text: str) -> int:
    """The number of lines; a final line break does not start a new one."""
    return text.count("\n") + (not text.endswith("\n"))


def _add_chip(chips: dict[str, str], label: str, content: str) -> str:
    chip, number = f"[{label}]", 1
    while chips.get(chip, content) != content:
        number += 1
        chip = f"[{label}, {number}]"
    chips[chip] = content
    return chip


def _replace_chips(text: str, chips: dict[str, str]) -> str:
    """Replace chips in one pass, because the content of a chip may look like another chip."""
    if not chips:
        return text
    return re.sub("|".join(map(re.escape, chips)), lambda paths: chips[paths[0]], text)
