"""A repository's template for the description of its pull requests."""

from pathlib import Path
from typing import Final

from model.base.text import make_visible
from model.git.run import git

_PLACES: Final = (".github/", "", "docs/")
"""Where GitHub looks, in this order, whatever the letters' case."""

_NAMES: Final = ("pull_request_template.md", "pull_request_template.txt", "pull_request_template")
_FILE: Final = "blob"
_LINK: Final = "120000"
_MOST: Final = 20_000
"""Bytes of a template that are read."""


async def pull_request_template(path: Path) -> str:
    """The template in the last commit of the worktree at `path`; empty when there is none.

    It is read from the commit and not from the disk, where it might be a link to anything.
    """
    listed = await git(path, "ls-tree", "-z", "HEAD", *(place or "./" for place in _PLACES))
    files: dict[str, str] = {}
    for entry in listed.fields:
        about, _, name = entry.partition("\t")
        mode, kind, blob = about.split(" ")
        if kind == _FILE and mode != _LINK:
            files.setdefault(name.lower(), blob)
    wanted = (place + name for place in _PLACES for name in _NAMES)
    blob = next((files[name] for name in wanted if name in files), "")
    if not blob:
        return ""
    text = await git(path, "cat-file", "blob", blob, most=_MOST)
    return make_visible(text.raw.decode("utf-8", "replace")).strip()
