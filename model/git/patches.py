"""Patches of single files in git's original bytes: split into hunks, displayed, and applied.

The displayed text is sanitized, so it can never be applied. A hunk is identified by the hash of
its bytes instead; after a file changes, its old hunk names no longer match.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from model.git.diff import clean_text

_HUNK: Final = b"\n@@ "
_VISIBLE_RETURN: Final = "␍"
"""Shown for a carriage return at the end of some, but not all, lines of a file."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The patch of one file."""

    raw: bytes
    header: bytes
    """Everything before the first hunk, ending with a line break."""
    hunks: tuple[bytes, ...]
    """Each starts with its `@@` line and ends with a line break."""

    @property
    def digest(self) -> str:
        """The hash of the patch; changes with its content."""
        return hash_bytes(self.raw)

    def names(self, *, cut: bool = False) -> list[str]:
        """Return the hunks' names; the last hunk of a `cut` patch has an empty name."""
        names = [hash_bytes(hunk) for hunk in self.hunks]
        return [*names[:-1], ""] if cut and names else names

    def extract_hunk(self, name: str) -> bytes | None:
        """Return a patch of this hunk without renames or mode changes; `None` if not found."""
        found = next((hunk for hunk in self.hunks if hash_bytes(hunk) == name), None)
        after = next((line for line in self.header.split(b"\n") if line.startswith(b"+++ ")), b"")
        if found is None or not after:
            return None
        # Both sides use the new name: the rename itself is not part of this patch.
        quote = b'"' if after.startswith(b'+++ "') else b""
        before = b"--- " + quote + b"a/" + after.removeprefix(b"+++ " + quote + b"b/")
        return before + b"\n" + after + b"\n" + found

    def shown(self) -> str:
        """Return the patch as text that is safe to display, one row for each of git's lines."""
        text = self.raw.decode("utf-8", "replace")
        if "\r" in text:
            body = b"\n".join(self.hunks).split(b"\n")
            lines = [line for line in body if line[:1] in (b" ", b"+", b"-") and line[:1]]
            if all(line.endswith(b"\r") for line in lines):
                text = text.replace("\r\n", "\n")
            text = text.replace("\r", _VISIBLE_RETURN)
        return clean_text(text)


def split_patch(raw: bytes) -> FilePatch:
    """Split the patch of one file into its hunks."""
    head, *hunks = raw.split(_HUNK)
    if not hunks:
        return FilePatch(raw, raw, ())
    whole = [_HUNK[1:] + hunk + b"\n" for hunk in hunks]
    whole[-1] = whole[-1].removesuffix(b"\n")
    return FilePatch(raw, head + b"\n", tuple(whole))


def hash_bytes(data: bytes) -> str:
    """Return the first sixteen hexadecimal digits of the SHA-256 hash."""
    return hashlib.sha256(data).hexdigest()[:16]
