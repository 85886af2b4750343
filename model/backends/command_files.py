"""Slash commands and skills stored as Markdown files, a format that several programs share: a file
for each command, or for each skill a folder with a `SKILL.md`. Reads files: call it in a thread.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from model.domain.agent_commands import AgentCommand

FILE_LIMIT: Final = 500
"""Maximum number of files, and of folders, scanned below a folder."""

_HEAD_BYTES: Final = 16 * 1024
"""Bytes read of a file; the command's description is at its beginning."""

_BLOCK_SCALARS: Final = (">", ">-", "|", "|-")

_MAX_DEPTH: Final = 5
"""Maximum folder depth; a symbolic link may lead back up."""


def read_commands(folder: Path, separator: str) -> Iterator[AgentCommand]:
    """A command for each file in or below the folder, named by its path joined with `separator`."""
    for file in islice(_files(folder, ".md"), FILE_LIMIT):
        name = separator.join(file.relative_to(folder).with_suffix("").parts)
        yield from _read(file, name)


def read_skills(folder: Path) -> Iterator[AgentCommand]:
    """A command for each skill in the folder that users may invoke by name."""
    for file in islice(_files(folder, "SKILL.md"), FILE_LIMIT):
        yield from _read(file)


def _files(folder: Path, suffix: str) -> Iterator[Path]:
    for directory, folders, names in islice(os.walk(folder, followlinks=True), FILE_LIMIT):
        depth = len(Path(directory).relative_to(folder).parts)
        folders[:] = (
            sorted(n for n in folders if not n.startswith(".")) if depth < _MAX_DEPTH else []
        )
        yield from (Path(directory, name) for name in sorted(names) if name.endswith(suffix))


def _read(file: Path, name: str = "") -> Iterator[AgentCommand]:
    """The command, unless users may not invoke it or it cannot be read."""
    try:
        if not file.is_file():
            return  # opening a named pipe would block
        with file.open("rb") as stream:
            text = stream.read(_HEAD_BYTES).decode(errors="replace")
    except OSError:
        return
    fields, body = _split_front_matter(text)
    if fields.get("user-invocable") == "false":
        return
    first = next((line.strip() for line in body if line.strip()), "")
    yield AgentCommand(
        name=name or fields.get("name") or file.parent.name,
        description=fields.get("description") or first,
        argument_hint=fields.get("argument-hint", ""),
    )


def _split_front_matter(text: str) -> tuple[dict[str, str], list[str]]:
    """The fields of the front matter between two `---`, and the lines after it."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---" or "---" not in lines[1:]:
        return {}, lines
    end = lines.index("---", 1)
    fields: dict[str, str] = {}
    key = ""
    for line in lines[1:end]:
        if line.startswith((" ", "\t")):
            fields[key] = f"{fields.get(key, '')} {line.strip()}".strip()
        else:
            key, _, value = line.partition(":")
            # A block scalar: the text begins on the next line.
            fields[key] = "" if (value := value.strip()) in _BLOCK_SCALARS else value.strip("'\"")
    return fields, lines[end + 1 :]
