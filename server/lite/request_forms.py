"""What a session needs a person for, as forms: a plan, questions, or leave to use a tool."""

from typing import Final

from model.base.errors import SpinneyError
from model.domain.resources import Question, Request, Session
from server.lite.html import Element, Node, fitting, make, size
from server.lite.layout import page
from server.lite.page_request import Form, Visit, button, hidden, link, short, way
from server.lite.parts import input_text, scope_text, where_text

_SHOWN: Final = 2000
"""Bytes of what a permission is asked for; all of it stands on a page of its own."""

_QUESTIONS: Final = 4000
"""Bytes that texts of questions and options share."""


def request_card(visit: Visit, session: Session) -> Node:
    """The forms that answer a session's request, where it has one."""
    request = session.request
    if request is None:
        return None
    match request.kind:
        case "plan":
            content = _plan(visit, session, request)
        case "question":
            content = _questions(visit, session, request)
        case "permission":
            content = _permission(visit, session, request)
    return make("section", content, class_="request", id="asked")


def plan_page(visit: Visit, session: Session) -> str:
    """A plan to be changed before it is carried out; this page is as long as the plan.

    Raises `SpinneyError` where no plan waits any more.
    """
    request = session.request
    typed = visit.typed
    if "plan" not in typed and (request is None or request.kind != "plan"):
        raise SpinneyError("No plan waits for an answer here any more.", "not_found")
    text = typed.get("plan") if request is None or "plan" in typed else request.plan
    form = visit.form(
        f"/lite/sessions/{session.id}/approve",
        hidden("request_id", typed.get("request_id") or (request.id if request else "")),
        make("label", "The plan, as it should be carried out", for_="plan"),
        make("textarea", text, name="plan", id="plan", rows=16, cols=60),
        _fresh(typed),
        make("p", *_approvals(), class_="choices"),
    )
    return page(visit, "Edit the plan", _back(session), form)


def sure_page(visit: Visit, session: Session, given: Form) -> str:
    """The second question before a plan is carried out without any more of them."""
    names = ("request_id", "plan", "fresh")
    kept = [hidden(name, given.get(name)) for name in names if name in given]
    form = visit.form(
        f"/lite/sessions/{session.id}/approve",
        kept,
        hidden("sure", "1"),
        make("p", button("Yolo", "mode", "yolo", class_="danger")),
    )
    return page(visit, "Really? Nothing will be asked", _back(session), form)


def answers_of(request: Request, given: Form) -> dict[str, str]:
    """Each question's answer: own words, or what was chosen; a question without one is left out."""
    answers = {}
    for number, question in enumerate(request.questions):
        chosen = [
            option.label
            for place, option in enumerate(question.options)
            if str(place) in given.all(f"q{number}")
        ]
        own = given.get(f"own{number}").strip()
        # To several choices own words are added; the one choice they replace.
        said = [*chosen, own] if question.multi_select and own else [own] if own else chosen
        if said:
            answers[question.question] = ", ".join(said)
    return answers


def _plan(visit: Visit, session: Session, request: Request) -> list[Node]:
    return [
        make("h2", "Carry out this plan?"),
        visit.form(
            f"/lite/sessions/{session.id}/approve",
            hidden("request_id", request.id),
            _fresh(visit.typed),
            make(
                "p",
                *_approvals(),
                link("Edit first", f"/lite/sessions/{session.id}?plan=1"),
                class_="choices",
            ),
        ),
        make("p", "Or write in the message box what should be different.", class_="hint"),
    ]


def _approvals() -> list[Element]:
    return [button("Build", "mode", "build", class_="primary"), button("Yolo", "mode", "yolo")]


def _fresh(typed: Form) -> Element:
    box = make(
        "input", type="checkbox", name="fresh", value="1", checked="fresh" in typed, id="fresh"
    )
    return make(
        "p",
        box,
        " ",
        make("label", "In a fresh session, whose agent knows the plan alone", for_="fresh"),
    )


def _questions(visit: Visit, session: Session, request: Request) -> list[Node]:
    texts = sum(1 + 2 * len(question.options) for question in request.questions)
    most = min(400, max(40, _QUESTIONS // max(1, texts)))
    asked = [
        _question(visit.typed, number, question, most)
        for number, question in enumerate(request.questions)
    ]
    form = visit.form(
        f"/lite/sessions/{session.id}/answer",
        hidden("request_id", request.id),
        asked,
        make("p", button("Answer", class_="primary")),
    )
    return [make("h2", "It asks you"), form]


def _question(typed: Form, number: int, question: Question, most: int) -> Element:
    name = f"q{number}"
    kind = "checkbox" if question.multi_select else "radio"
    options = [
        make(
            "label",
            make(
                "input",
                type=kind,
                name=name,
                value=str(place),
                checked=str(place) in typed.all(name),
            ),
            make("b", _cut(option.label, most)),
            f" {_cut(option.description, most)}" if option.description else None,
            make("span", fitting(option.preview, most * 4), class_="preview")
            if option.preview
            else None,
        )
        for place, option in enumerate(question.options)
    ]
    own = f"own{number}"
    return make(
        "fieldset",
        make("legend", _cut(question.question, most * 2)),
        options,
        make("label", "In your own words", make("input", name=own, value=typed.get(own))),
    )


def _permission(visit: Visit, session: Session, request: Request) -> list[Node]:
    text = input_text(request.tool_input)
    shown = fitting(text, _SHOWN)
    where, scope = where_text(request), scope_text(request)
    whole = len(shown) == len(text) and size(request.description) <= _SHOWN
    whole = whole and max(len(where), len(scope)) < 100
    all_of_it = link("All of it", f"/lite/sessions/{session.id}?asked=1")
    action = f"/lite/sessions/{session.id}/permission"
    allow = visit.form(
        action,
        hidden("request_id", request.id),
        button("Allow", "decision", "allow", class_="primary"),
        " ",
        button("Allow for this session", "decision", "allow_session"),
    )
    # A form of its own: the enter key in its field presses its first button.
    deny = visit.form(
        action,
        hidden("request_id", request.id),
        make(
            "label",
            "Why not, and what to do instead",
            make("input", name="reason", value=visit.typed.get("reason")),
        ),
        button("Deny", "decision", "deny"),
    )
    return [
        make("h2", f"May it use {short(request.tool_name, 60) or 'a tool'}?"),
        make("p", fitting(request.description, _SHOWN)) if request.description else None,
        make("p", _cut(where, 400), class_="hint") if where else None,
        make("pre", shown, tabindex=0),
        None if whole else make("p", "Not all of it is shown. ", all_of_it, class_="bad"),
        allow,
        make("p", _cut(scope, 400), class_="hint") if scope else None,
        deny,
    ]


def _cut(text: str, most: int) -> str:
    """The text on one line, in no more than `most` bytes of HTML."""
    return short(fitting(short(text, most), most), most)


def _back(session: Session) -> Element:
    return way(link(f"‹ {short(session.name)}", f"/lite/sessions/{session.id}#asked"))
