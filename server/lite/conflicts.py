"""The pages of conflicts to come: the worktrees of a project that have one, and both versions."""

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from model.api.conflicts import list_conflicts, write_conflict_message
from model.api.sessions import send_chat_message
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.conflicts import WorktreeConflict, list_versions
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.worktrees import require_project
from server.lite.form_actions import message_arguments
from server.lite.html import Element, make
from server.lite.layout import render_page
from server.lite.lists import paginate
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import paginate_text, query_number

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_PATHS: Final = 3
"""Files that are named in the list."""
_NAME_LENGTH: Final = 40


async def render_conflicts(page_request: PageRequest, project_id: str) -> str:
    """The pairs of worktrees that would be in conflict; of one, `of` and `with`, both versions."""
    project = require_project(page_request.state, project_id)
    found = await run(page_request.workspace, list_conflicts, {"projectId": project.id})
    if "of" in page_request.query:
        return _render_versions(page_request, project, found)
    # Each pair is listed from both sides.
    pairs = {frozenset((one.worktree_id, one.partner)): one for one in reversed(found)}
    visible, links = paginate(page_request, list(reversed(pairs.values())))
    return render_page(
        page_request,
        f"Conflicts to come: {shorten(project.name)}",
        nav(link("‹ Worktrees", "/lite/worktrees")),
        None if pairs else make("p", "No worktrees would be in conflict, as far as is known."),
        make("ul", [_row(page_request, project, one) for one in visible], class_="rows"),
        links,
    )


async def send_conflict_message(workspace: "Workspace", worktree: Worktree, form: Form) -> Session:
    """Send both versions to the newest session of a worktree. Raises `SpinneyError`."""
    sessions = workspace.store.state.sessions_of(worktree.id)
    if not sessions:
        raise SpinneyError("There is no session in this worktree to write to.", "conflict")
    newest = max(sessions, key=lambda session: session.updated_at)
    arguments = {"worktreeId": worktree.id, "partner": form.get("with")}
    written = await run(workspace, write_conflict_message, arguments)
    filled = replace(form, fields={**form.fields, "message": (written.message,)})
    arguments = {"sessionId": newest.id, **message_arguments(filled)}
    await run(workspace, send_chat_message, arguments)
    return newest


def conflicts_link(project_id: str) -> Element:
    """A link to the conflicts of a project."""
    return nav(link("Conflicts to come", _url(project_id)))


def _url(project_id: str) -> str:
    return f"/lite/projects/{project_id}/conflicts"


def _names(page_request: PageRequest, conflict: WorktreeConflict) -> list[str]:
    worktrees = page_request.state.worktrees
    ids = conflict.worktree_id, conflict.partner
    return [worktrees[key].name if key in worktrees else key for key in ids]


def _row(page_request: PageRequest, project: Project, conflict: WorktreeConflict) -> Element:
    names = " and ".join(shorten(name, _NAME_LENGTH) for name in _names(page_request, conflict))
    paths = ", ".join(shorten(file.path, _NAME_LENGTH) for file in conflict.files[:_MAX_PATHS])
    more = ", …" if len(conflict.files) > _MAX_PATHS else ""
    return make(
        "li",
        link(names, _pair_url(project, conflict)),
        make("small", f" {count(len(conflict.files), 'file')}: {paths}{more}"),
    )


def _pair_url(project: Project, conflict: WorktreeConflict) -> str:
    query = urlencode({"of": conflict.worktree_id, "with": conflict.partner})
    return f"{_url(project.id)}?{query}"


def _render_versions(
    page_request: PageRequest, project: Project, found: list[WorktreeConflict]
) -> str:
    wanted = page_request.query["of"], page_request.query.get("with")
    conflict = next((one for one in found if (one.worktree_id, one.partner) == wanted), None)
    if conflict is None:
        raise SpinneyError("These would not be in conflict any more.", "not_found")
    ours, theirs = _names(page_request, conflict)
    text = "\n".join(list_versions(conflict, ours, theirs))
    forms = [_form(page_request, conflict.worktree_id, conflict.partner, ours)]
    if conflict.with_kind == "worktree":
        forms.append(_form(page_request, conflict.partner, conflict.worktree_id, theirs))
    return render_page(
        page_request,
        f"{shorten(ours, _NAME_LENGTH)} and {shorten(theirs, _NAME_LENGTH)}",
        nav(link("‹ Conflicts to come", _url(project.id))),
        paginate_text(text, _pair_url(project, conflict), query_number(page_request, "at")),
        make("p", "An agent can be asked to change its side so that both can be merged:"),
        forms,
    )


def _form(page_request: PageRequest, worktree_id: str, partner: str, name: str) -> Element:
    return page_request.make_form(
        f"/lite/worktrees/{worktree_id}/conflict",
        hidden("with", partner),
        hidden("once", secrets.token_hex(16)),
        button(f"Send both versions to {shorten(name, _NAME_LENGTH)}"),
    )
