"""`/act/{token}`: a page that says what a one-time token does, and the form that does it.

The token is all that is needed, as for a button in a notification. Opening the address changes
nothing: programs that preview links open it too.
"""

from typing import TYPE_CHECKING, Final

from aiohttp import web

from model.access.actions import OneTimeAction
from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from model.commands.one_time_actions import use_token
from model.domain.requests import Request
from model.domain.sessions import Session
from model.secrets.scanner import mask_secrets
from server.guesses import GuessLimiter
from server.lite.handlers import html_response
from server.lite.html import Node, make, truncate
from server.lite.layout import render_standalone
from server.lite.page_request import button, shorten
from server.protocol import error_response

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

PATH: Final = "/act/{token}"

_MAX_SHOWN: Final = 3000
"""Bytes of HTML of a plan, a command or a question."""

_TITLES: Final = {
    "allow": "Allow this once?",
    "deny": "Deny this?",
    "approve": "Approve this plan?",
    "answer": "Send this answer?",
}
_BUTTONS: Final = {
    "allow": "Allow once", "deny": "Deny", "approve": "Approve, and build", "answer": "Answer"
}  # fmt: skip


class OneTimeActionRoutes:
    """The page of a token, and its use."""

    def __init__(self, workspace: "Workspace", version: str, guesses: GuessLimiter) -> None:
        self._workspace = workspace
        self._version = version
        self._guesses = guesses

    def routes(self) -> list[web.RouteDef]:
        """All routes."""
        return [web.get(PATH, self._show), web.post(PATH, self._use)]

    async def _show(self, request: web.Request) -> web.Response:
        """What a one-time token does, with a button that does it. Needs no other token."""
        try:
            action = self._find(request)
        except SpinneyError as error:
            return self._failure_page(error)
        session = self._workspace.store.state.sessions[action.session_id]
        return self._page(_TITLES[action.decision], _describe(action, session, request.path))

    async def _use(self, request: web.Request) -> web.Response:
        """Do what a one-time token stands for: allow once, deny, approve a plan, or answer a
        question. `{ok, done}` for programs, a page for browsers. Tokens are in the notifications of
        ntfy; one is worth nothing once its request is answered, and after a day.
        """
        is_browser = "text/html" in request.headers.get("Accept", "")
        try:
            self._find(request)
            done = await use_token(self._workspace, request.match_info["token"])
        except Exception as error:
            failure = as_user_error(error, "a one-time action")
            if is_browser:
                return self._failure_page(failure)
            return error_response(failure, HTTP_STATUS[failure.error_type])
        if is_browser:
            return self._page(done, make("p", "You can close this page."))
        return web.json_response({"ok": True, "done": done})

    def _find(self, request: web.Request) -> OneTimeAction:
        try:
            return self._workspace.grants.actions.find(request.match_info["token"])
        except SpinneyError:
            self._guesses.note_wrong(request.remote or "")
            raise

    def _failure_page(self, error: SpinneyError) -> web.Response:
        return self._page(
            "Nothing was done", make("p", error.message), HTTP_STATUS[error.error_type]
        )

    def _page(self, title: str, content: Node, status: int = 200) -> web.Response:
        preferences = self._workspace.store.state.preferences
        html = render_standalone(self._version, preferences, title, content)
        return html_response(html, status)


def _describe(action: OneTimeAction, session: Session, path: str) -> Node:
    assert session.request is not None  # The action of an answered request is not found.
    shown = truncate(mask_secrets(_text_of(session.request)), _MAX_SHOWN)
    return [
        make("p", f"Session: {shorten(session.name)}", class_="hint"),
        make("pre", shown, tabindex=0),
        make("p", f"Answer: {shorten(action.answer, 400)}") if action.answer else None,
        make(
            "form",
            button(_BUTTONS[action.decision], class_="primary"),
            method="post",
            action=path,
        ),
        make("p", "Nothing has been done yet. The button works once.", class_="hint"),
    ]


def _text_of(request: Request) -> str:
    match request.kind:
        case "plan":
            return request.plan
        case "question":
            return "\n".join(question.question for question in request.questions)
        case "permission":
            inputs = "\n".join(f"{key}: {value}" for key, value in request.tool_input.items())
            return "\n".join(filter(None, (request.tool_name, request.description, inputs)))
