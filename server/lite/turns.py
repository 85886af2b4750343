"""The pages of a session's turns: the list, and what an undo or a redo would do to each file."""

import time
from typing import Final

from model.api.turns import (
    TurnSummary,
    UndoneFile,
    UndoPreview,
    list_turns,
    preview_redo,
    preview_undo,
    redo_turn,
    undo_turn,
)
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.sessions import Session
from model.domain.turns import UndoScope
from model.runtime.workspace import Workspace
from server.lite.html import Element, Node, make
from server.lite.layout import render_page
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import query_number

_MAX_TURNS: Final = 30
"""Turns on a page of the list."""
_MAX_FILES: Final = 60
"""Files of an undo that are listed, each with its choices."""
_PATH_LENGTH: Final = 100

_UNDONE: Final[dict[UndoScope, str]] = {
    "files": "files undone",
    "conversation": "taken back, files kept",
    "both": "undone",
}
_SCOPES: Final[dict[UndoScope, str]] = {
    "both": "Files and conversation",
    "files": "Files only",
    "conversation": "Conversation only",
}
_ACTIONS: Final = {
    "restore": "restored",
    "merge": "merged; later changes stay",
    "conflict": "changed since: choose",
    "keep": "kept as it is",
    "submodule": "a submodule: not undone",
}


async def render_turns(page_request: PageRequest, session: Session) -> str:
    """The turns of a session, newest first; with `undo` or `redo` in the query, its preview."""
    workspace = page_request.workspace
    if number := query_number(page_request, "undo"):
        turn = await _find_turn(workspace, session, number)
        since = await workspace.store.turns(session.id, turn.number + 1)
        later = [each.id for each in since if each.undone is None]
        return await _render_undo(page_request, session, turn, later)
    if number := query_number(page_request, "redo"):
        turn = await _find_turn(workspace, session, number)
        return await _render_redo(page_request, session, turn)
    before = query_number(page_request, "before")
    cursor = {"before": before} if before > 0 else {}
    turns: list[TurnSummary] = await run(
        workspace, list_turns, {"sessionId": session.id, "limit": _MAX_TURNS, **cursor}
    )
    rows = [_turn_row(page_request, session, turn) for turn in reversed(turns)]
    earlier = turns[0].number - 1 if turns else 0
    path = f"/lite/sessions/{session.id}/turns?before={turns[0].number}" if earlier else ""
    return render_page(
        page_request,
        "Turns",
        _back_link(session),
        make("ul", rows, class_="rows") if rows else make("p", "There are no turns yet."),
        nav(link(count(earlier, "earlier turn"), path)) if earlier else None,
    )


async def run_turn_form(page_request: PageRequest, session: Session, form: Form) -> None:
    """Undo or redo a turn as a submitted form says. Raises `SpinneyError`."""
    workspace, turn_id = page_request.workspace, form.get("turn")
    turn = await workspace.store.turn(turn_id)
    if turn is None or turn.session_id != session.id:
        raise SpinneyError("There is no such turn.", "not_found")
    paths = form.all("path")
    choices = {
        path: choice for index, path in enumerate(paths) if (choice := form.get(f"file{index}"))
    }
    arguments = {"turnId": turn_id, "choices": choices}
    if form.get("redo"):
        await run(workspace, redo_turn, arguments)
    else:
        await run(workspace, undo_turn, {**arguments, "what": form.get("what")})


async def _find_turn(workspace: Workspace, session: Session, number: int) -> TurnSummary:
    arguments = {"sessionId": session.id, "limit": 1, "before": number + 1}
    found: list[TurnSummary] = await run(workspace, list_turns, arguments)
    if not found or found[0].number != number:
        raise SpinneyError("There is no such turn.", "not_found")
    return found[0]


def _turn_row(page_request: PageRequest, session: Session, turn: TurnSummary) -> Element:
    about = [time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.started_at)), _describe(turn)]
    if turn.undone is not None:
        about.append(_UNDONE[turn.undone])
    title = shorten(turn.prompt) or "The agent began by itself"
    url = f"/lite/sessions/{session.id}/turns"
    control: Node = None
    if turn.undone is not None:
        control = page_request.make_form(
            url,
            hidden("turn", turn.turn_id),
            hidden("number", str(turn.number)),
            button("Redo", "redo", "1"),
        )
    elif turn.ended_at is not None:
        control = nav(link("Undo", f"{url}?undo={turn.number}"))
    return make("li", make("b", f"{turn.number}. {title}"), f" {' · '.join(about)}", control)


def _describe(turn: TurnSummary) -> str:
    if turn.ended_at is None:
        return "running"
    if not turn.files:
        return "not recorded" if turn.problem else "no changes"
    added = sum(file.added or 0 for file in turn.files)
    removed = sum(file.removed or 0 for file in turn.files)
    return f"{count(len(turn.files), 'file')} +{added} −{removed}"


async def _render_undo(
    page_request: PageRequest, session: Session, turn: TurnSummary, later: list[str]
) -> str:
    """The confirmation page of an undo. Files are those of this turn and of all `later` ones."""
    preview = await _preview(page_request, turn, later)
    scopes = [scope for scope in _SCOPES if turn.message_id or scope == "files"]
    typed = page_request.typed
    what = typed.get("what") or scopes[0]
    form = page_request.make_form(
        f"/lite/sessions/{session.id}/turns",
        hidden("turn", turn.turn_id),
        hidden("number", str(turn.number)),
        make(
            "fieldset",
            make("legend", "What to undo"),
            [_radio("what", scope, _SCOPES[scope], chosen=scope == what) for scope in scopes],
        ),
        make("p", f"{count(len(later), 'later turn')} will be taken back with the conversation.")
        if later and turn.message_id
        else None,
        _file_fields(preview, typed, before="Take it as it was before"),
        make("p", button("Undo", class_="primary")),
    )
    title = f"Undo turn {turn.number}: {shorten(turn.prompt, 60)}"
    return render_page(page_request, title, _back_link(session), form)


async def _render_redo(page_request: PageRequest, session: Session, turn: TurnSummary) -> str:
    """The page of a redo that meets later changes, with a choice for each file."""
    preview = await run(page_request.workspace, preview_redo, {"turnId": turn.turn_id})
    form = page_request.make_form(
        f"/lite/sessions/{session.id}/turns",
        hidden("turn", turn.turn_id),
        hidden("number", str(turn.number)),
        _file_fields(preview, page_request.typed, before="Take it as before the undo"),
        make("p", button("Redo", "redo", "1", class_="primary")),
    )
    title = f"Redo turn {turn.number}: {shorten(turn.prompt, 60)}"
    return render_page(page_request, title, _back_link(session), form)


async def _preview(page_request: PageRequest, turn: TurnSummary, later: list[str]) -> UndoPreview:
    if turn.problem:
        return UndoPreview(turn_ids=[turn.turn_id], files=[])
    through = {"through": later[-1]} if later and turn.message_id else {}
    preview: UndoPreview = await run(
        page_request.workspace, preview_undo, {"turnId": turn.turn_id, **through}
    )
    return preview


def _file_fields(preview: UndoPreview, typed: Form, *, before: str) -> list[Node]:
    """The files with their choices; `before` says what the choice of the other content is."""
    shown = preview.files[:_MAX_FILES]
    fields: list[Node] = [_file_field(at, file, typed, before) for at, file in enumerate(shown)]
    if len(preview.files) > _MAX_FILES:
        fields.append(make("p", f"and {count(len(preview.files) - _MAX_FILES, 'more file')}"))
    return fields


def _file_field(index: int, file: UndoneFile, typed: Form, before: str) -> Element:
    name = f"file{index}"
    chosen = typed.get(name)
    fate = _ACTIONS[file.action]
    if file.others:
        fate = "kept: others changed it, too"
    elif file.deletes and file.action == "restore":
        fate = "deleted"
    if file.action == "submodule":
        return make("p", f"{shorten(file.path, _PATH_LENGTH)}: {fate}")
    choices = {} if file.action == "conflict" and not file.others else {"": "As said"}
    choices |= {"keep": "Keep it as it is", "before": "Delete it" if file.deletes else before}
    choices |= {"markers": "Both, with conflict markers"} if file.has_markers else {}
    return make(
        "fieldset",
        make("legend", f"{shorten(file.path, _PATH_LENGTH)}: {fate}"),
        hidden("path", file.path),
        [_radio(name, value, text, chosen=value == chosen) for value, text in choices.items()],
    )


def _radio(name: str, value: str, text: str, *, chosen: bool = False) -> Element:
    return make("label", make("input", type="radio", name=name, value=value, checked=chosen), text)


def _back_link(session: Session) -> Element:
    return nav(link(f"‹ {shorten(session.name)}", f"/lite/sessions/{session.id}#end"))
