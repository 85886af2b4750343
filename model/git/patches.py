"""A file's difference in git's own bytes: cut into hunks, shown to people, given back to git.

What people see is cleaned, so it can never be applied. A hunk is named by the hash of its bytes
instead: who sees it can name it, and a file that changed meanwhile has no hunk of that name.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from model.git.diff import cleaned

_HUNK: Final = b"\n@@ "
_RETURN: Final = "␍"
"""Stands for a carriage return that only some of a file's lines end with."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The difference of one file."""

    raw: bytes
    head: bytes
    """All before the first hunk; with a line break at its end."""
    hunks: tuple[bytes, ...]
    """Each from its `@@` on, with a line break at its end."""

    @property
    def digest(self) -> str:
        """The name of this difference; another one has another."""
        return digest(self.raw)

    def names(self, *, cut: bool = False) -> list[str]:
        """The hunks' names; the last one of a difference that was `cut` has none."""
        names = [digest(hunk) for hunk in self.hunks]
        return [*names[:-1], ""] if cut and names else names

    def of_hunk(self, name: str) -> bytes | None:
        """A patch that changes what this hunk changes and neither name nor mode; None: not here."""
        found = next((hunk for hunk in self.hunks if digest(hunk) == name), None)
        after = next((line for line in self.head.split(b"\n") if line.startswith(b"+++ ")), b"")
        if found is None or not after:
            return None
        # Both sides under the new name: the rest of a rename is not asked for.
        quote = b'"' if after.startswith(b'+++ "') else b""
        before = b"--- " + quote + b"a/" + after.removeprefix(b"+++ " + quote + b"b/")
        return before + b"\n" + after + b"\n" + found

    def shown(self) -> str:
        """The difference as text for any screen, one row for each of git's lines."""
        text = self.raw.decode("utf-8", "replace")
        if "\r" in text:
            body = b"\n".join(self.hunks).split(b"\n")
            lines = [line for line in body if line[:1] in (b" ", b"+", b"-") and line[:1]]
            if all(line.endswith(b"\r") for line in lines):
                text = text.replace("\r\n", "\n")
            text = text.replace("\r", _RETURN)
        return cleaned(text)


def file_patch(raw: bytes) -> FilePatch:
    """Cut the difference of one file into its hunks."""
    head, *hunks = raw.split(_HUNK)
    if not hunks:
        return FilePatch(raw, raw, ())
    whole = [_HUNK[1:] + hunk + b"\n" for hunk in hunks]
    whole[-1] = whole[-1].removesuffix(b"\n")
    return FilePatch(raw, head + b"\n", tuple(whole))


def digest(data: bytes) -> str:
    """Sixteen hexadecimal digits that name these bytes."""
    return hashlib.sha256(data).hexdigest()[:16]
