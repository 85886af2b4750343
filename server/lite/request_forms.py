"""Forms for a session's request: plan approval, questions, or permission to use a tool."""

from typing import Final

from model.base.errors import SpinneyError
from model.domain.requests import Question, Request
from model.domain.sessions import Session
from server.lite.html import Element, Node, make, size, truncate
from server.lite.layout import render_page
from server.lite.page_request import Form, PageRequest, button, hidden, link, nav, shorten
from server.lite.parts import describe_input, describe_location, describe_scope

_DETAILS_SIZE: Final = 2000
"""Maximum bytes of a permission request's details; a separate page shows all of them."""

_QUESTIONS_SIZE: Final = 4000
"""Maximum bytes of all texts of questions and options."""


def render_request_card(page_request: PageRequest, session: Session) -> Node:
    """The forms for a session's request, or `None` if it has none."""
    request = session.request
    if request is None:
        return None
    match request.kind:
        case "plan":
            content = _make_plan(page_request, session, request)
        case "question":
            content = _make_questions(page_request, session, request)
        case "permission":
            content = _make_permission(page_request, session, request)
    return make("section", content, class_="request", id="asked")


def render_plan(page_request: PageRequest, session: Session) -> str:
    """The page for editing a plan before approval; as long as the plan.

    Raises `SpinneyError` if no plan is waiting for approval.
    """
    request = session.request
    typed = page_request.typed
    if "plan" not in typed and (request is None or request.kind != "plan"):
        raise SpinneyError("No plan is waiting for approval any more.", "not_found")
    text = typed.get("plan") if request is None or "plan" in typed else request.plan
    form = page_request.make_form(
        f"/lite/sessions/{session.id}/approve",
        hidden("request_id", typed.get("request_id") or (request.id if request else "")),
        make("label", "Plan", for_="plan"),
        make("textarea", text, name="plan", id="plan", rows=16, cols=60),
        _fresh_checkbox(typed),
        make("p", *_approval_buttons(), class_="choices"),
    )
    return render_page(page_request, "Edit the plan", _back_link(session), form)


def render_confirmation(page_request: PageRequest, session: Session, submitted: Form) -> str:
    """The confirmation page before a plan is approved in yolo mode."""
    names = ("request_id", "plan", "fresh")
    hidden_fields = [hidden(name, submitted.get(name)) for name in names if name in submitted]
    form = page_request.make_form(
        f"/lite/sessions/{session.id}/approve",
        hidden_fields,
        hidden("sure", "1"),
        make("p", button("Yolo", "mode", "yolo", class_="danger")),
    )
    return render_page(
        page_request, "Approve in yolo mode? It will not ask again", _back_link(session), form
    )


def read_answers(request: Request, form: Form) -> dict[str, str]:
    """The answers by question: free text or chosen options; omits unanswered questions."""
    answers = {}
    for number, question in enumerate(request.questions):
        chosen = [
            option.label
            for index, option in enumerate(question.options)
            if str(index) in form.all(f"q{number}")
        ]
        free_text = form.get(f"own{number}").strip()
        # Free text is added to multiple choices, but replaces a single choice.
        parts = (
            [*chosen, free_text]
            if question.multi_select and free_text
            else [free_text]
            if free_text
            else chosen
        )
        if parts:
            answers[question.question] = ", ".join(parts)
    return answers


def _make_plan(page_request: PageRequest, session: Session, request: Request) -> list[Node]:
    return [
        make("h2", "Approve this plan?"),
        page_request.make_form(
            f"/lite/sessions/{session.id}/approve",
            hidden("request_id", request.id),
            _fresh_checkbox(page_request.typed),
            make(
                "p",
                *_approval_buttons(),
                link("Edit first", f"/lite/sessions/{session.id}?plan=1"),
                class_="choices",
            ),
        ),
        make("p", "Or send a message with the changes you want.", class_="hint"),
    ]


def _approval_buttons() -> list[Element]:
    return [button("Build", "mode", "build", class_="primary"), button("Yolo", "mode", "yolo")]


def _fresh_checkbox(typed: Form) -> Element:
    checkbox = make(
        "input", type="checkbox", name="fresh", value="1", checked="fresh" in typed, id="fresh"
    )
    return make(
        "p",
        checkbox,
        " ",
        make("label", "In a new session that only knows the plan", for_="fresh"),
    )


def _make_questions(page_request: PageRequest, session: Session, request: Request) -> list[Node]:
    texts = sum(1 + 2 * len(question.options) for question in request.questions)
    limit = min(400, max(40, _QUESTIONS_SIZE // max(1, texts)))
    fieldsets = [
        _make_question(page_request.typed, number, question, limit)
        for number, question in enumerate(request.questions)
    ]
    form = page_request.make_form(
        f"/lite/sessions/{session.id}/answer",
        hidden("request_id", request.id),
        fieldsets,
        make("p", button("Answer", class_="primary")),
    )
    return [make("h2", "The agent asks"), form]


def _make_question(typed: Form, number: int, question: Question, limit: int) -> Element:
    name = f"q{number}"
    kind = "checkbox" if question.multi_select else "radio"
    options = [
        make(
            "label",
            make(
                "input",
                type=kind,
                name=name,
                value=str(index),
                checked=str(index) in typed.all(name),
            ),
            make("b", _truncate_line(option.label, limit)),
            f" {_truncate_line(option.description, limit)}" if option.description else None,
            make("span", truncate(option.preview, limit * 4), class_="preview")
            if option.preview
            else None,
        )
        for index, option in enumerate(question.options)
    ]
    field_name = f"own{number}"
    return make(
        "fieldset",
        make("legend", _truncate_line(question.question, limit * 2)),
        options,
        make("label", "Other answer", make("input", name=field_name, value=typed.get(field_name))),
    )


def _make_permission(page_request: PageRequest, session: Session, request: Request) -> list[Node]:
    text = describe_input(request.tool_input)
    shown = truncate(text, _DETAILS_SIZE)
    location, scope = describe_location(request), describe_scope(request)
    is_complete = len(shown) == len(text) and size(request.description) <= _DETAILS_SIZE
    is_complete = is_complete and max(len(location), len(scope)) < 100
    show_all = link("Show all", f"/lite/sessions/{session.id}?asked=1")
    action = f"/lite/sessions/{session.id}/permission"
    allow = page_request.make_form(
        action,
        hidden("request_id", request.id),
        button("Allow", "decision", "allow", class_="primary"),
        " ",
        button("Allow for this session", "decision", "allow_session"),
    )
    # A separate form, because Enter in a field submits with the form's first button.
    deny = page_request.make_form(
        action,
        hidden("request_id", request.id),
        make(
            "label",
            "Reason, or what to do instead",
            make("input", name="reason", value=page_request.typed.get("reason")),
        ),
        button("Deny", "decision", "deny"),
    )
    return [
        make("h2", f"Allow {shorten(request.tool_name, 60) or 'a tool'}?"),
        make("p", truncate(request.description, _DETAILS_SIZE)) if request.description else None,
        make("p", _truncate_line(location, 400), class_="hint") if location else None,
        make("pre", shown, tabindex=0),
        None if is_complete else make("p", "Shortened. ", show_all, class_="bad"),
        allow,
        make("p", _truncate_line(scope, 400), class_="hint") if scope else None,
        deny,
    ]


def _truncate_line(text: str, limit: int) -> str:
    """The text on one line, cut to `limit` bytes of HTML."""
    return shorten(truncate(shorten(text, limit), limit), limit)


def _back_link(session: Session) -> Element:
    return nav(link(f"‹ {shorten(session.name)}", f"/lite/sessions/{session.id}#asked"))
