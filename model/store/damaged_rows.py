"""Rows of a damaged file, read as far as they can be, and what stands in the place of the rest.

Nothing here fails: a row of any bytes becomes something that can be shown where it belongs.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from model.base.text import make_visible
from model.domain.resources import (
    Block,
    Message,
    Project,
    Resource,
    Session,
    UnreadableBlock,
    Worktree,
)

R = TypeVar("R", bound=Resource)

NOWHERE: Final = "/unreadable"
"""Where a project or worktree lies whose path is lost: nothing does, so nothing is touched."""

_LOST: Final = "lost"
"""Stands for the id of what something belongs to, where that cannot be read."""

_LONGEST_LINK: Final = 4096
"""Bytes that are read of where a worktree says that its repository is."""

_MOST_LOST: Final = 1000
"""Blocks that may be missing before another; a larger gap is a damaged number."""

_DECODER: Final = json.JSONDecoder()
_SAID: Final = re.compile(r'"(?:text|content|plan)":"')
_ESCAPED: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')


def text_of(value: object) -> str:
    """A column's content as text, whatever type a damaged row gives it."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else "" if value is None else str(value)


def read_block(body: object) -> Block:
    """A block, or what is left of it."""
    raw = text_of(body)
    try:
        return _any_block().validate_json(raw)
    except ValidationError:
        return UnreadableBlock(text=_remains(raw))


def read_message(
    key: str, session_id: str, body: object, blocks: Sequence[tuple[object, object]]
) -> Message:
    """A message with its blocks, pairs of place and body; what is lost stands in its place."""
    content: list[Block] = []
    for place, block in blocks:
        lost = place - len(content) if isinstance(place, int) else 0
        if 0 < lost < _MOST_LOST:
            content += [UnreadableBlock()] * lost
        content.append(read_block(block))
    raw = text_of(body)
    try:
        message = Message.model_validate({**json.loads(raw), "content": []})
    except (ValueError, TypeError, RecursionError):
        message = _mended(Message, raw, {"id": key, "role": "assistant", "timestamp": 0})
        content = content or [UnreadableBlock()]
    # As the columns have it: whoever looks for the message finds it by these.
    return message.model_copy(update={"id": key, "session_id": session_id, "content": content})


def read_resource(kind: type[R], key: str, body: object) -> tuple[R, bool]:
    """A project, worktree or session, and whether it had to be mended."""
    try:
        found = kind.model_validate_json(body if isinstance(body, bytes) else text_of(body))
        if getattr(found, "id", None) == key:
            return found, False
    except ValidationError:
        pass
    return _mended(kind, text_of(body), _stand_ins(kind, key)), True


def with_parents(
    projects: Iterable[Project],
    worktrees: Iterable[Worktree],
    sessions: Iterable[Session],
    mended: Collection[str],
) -> tuple[list[Project], list[Worktree]]:
    """Projects and worktrees with one for each that others belong to and that is lost.

    `mended` are the ids of those that are not known whole.
    """
    known = {project.id: project for project in projects}
    trees = {worktree.id: worktree for worktree in worktrees}
    for session in sessions:
        if session.worktree_id not in trees:
            lost, _ = read_resource(Worktree, session.worktree_id, "")
            trees[lost.id] = lost
    for worktree in trees.values():
        if worktree.project_id not in known:
            known[worktree.project_id], _ = read_resource(Project, worktree.project_id, "")
    for project in list(known.values()):
        if project.path.startswith(NOWHERE) and project.id != _LOST:
            own = [worktree for worktree in trees.values() if worktree.project_id == project.id]
            known[project.id] = _found_again(project, own)
    for folder in {p.parent_id for p in known.values() if p.parent_id}:
        there = known.get(folder) or Project(id=folder, name="unreadable folder", added_at=0)
        if not there.is_folder:
            known[folder] = there.model_copy(update={"is_folder": True, "path": ""})
    paths = {project.id: project.path for project in known.values()}
    for worktree in trees.values():
        if worktree.id in mended and worktree.path == paths[worktree.project_id]:
            # The word for it may be lost, and a project's own directory is never removed.
            trees[worktree.id] = worktree.model_copy(update={"session_type": "base"})
    return list(known.values()), list(trees.values())


def _found_again(project: Project, worktrees: list[Worktree]) -> Project:
    """The project where its worktrees say that it lies, if one does."""
    for worktree in sorted(worktrees, key=lambda worktree: worktree.session_type != "base"):
        is_own = worktree.session_type == "base"
        path = worktree.path if is_own else _repository_of(worktree)
        if path and not path.startswith(NOWHERE):
            branch = worktree.branch if is_own else worktree.base_branch
            told = {"path": path, "name": Path(path).name}
            kept = {"default_branch": project.default_branch or branch or ""}
            return project.model_copy(update={**told, **kept})
    return project


def _repository_of(worktree: Worktree) -> str:
    with suppress(OSError, ValueError):
        with (Path(worktree.path) / ".git").open("rb") as file:
            link = file.read(_LONGEST_LINK).decode()
        if match := re.fullmatch(r"gitdir: (/.+)/\.git/worktrees/[^/]+\s*", link):
            return match[1]
    return ""


@cache
def _any_block() -> TypeAdapter[Block]:
    return TypeAdapter(Block)  # Takes a while to make, which no start waits for.


def _stand_ins(kind: type[Resource], key: str) -> dict[str, Any]:
    """What a resource needs at least."""
    name, path = f"unreadable {kind.__name__.lower()}", f"{NOWHERE}/{key}"
    if kind is Project:
        return {"id": key, "name": name, "path": path, "added_at": 0}
    if kind is Worktree:
        of_worktree = {"project_id": _LOST, "path": path, "branch": "", "created_at": 0}
        return {"id": key, "name": name, **of_worktree}
    return {"id": key, "name": name, "worktree_id": _LOST, "created_at": 0}


def _mended(kind: type[R], raw: str, needed: Mapping[str, Any]) -> R:
    """What can be read of a document; what it needs and has not comes from `needed`."""
    fields = {**needed, **_fields(kind, raw), "id": needed["id"]}
    if fields.get("path") == "" and not fields.get("is_folder"):
        fields["path"] = needed.get("path", "")
    for _ in range(len(fields) + 1):
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            for name in {str(one["loc"][0]) for one in error.errors() if one["loc"]}:
                fields.pop(name, None)
                if name in needed:
                    fields[name] = needed[name]
    return kind.model_validate(needed)


def _fields(kind: type[Resource], raw: str) -> dict[str, Any]:
    """The fields of a document: all of one that is whole, else those that can be picked out."""
    try:
        whole = json.loads(raw)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        return whole
    found: dict[str, Any] = {}
    for name in kind.model_fields:
        # The first of a name is the document's own: what is nested comes later.
        if match := re.search(rf'(?<!\\)"{name}":', raw):
            try:
                value, _ = _DECODER.raw_decode(raw, match.end())
            except (ValueError, RecursionError):
                continue
            if not isinstance(value, list | dict):
                found[name] = value
    return found


def _remains(raw: str) -> str:
    """The text in what is left of a block."""
    match = _SAID.search(raw)
    if match is None:
        return ""
    rest = raw[match.end() :].rstrip("}").removesuffix('"')
    said: str = _ESCAPED.sub(lambda escape: str(json.loads(f'"{escape[0]}"')), rest)
    return make_visible(said)
