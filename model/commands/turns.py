"""Implements `model.api.turns`."""

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from model.api import turns as api
from model.api.changes import FileDiff
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.chat.rewinding import ConversationPoint, RewoundConversation, require_idle
from model.commands.changes import as_resource
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.sessions import TurnUndone
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.sessions import Session
from model.domain.turns import Turn, Undo, UndoScope
from model.domain.worktrees import Worktree
from model.git import changes
from model.git.diff import read_diff_between
from model.git.snapshots import files
from model.git.snapshots.capture import write_tree
from model.git.snapshots.restore import read_state
from model.state import State
from model.turns.undoing import UndoPlan, make_undo
from model.worktrees import creation, require_worktree
from model.worktrees.announcing import announce
from model.worktrees.included_files import report_problems
from model.worktrees.lookup import refuse_while_unsettled
from model.worktrees.new_files import add_files

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_MESSAGES: Final = 100
"""Messages of a turn among which those that were sent into it are looked for."""


@implements(api.list_turns)
async def list_turns(
    workspace: "Workspace", session_id: str, limit: int | None = None, before: int | None = None
) -> list[api.TurnSummary]:
    session_in(workspace.store.state, session_id)
    turns = await workspace.store.turns(session_id, before=before, limit=limit)
    return await asyncio.to_thread(lambda: [_summarize(turn) for turn in turns])


@implements(api.get_turn_diff)
async def get_turn_diff(
    workspace: "Workspace", turn_id: str, path: str | None = None
) -> api.TurnDiff:
    turn = await _find_recorded(workspace, turn_id)
    root = Path(_worktree_of(workspace, turn).path)
    before, after = turn.before_tree, turn.after_tree
    found = await changes.list_files_between(root, before, after)
    if path is not None:
        patch, _ = await changes.read_patch_between(root, before, after, path)
        text = await asyncio.to_thread(patch.to_text)
        found = [file for file in found if changes.to_display_name(file.name) == path]
    else:
        text = await read_diff_between(root, before, after)
    return api.TurnDiff(turn_id=turn.id, files=[as_resource(file) for file in found], text=text)


@implements(api.get_turn_file_diff)
async def get_turn_file_diff(workspace: "Workspace", turn_id: str, path: str) -> FileDiff:
    turn = await _find_recorded(workspace, turn_id)
    root = Path(_worktree_of(workspace, turn).path)
    patch, cut = await changes.read_patch_between(root, turn.before_tree, turn.after_tree, path)
    text = await asyncio.to_thread(patch.to_text)
    return FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.hunk_names(cut=cut))


@implements(api.preview_undo)
async def preview_undo(
    workspace: "Workspace", turn_id: str, through: str | None = None
) -> api.UndoPreview:
    turns = await workspace.undoer.select(turn_id, through)
    worktree = _worktree_of(workspace, turns[0])
    plan = await workspace.undoer.preview(worktree, turns)
    return _describe([turn.id for turn in turns], plan)


@implements(api.undo_turn)
async def undo_turn(
    workspace: "Workspace",
    turn_id: str,
    what: UndoScope,
    through: str | None = None,
    choices: dict[str, api.UndoChoice] | None = None,
) -> api.UndoResult:
    first = await workspace.undoer.find_turn(turn_id)
    async with workspace.undoer.lock(first.worktree_id):
        worktree = _worktree_of(workspace, first)
        session = require_idle(workspace.store.state, first.session_id)
        if what != "files":
            return await _undo_conversation(workspace, first, session, what, choices or {})
        turns = await workspace.undoer.select(turn_id, through)
        undo = await workspace.undoer.undo(worktree, turns, what, choices or {})
        return await _record(workspace, turns, undo)


@implements(api.preview_redo)
async def preview_redo(workspace: "Workspace", turn_id: str) -> api.UndoPreview:
    turn, undo = await _find_undone(workspace, turn_id)
    plan = await workspace.undoer.preview_redo(_worktree_of(workspace, turn), undo)
    return _describe(undo.turn_ids, plan)


@implements(api.redo_turn)
async def redo_turn(
    workspace: "Workspace", turn_id: str, choices: dict[str, api.UndoChoice] | None = None
) -> api.UndoResult:
    worktree_id = (await workspace.undoer.find_turn(turn_id)).worktree_id
    async with workspace.undoer.lock(worktree_id):
        turn, undo = await _find_undone(workspace, turn_id)
        worktree = _worktree_of(workspace, turn)
        require_idle(workspace.store.state, turn.session_id)
        if undo.conversation is not None:
            rewound = RewoundConversation.model_validate(undo.conversation)
            await workspace.chats.restore(turn.session_id, rewound)
        try:
            await workspace.undoer.redo(worktree, undo, choices or {})
        except SpinneyError:
            if undo.conversation is not None:
                await _rewind(workspace, await workspace.undoer.find_turn(undo.turn_ids[-1]))
            raise
        workspace.poller.refresh(worktree.id)
        turns = [await workspace.undoer.find_turn(each) for each in undo.turn_ids]
        return await _record(workspace, turns, None)


@implements(api.fork_session)
async def fork_session(
    workspace: "Workspace",
    session_id: str,
    turn_id: str | None = None,
    new_worktree: bool = False,
    name: str | None = None,
) -> Session:
    session = session_in(workspace.store.state, session_id)
    source = require_worktree(workspace.store.state, session.worktree_id)
    refuse_while_unsettled(source)
    point, tree = None, ""
    if turn_id is not None:
        turn = await workspace.undoer.find_turn(turn_id)
        if turn.session_id != session.id:
            raise SpinneyError("The turn belongs to another session.", "not_found")
        point, tree = await _point_after(workspace, turn), turn.after_tree
        if new_worktree and not tree:
            raise SpinneyError(
                f"There are no files of this turn. {turn.problem}".strip(), "conflict"
            )
    elif new_worktree:
        require_idle(workspace.store.state, session.id)
    target = await _copy_worktree(workspace, source, tree) if new_worktree else source
    fork = await workspace.chats.fork(session.id, point, target.id, name)
    await workspace.uploads.share(session.id, fork.id)
    return fork


# Internal --------------------------------------------------------------------------------------


async def _copy_worktree(workspace: "Workspace", source: Worktree, tree: str) -> Worktree:
    """Create a worktree with the commit and the files of a snapshot, or with those of now."""
    store, root = workspace.store, Path(source.path)
    tree = tree or (await write_tree(root)).tree
    kept = await read_state(root, tree)
    announced = await announce(
        store, workspace.directories, source.project_id, kept.commit or source.branch
    )
    tasks = workspace.cancellable_tasks
    if not await creation.create(store, tasks, announced, copy_files=False):
        raise SpinneyError("The new worktree could not be created.", "conflict")
    path = Path(announced.path)
    changed = await files.diff_trees(path, "HEAD", tree)
    wanted = {name: after for name, (_, after) in changed.items()}
    await files.write_entries(path, wanted, kept.modes)
    await add_files(store, announced.id, root, path)
    report_problems(store, announced.id)

    def compare_with_same_base(state: State) -> list[Event]:
        copy = require_worktree(state, announced.id)
        updates = {"base_branch": source.base_branch}
        return [WorktreeUpdated(worktree=copy.model_copy(update=updates))]

    await store.accept(compare_with_same_base)
    workspace.run_in_background(workspace.scripts.run_setup(announced.id))
    return store.state.worktrees[announced.id]


async def _undo_conversation(
    workspace: "Workspace",
    first: Turn,
    session: Session,
    what: UndoScope,
    choices: dict[str, Any],
) -> api.UndoResult:
    """Undo a turn and all later ones; the files first, since that can be refused."""
    [newest] = await workspace.store.turns(session.id, limit=1)
    turns = await workspace.undoer.select(first.id, newest.id, what)
    worktree = _worktree_of(workspace, first)
    if what == "both":
        undo = await workspace.undoer.undo(worktree, turns, what, choices)
    else:
        undo = make_undo(turns, what)
    try:
        rewound = await _rewind(workspace, first)
    except SpinneyError:
        if what == "both":
            await _record(workspace, turns, undo.model_copy(update={"what": "files"}))
        raise
    kept = rewound.model_dump(mode="json")
    return await _record(workspace, turns, undo.model_copy(update={"conversation": kept}))


async def _rewind(workspace: "Workspace", first: Turn) -> RewoundConversation:
    return await workspace.chats.rewind(first.session_id, keep=_point_before(first))


def _point_before(turn: Turn) -> ConversationPoint:
    """Return the point of the conversation at which the turn began."""
    if not turn.message_id:
        raise SpinneyError(
            "This turn began without a message, so the conversation cannot go back to before it."
            " Undo its files only, or the turn before it.",
            "conflict",
        )
    return ConversationPoint(
        message_id=turn.message_id,
        backend=turn.backend,
        resume_token=turn.start_token,
        mark=turn.start_mark,
    )


async def _point_after(workspace: "Workspace", turn: Turn) -> ConversationPoint | None:
    """Return the end of a turn; `None` if it is the newest one of the conversation."""
    later = [
        each
        for each in await workspace.store.turns(turn.session_id, turn.number + 1)
        if each.message_id
    ]
    if not later:
        return None
    return ConversationPoint(
        message_id=later[0].message_id,
        backend=turn.backend,
        resume_token=turn.resume_token,
        mark=turn.mark,
    )


async def _record(
    workspace: "Workspace", turns: Sequence[Turn], undo: Undo | None
) -> api.UndoResult:
    changed = [
        turn.model_copy(update={"undone": _next_undo(turn, undo), "undo_began": ""})
        for turn in turns
    ]

    def make_events(state: State) -> list[Event]:
        session_in(state, turns[0].session_id)  # Another client may have deleted it meanwhile.
        return [TurnUndone(turn=turn) for turn in changed]

    await workspace.store.accept(make_events)
    workspace.poller.refresh(turns[0].worktree_id)
    return api.UndoResult(
        turns=[_summarize(turn) for turn in changed],
        message=await _read_prompt(workspace, turns[-1]),
        submodules=undo.submodules if undo is not None else [],
    )


async def _read_prompt(workspace: "Workspace", turn: Turn) -> str:
    """Return the text of the message that began a turn, and of those sent into it."""
    ids = [message.id for message in await workspace.store.outline(turn.session_id)]
    if turn.message_id not in ids:
        return ""
    count = len(ids) - ids.index(turn.message_id)
    page = await workspace.store.messages(
        turn.session_id, _MAX_MESSAGES, max(0, count - _MAX_MESSAGES)
    )
    of_user = [message for message in page.messages[-count:] if message.role == "user"]
    later = itertools.takewhile(lambda message: message.steered, of_user[1:])
    return "\n\n".join(message.text for message in (*of_user[:1], *later))


def _next_undo(turn: Turn, undo: Undo | None) -> Undo | None:
    """Return the record of a turn that is undone, or whose undo is taken back."""
    if undo is not None:
        return undo.model_copy(update={"previous": turn.undone})
    return turn.undone.previous if turn.undone else None


async def _find_undone(workspace: "Workspace", turn_id: str) -> tuple[Turn, Undo]:
    turn = await workspace.undoer.find_turn(turn_id)
    if turn.undone is None:
        raise SpinneyError("This turn is not undone.", "conflict")
    return turn, turn.undone


async def _find_recorded(workspace: "Workspace", turn_id: str) -> Turn:
    turn = await workspace.undoer.find_turn(turn_id)
    if not turn.before_tree or not turn.after_tree:
        raise SpinneyError(
            f"There is no diff of this turn: {turn.problem or 'it is still running.'}", "conflict"
        )
    return turn


def _worktree_of(workspace: "Workspace", turn: Turn) -> Worktree:
    worktree = require_worktree(workspace.store.state, turn.worktree_id)
    refuse_while_unsettled(worktree)
    return worktree


def _describe(turn_ids: list[str], plan: UndoPlan) -> api.UndoPreview:
    files = [
        api.UndoneFile(
            path=name,
            action=file.action,
            others=file.path in plan.others,
            deletes=file.before is None,
            has_markers=file.markers is not None,
        )
        for name, file in plan.files.items()
    ]
    files += [
        api.UndoneFile(path=name, action="submodule")
        for name in sorted(plan.submodules - plan.files.keys())
    ]
    return api.UndoPreview(turn_ids=turn_ids, files=files)


def _summarize(turn: Turn) -> api.TurnSummary:
    return api.TurnSummary(
        turn_id=turn.id,
        number=turn.number,
        message_id=turn.message_id,
        prompt=turn.prompt,
        started_at=turn.started_at,
        ended_at=turn.ended_at,
        files=turn.files,
        undone=turn.undone.what if turn.undone else None,
        undone_at=turn.undone.at if turn.undone else None,
        problem=turn.problem,
    )
