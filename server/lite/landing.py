"""The landing desk of a project as a table, and the page that lands one of its worktrees."""

import secrets
from typing import Final

from model.api.landing import get_landing_desk, list_landings, preview_landing
from model.api.scripts import get_script_output
from model.base.errors import SpinneyError
from model.base.plural import count
from model.commands.dispatch import run
from model.domain.landing import CheckResult, Landing, LandingPreview, LandingRow
from model.domain.worktrees import Worktree
from model.worktrees import require_project, require_worktree
from server.lite.html import Element, Node, make
from server.lite.layout import render_page
from server.lite.lists import make_select, paginate
from server.lite.page_request import PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import paginate_text, query_number
from server.lite.sweep import sweep_path

METHODS: Final = {
    "merge": "merge: its commits, and one that joins them",
    "squash": "squash: one commit with everything",
    "rebase": "rebase: its commits on top of the base",
}
AFTER: Final = {"keep": "keep it", "archive": "archive it", "delete": "delete it and its branch"}
DONE: Final = {
    "land": "Landed.",
    "undo": "The landing was taken back.",
    "check": "The check runs.",
    "base": "It has another base branch now.",
    "discard": "The train was discarded.",
}
"""What a page says after a form."""

_MAX_CONFLICTS: Final = 10
"""Files in conflict that are named."""
_NAME_LENGTH: Final = 40
_MAX_NOTES: Final = 5


async def render_desk(page_request: PageRequest, project_id: str) -> str:
    """The worktrees with what is next for each, and the newest landing with its undo."""
    project = require_project(page_request.state, project_id)
    desk = await run(page_request.workspace, get_landing_desk, {"projectId": project.id})
    landed = await run(page_request.workspace, list_landings, {"projectId": project.id, "limit": 1})
    visible, links = paginate(page_request, desk.rows)
    head = make("tr", [make("th", title) for title in ("Worktree", "Next", "Changes")])
    table = make("table", make("thead", head), make("tbody", [_row(row) for row in visible]))
    done = DONE.get(page_request.query.get("done", ""))
    return render_page(
        page_request,
        f"Landing: {shorten(project.name)}",
        nav(
            link("‹ Worktrees", "/lite/worktrees"),
            " ",
            link("Train", train_path(project.id)),
            " ",
            link("Sweep", sweep_path(project.id)),
        ),
        make("p", done, role="status") if done else None,
        table if desk.rows else make("p", "No worktree has anything to land."),
        links,
        _last_landing(page_request, landed[0], desk.can_undo) if landed else None,
    )


async def render_landing(page_request: PageRequest, worktree_id: str) -> str:
    """What landing a worktree would do, by `method`; with `output` that of its check."""
    worktree = require_worktree(page_request.state, worktree_id)
    if "output" in page_request.query:
        return await _render_output(page_request, worktree)
    method = page_request.typed.get("method") or page_request.query.get("method")
    chosen = {"method": method} if method in METHODS else {}
    preview = await run(
        page_request.workspace, preview_landing, {"worktreeId": worktree.id, **chosen}
    )
    done = DONE.get(page_request.query.get("done", ""))
    return render_page(
        page_request,
        f"Land {shorten(worktree.name)}",
        nav(link("‹ Landing", desk_path(worktree.project_id))),
        make("p", done, role="status") if done else None,
        make("p", describe_preview(preview)),
        make("p", preview.problem, class_="bad") if preview.problem else None,
        _conflicts(page_request, worktree, preview),
        _new_base(page_request, worktree, preview),
        _check(page_request, worktree, preview.check),
        _train_of(page_request, worktree, preview),
        make("h2", "Land"),
        _methods(worktree, preview),
        _land(page_request, worktree, preview),
    )


def desk_path(project_id: str) -> str:
    """The address of a project's desk."""
    return f"/lite/projects/{project_id}/landing"


def train_path(project_id: str) -> str:
    """The address of a project's train."""
    return f"/lite/projects/{project_id}/train"


def landing_path(worktree_id: str) -> str:
    """The address of the page that lands a worktree."""
    return f"/lite/worktrees/{worktree_id}/landing"


def describe_preview(preview: LandingPreview) -> str:
    """What landing would bring, in a sentence or two."""
    text = f"Into '{shorten(preview.base)}'."
    if preview.head_commit:  # Else nothing is counted: it is not ready.
        text = (
            f"{count(preview.commits, 'commit')}, {count(preview.files, 'file')} "
            f"+{preview.added} −{preview.removed} into '{shorten(preview.base)}'."
        )
    if preview.marked_files:
        marked = ", ".join(shorten(path, 200) for path in preview.marked_files)
        text += f" It adds conflict markers to {marked}."
    text += "".join(f" {shorten(warning, 300)}" for warning in preview.warnings)
    if preview.checked_out_in:
        place = shorten(preview.checked_out_in, 200)
        text += f" It is checked out in {place}, which follows if it is clean."
    return text


def describe_check(check: CheckResult) -> str:
    """The state of a check in a few words."""
    if not check.has_script:
        return "none"
    word = "not run" if check.status == "none" else check.status
    return f"{word}, before later changes" if check.is_stale else word


def _row(row: LandingRow) -> Element:
    changes = [f"+{row.added} −{row.removed}", f"{row.ahead} ahead"]
    if row.behind:
        changes.append(f"{row.behind} behind")
    if row.uncommitted:
        changes.append(f"{row.uncommitted} not committed")
    if row.conflicts:
        files = {path for conflict in row.conflicts for path in conflict.files}
        changes.append(f"{count(len(files), 'file')} in conflict")
    if row.check.has_script:
        changes.append(f"check {describe_check(row.check)}")
    request: list[Node] = []
    if (found := row.pull_request) is not None:
        request = [
            " ",
            link(f"PR {found.number}", f"/lite/worktrees/{row.worktree_id}/pull-request"),
        ]
    return make(
        "tr",
        make("td", link(shorten(row.name, _NAME_LENGTH), landing_path(row.worktree_id)), request),
        make("td", make("b", row.next), f" {shorten(row.reason, 160)}"),
        make("td", ", ".join(changes)),
    )


def _last_landing(page_request: PageRequest, landing: Landing, can_undo: str | None) -> list[Node]:
    worktrees = page_request.state.worktrees
    names = [worktrees[one].name if one in worktrees else "one" for one in landing.worktree_ids]
    text = f"{', '.join(shorten(name, _NAME_LENGTH) for name in names[:8])} by {landing.method}"
    state = ", taken back" if landing.undone_at is not None else ""
    parts: list[Node] = [
        make("h2", "Landed last"),
        make("p", f"{text}: '{shorten(landing.base)}' is at {landing.after[:10]}{state}."),
        [make("p", shorten(note, 300), class_="hint") for note in landing.notes[:_MAX_NOTES]],
    ]
    if can_undo == landing.id:
        address = f"/lite/projects/{landing.project_id}/undo-landing"
        parts.append(
            page_request.make_form(address, hidden("landing_id", landing.id), button("Undo it"))
        )
    return parts


def _conflicts(
    page_request: PageRequest, worktree: Worktree, preview: LandingPreview
) -> list[Node]:
    if not preview.conflicts:
        return []
    shown = [make("li", shorten(path, 200)) for path in preview.conflicts[:_MAX_CONFLICTS]]
    more = len(preview.conflicts) - len(shown)
    return [
        make("ul", shown, make("li", f"… {count(more, 'more file')}") if more else None),
        _problem_form(page_request, worktree, "Send the conflict to a session"),
    ]


def _new_base(
    page_request: PageRequest, worktree: Worktree, preview: LandingPreview
) -> Element | None:
    """The form that moves a worktree on whose base has landed."""
    if not preview.new_base:
        return None
    return page_request.make_form(
        f"/lite/worktrees/{worktree.id}/base",
        hidden("base", preview.new_base),
        hidden("move", "1"),
        button(f"Move it onto {shorten(preview.new_base, _NAME_LENGTH)}"),
    )


def _train_of(
    page_request: PageRequest, worktree: Worktree, preview: LandingPreview
) -> Element | None:
    """The form that checks what the base would become, in a train of one."""
    if not preview.offers_train:
        return None
    return page_request.make_form(
        f"{train_path(worktree.project_id)}/start",
        hidden("worktree", worktree.id),
        hidden("check", "1"),
        hidden("method", preview.method),
        button(f"Check it on {shorten(preview.base, _NAME_LENGTH)}, as a train"),
    )


def _problem_form(page_request: PageRequest, worktree: Worktree, label: str) -> Element:
    return page_request.make_form(
        f"/lite/worktrees/{worktree.id}/landing-problem",
        hidden("once", secrets.token_hex(16)),
        button(label),
    )


def _check(page_request: PageRequest, worktree: Worktree, check: CheckResult) -> list[Node]:
    if not check.has_script:
        return [make("p", "The repository has no check script.", class_="hint")]
    has_output = check.status != "none"
    is_red = check.status == "failed"
    address = f"/lite/worktrees/{worktree.id}/check"
    return [
        make("h2", "Check"),
        make("p", f"{describe_check(check)}. {shorten(check.error, 300)}".strip()),
        nav(link("Output", f"{landing_path(worktree.id)}?output=1")) if has_output else None,
        None
        if check.status == "running"
        else page_request.make_form(address, button("Run the check")),
        _problem_form(page_request, worktree, "Send the problem to a session") if is_red else None,
    ]


def _methods(worktree: Worktree, preview: LandingPreview) -> Element:
    """Links that show the page with each of the other methods."""
    address = f"{landing_path(worktree.id)}?method="
    others = [method for method in METHODS if method != preview.method]
    links: list[Node] = [[link(method, address + method), " "] for method in others]
    return nav(f"By {preview.method}. Instead by: ", links)


def _land(page_request: PageRequest, worktree: Worktree, preview: LandingPreview) -> Element:
    typed = page_request.typed
    check = preview.check
    is_green = not check.has_script or (check.status == "passed" and not check.is_stale)
    message = typed.get("message") or preview.message
    return page_request.make_form(
        f"/lite/worktrees/{worktree.id}/land",
        hidden("base_commit", preview.base_commit),
        hidden("method", preview.method),
        None
        if preview.method == "rebase"
        else [
            make("label", "Message", for_="message"),
            make("textarea", message, name="message", id="message", rows=4, cols=60),
        ],
        make("label", "The worktree afterwards", for_="after"),
        make_select("after", AFTER, typed.get("after") or preview.after),
        None
        if is_green
        else make(
            "label",
            make("input", type="checkbox", name="ignore_check", value="1"),
            "Land although the check is not green",
        ),
        make(
            "label",
            make("input", type="checkbox", name="stash_base", value="1"),
            "Stash the changes in the base's checkout, land, and bring them back",
        )
        if preview.offers_stash
        else None,
        make("p", button(f"Land on {shorten(preview.base, _NAME_LENGTH)}", class_="primary")),
    )


async def _render_output(page_request: PageRequest, worktree: Worktree) -> str:
    ran = await run(
        page_request.workspace, get_script_output, {"worktreeId": worktree.id, "script": "check"}
    )
    if ran is None:
        raise SpinneyError("The check has not run yet.", "not_found")
    address = f"{landing_path(worktree.id)}?output=1"
    return render_page(
        page_request,
        f"Check of {shorten(worktree.name)}: {ran.status}",
        nav(link("‹ Back", landing_path(worktree.id))),
        paginate_text(ran.output, address, query_number(page_request, "at")),
    )
