"""What every request to `/lite` goes through: authentication, forms, and errors as pages."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from model.base.errors import HTTP_STATUS, SpinneyError, as_user_error
from server.auth import Authenticator
from server.http_api import read_body
from server.limits import Limits
from server.lite.layout import render_failure, render_sign_in
from server.lite.page_request import Form, PageRequest, parse_form
from server.lite.sign_in import CookieAuth, Identity

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    # With `no-referrer`, browsers post forms with the origin `null`, which any site can send.
    "Referrer-Policy": "same-origin",
}

_MAX_ANONYMOUS_FORM: Final = 1024 * 1024
"""Maximum bytes of a form from an unauthenticated user, read only to show it again."""

_RETURN_PATH: Final = re.compile(r"/lite(/[\w-]{1,64}){0,3}", re.ASCII)

RenderFor = Callable[[PageRequest, str], Awaitable[str]]
"""Renders the page of a worktree or project, by its id."""

PageHandler = Callable[[web.Request, PageRequest], Awaitable[str]]
FormHandler = Callable[[web.Request, PageRequest, Form], Awaitable[web.Response]]


class Handlers:
    """Makes the handlers of pages and forms, which only a signed-in user reaches."""

    def __init__(
        self, workspace: "Workspace", authenticator: Authenticator, limits: Limits, version: str
    ) -> None:
        self._workspace = workspace
        self._authenticator = authenticator
        self._limits = limits
        self._version = version
        self._cookie_auth = CookieAuth(authenticator)

    def page(self, read_page: PageHandler) -> Handler:
        """Authenticate a request for a page; errors are shown as a page, too."""

        @wraps(read_page)
        async def handle(request: web.Request) -> web.Response:
            try:
                identity = self._cookie_auth.identify(request)
            except SpinneyError as error:
                return self._sign_in_response(request, error, Form(), _return_path(request.path))
            page_request = self._make_page_request(request, identity)
            try:
                return html_response(await read_page(request, page_request))
            except Exception as error:
                return self._failure_response(request, error, page_request)

        return handle

    def form(self, take_form: FormHandler) -> Handler:
        """Authenticate a form; its content is shown again if it is refused."""

        @wraps(take_form)
        async def handle(request: web.Request) -> web.Response:
            form, return_to = Form(), _return_path(request.path.rpartition("/")[0])
            try:
                identity = self._cookie_auth.identify(request)
            except SpinneyError as error:
                try:
                    form = await self._read_form(request, _MAX_ANONYMOUS_FORM)
                except SpinneyError:
                    pass
                return self._sign_in_response(request, error, form, return_to)
            page_request = replace(
                self._make_page_request(request, identity), path=return_to, query={}
            )
            try:
                form = await self._read_form(request, self._limits.body_size)
                self._cookie_auth.check_form(request, identity, form.get("form_value"))
                return await take_form(request, page_request, form)
            except Exception as error:
                return self._failure_response(request, error, replace(page_request, typed=form))

        return handle

    async def sign_in(self, request: web.Request) -> web.Response:
        """Sign in with `token`; sets a cookie for `/lite`, for 30 days with `remember`."""
        form = Form()
        response = web.Response(status=303, headers=_HEADERS)
        try:
            form = await self._read_form(request, _MAX_ANONYMOUS_FORM)
            remember = bool(form.get("remember"))
            self._cookie_auth.sign_in(request, form.get("token"), response, remember=remember)
        except SpinneyError as error:
            return self._sign_in_response(request, error, form, _return_path(form.get("to")))
        response.headers["Location"] = _return_path(form.get("to"))
        return response

    async def sign_out(self, request: web.Request, _: PageRequest, __: Form) -> web.Response:
        """Sign out; revokes the cookie."""
        response = redirect("/lite")
        self._cookie_auth.sign_out(request, response)
        return response

    # Internal ----------------------------------------------------------------------------------

    def _make_page_request(self, request: web.Request, identity: Identity) -> PageRequest:
        return PageRequest(
            workspace=self._workspace,
            version=self._version,
            path=request.path,
            query=request.query,
            host=request.url.host or "",
            csrf_token=identity.csrf_token,
            can_sign_out=identity.has_cookie,
        )

    async def _read_form(self, request: web.Request, limit: int) -> Form:
        if (request.content_length or 0) > limit:
            raise SpinneyError("The form is too large.", "too_large")
        if request.content_type not in (
            "application/x-www-form-urlencoded",
            "application/octet-stream",
        ):
            raise SpinneyError("A form must be sent as application/x-www-form-urlencoded.")
        raw = await read_body(request, self._limits)
        return await asyncio.to_thread(parse_form, raw)

    def _sign_in_response(
        self, request: web.Request, error: SpinneyError, form: Form, return_path: str
    ) -> web.Response:
        if error.error_type != "authentication_error":
            html = render_sign_in(self._version, error.message, return_path, form, tried=True)
            return html_response(html, HTTP_STATUS[error.error_type])
        self._authenticator.log_refusal(request.remote or "")
        tried = request.path == "/lite/sign-in"
        return html_response(
            render_sign_in(self._version, error.message, return_path, form, tried=tried), 401
        )

    def _failure_response(
        self, request: web.Request, error: Exception, page_request: PageRequest
    ) -> web.Response:
        failure = as_user_error(error, f"{request.method} {request.path}")
        return html_response(
            render_failure(page_request, failure.message), HTTP_STATUS[failure.error_type]
        )


def html_response(html: str, status: int = 200) -> web.Response:
    """Create a response with a page."""
    return web.Response(
        text=html, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS
    )


async def refuse_form(
    page_request: PageRequest, form: Form, error: SpinneyError, render: RenderFor, shown_id: str
) -> web.Response:
    """Show the page of a form again, with what was typed and why it was refused."""
    failed = replace(page_request, typed=form, problem=error.message)
    return html_response(await render(failed, shown_id), HTTP_STATUS[error.error_type])


def redirect(address: str) -> web.Response:
    """Create a response that leads to another page after a form."""
    return web.Response(status=303, headers={**_HEADERS, "Location": address})


def _return_path(path: str) -> str:
    """The path, if it is a page of `/lite` to return to, else `/lite`."""
    return path if _RETURN_PATH.fullmatch(path) and path != "/lite/sign-in" else "/lite"
