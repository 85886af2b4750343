"""Commands that lie in folders as Markdown files, as several programs keep them: a file for each
command, or for each skill a folder with a `SKILL.md`. Reads files: call it in a thread.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from model.domain.resources import AgentCommand

MOST: Final = 500
"""Files, and folders, that are looked at below a folder."""

_HEAD: Final = 16 * 1024
"""Bytes that are read of a file; what is told of the command stands at its beginning."""

_FOLDED: Final = (">", ">-", "|", "|-")

_DEEPEST: Final = 5
"""Folders within each other; a link may lead back up."""


def commands_in(folder: Path, separator: str) -> Iterator[AgentCommand]:
    """A command for each file in the folder and below: its name is its path, with `separator`s."""
    for file in islice(_files(folder, ".md"), MOST):
        name = separator.join(file.relative_to(folder).with_suffix("").parts)
        yield from _read(file, name)


def skills_in(folder: Path) -> Iterator[AgentCommand]:
    """A command for each skill in the folder that people may call by its name."""
    for file in islice(_files(folder, "SKILL.md"), MOST):
        yield from _read(file)


def _files(folder: Path, ending: str) -> Iterator[Path]:
    for place, folders, names in islice(os.walk(folder, followlinks=True), MOST):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".")) if depth < _DEEPEST else []
        yield from (Path(place, name) for name in sorted(names) if name.endswith(ending))


def _read(file: Path, name: str = "") -> Iterator[AgentCommand]:
    """The command, unless nobody may call it or it cannot be read."""
    try:
        if not file.is_file():
            return  # a pipe would keep us waiting
        with file.open("rb") as opened:
            text = opened.read(_HEAD).decode(errors="replace")
    except OSError:
        return
    head, body = _parts(text)
    if head.get("user-invocable") == "false":
        return
    first = next((line.strip() for line in body if line.strip()), "")
    yield AgentCommand(
        name=name or head.get("name") or file.parent.name,
        description=head.get("description") or first,
        argument_hint=head.get("argument-hint", ""),
    )


def _parts(text: str) -> tuple[dict[str, str], list[str]]:
    """What the head between two `---` says in words, and the lines after it."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---" or "---" not in lines[1:]:
        return {}, lines
    end = lines.index("---", 1)
    head: dict[str, str] = {}
    key = ""
    for line in lines[1:end]:
        if line.startswith((" ", "\t")):
            head[key] = f"{head.get(key, '')} {line.strip()}".strip()
        else:
            key, _, value = line.partition(":")
            # A text may begin on the next line, after a sign that says so.
            head[key] = "" if (value := value.strip()) in _FOLDED else value.strip("'\"")
    return head, lines[end + 1 :]
