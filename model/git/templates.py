"""A repository's template for pull request descriptions."""

from pathlib import Path
from typing import Final

from model.base.text import make_visible
from model.git.run import git

_FOLDERS: Final = (".github/", "", "docs/")
"""Where GitHub searches, in this order, ignoring case."""

_NAMES: Final = ("pull_request_template.md", "pull_request_template.txt", "pull_request_template")
_FILE: Final = "blob"
_LINK: Final = "120000"
_MAX_BYTES: Final = 20_000
"""Bytes of a template that are read."""


async def read_pull_request_template(path: Path) -> str:
    """Return the template in the last commit of the worktree at `path`, or an empty string.

    It is read from the commit because the file on disk may be a link to anything.
    """
    listed = await git(path, "ls-tree", "-z", "HEAD", *(folder or "./" for folder in _FOLDERS))
    files: dict[str, str] = {}
    for entry in listed.fields:
        attributes, _, name = entry.partition("\t")
        mode, kind, blob = attributes.split(" ")
        if kind == _FILE and mode != _LINK:
            files.setdefault(name.lower(), blob)
    candidates = (folder + name for folder in _FOLDERS for name in _NAMES)
    blob = next((files[name] for name in candidates if name in files), "")
    if not blob:
        return ""
    text = await git(path, "cat-file", "blob", blob, max_bytes=_MAX_BYTES)
    return make_visible(text.raw_stdout.decode("utf-8", "replace")).strip()
