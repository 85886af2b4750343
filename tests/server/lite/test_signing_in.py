"""`/lite`: signing in, protection against forged forms, and security headers."""

import re

import aiohttp
import pytest

from model.commands.server import regenerate_http_token
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from tests.server.conftest import TOKEN, StartServer, base_url, bearer, raw_request
from tests.server.lite.browser import Browser
from tests.tables import table

PATHS = [
    "/lite",
    "/lite/",
    "/lite/worktrees",
    "/lite/worktrees/x",
    "/lite/sessions/x",
    "/lite/nothing/at/all",
]


@pytest.fixture
def browser(server: Server, http: aiohttp.ClientSession) -> Browser:
    """A browser that is not signed in."""
    return Browser(server, http)


@table("path", PATHS)
async def test_an_unauthenticated_client_gets_only_the_form(
    browser: Browser, session: Session, path: str
) -> None:
    seen = await browser.request("GET", path)
    assert seen.status == 401
    assert seen.page.form("sign-in").fields.keys() == {"to", "token"}
    assert session.name not in seen.body
    assert "calm-otter" not in seen.body


async def test_the_token_signs_in_and_redirects_back(browser: Browser, session: Session) -> None:
    path = f"/lite/sessions/{session.id}"
    seen = await browser.request("GET", path)
    signed_in = await browser.submit(seen.page, "sign-in", token=f" {TOKEN}\n")
    assert signed_in.location == path
    assert session.name in (await browser.get_page(path)).text
    assert "Sign out" in (await browser.get_page()).text


async def test_the_cookie_is_limited_to_lite_and_does_not_contain_the_token(
    browser: Browser, server: Server
) -> None:
    cookie = (await browser.sign_in()).headers["Set-Cookie"]
    assert cookie.startswith(f"spinney-lite-{server.status()['port']}=")
    attributes = {part.strip() for part in cookie.split(";")[1:]}
    assert attributes == {"HttpOnly", "Path=/lite", "SameSite=Strict"}
    assert TOKEN not in cookie


async def test_over_https_the_cookie_is_secure(browser: Browser) -> None:
    for sign in (
        {"X_Forwarded_Proto": "https"},
        {"Origin": "https://spinney.test", "Host": "spinney.test"},
    ):
        fields = {"token": TOKEN}
        seen = await browser.request("POST", "/lite/sign-in", fields, **sign)
        assert "; Secure" in seen.headers["Set-Cookie"]


async def test_a_remembered_sign_in_lasts_thirty_days(browser: Browser) -> None:
    assert "Max-Age=2592000" in (await browser.sign_in(remember="1")).headers["Set-Cookie"]


@table("token", ["", "guess", "é", TOKEN[:-1], TOKEN + "x", "\0", "x" * 10_000])
async def test_a_wrong_token_is_an_error_and_sets_no_cookie(browser: Browser, token: str) -> None:
    seen = await browser.sign_in(token)
    assert seen.status == 401
    assert "Wrong token." in seen.page.text
    assert "Set-Cookie" not in seen.headers
    assert len(token) < 3 or token not in seen.body


async def test_a_new_token_ends_existing_sign_ins(browser: Browser, workspace: Workspace) -> None:
    await browser.sign_in()
    await browser.get_page()
    await regenerate_http_token(workspace)
    assert (await browser.request("GET", "/lite")).status == 401


async def test_signing_out_ends_the_cookie_and_every_copy_of_it(browser: Browser) -> None:
    await browser.sign_in()
    copy = dict(browser.cookies)
    assert (await browser.submit(await browser.get_page(), "sign-out")).location == "/lite"
    assert browser.cookies == {}
    browser.cookies = copy
    assert (await browser.request("GET", "/lite")).status == 401


async def test_a_cookie_expires(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.lite.sign_in.SIGNED_IN", -1)
    await browser.sign_in()
    assert browser.cookies
    assert (await browser.request("GET", "/lite")).status == 401


@table(
    "changed",
    [
        lambda value: "",
        lambda value: TOKEN,
        lambda value: value[:-1] + ("0" if value[-1] != "0" else "1"),
        lambda value: re.sub(r"^\d+", "99999999999", value),
        lambda value: value.rpartition(".")[0] + ".",
        lambda value: "." + value.rpartition(".")[2],
        lambda value: "." * 50,
        lambda value: "\u00e9." + value,
    ],
)
async def test_a_forged_cookie_is_refused(browser: Browser, changed: object) -> None:
    await browser.sign_in()
    assert callable(changed)
    browser.cookies = {name: changed(value) for name, value in browser.cookies.items()}
    assert (await browser.request("GET", "/lite")).status == 401


async def test_the_token_is_accepted_in_the_header_but_not_in_the_query(
    browser: Browser, session: Session
) -> None:
    seen = await browser.request("GET", "/lite", **bearer())
    assert (seen.status, seen.page.has_form("sign-out")) == (200, False)
    sent = await browser.request(
        "POST", f"/lite/sessions/{session.id}/messages", {"message": "hi"}, **bearer()
    )
    assert sent.status == 303
    assert (await browser.request("GET", f"/lite?token={TOKEN}")).status == 401


async def test_a_form_requires_the_form_value_of_its_own_sign_in(
    browser: Browser,
    server: Server,
    http: aiohttp.ClientSession,
    session: Session,
    workspace: Workspace,
) -> None:
    other = Browser(server, http)
    await browser.sign_in()
    await other.sign_in()
    page = await browser.get_page(f"/lite/sessions/{session.id}")
    for value in ("", "x", (await other.get_page()).form("sign-out").fields["form_value"]):
        seen = await browser.submit(page, "messages", message="forged <b>", form_value=value)
        assert seen.status == 403
        assert "Try again" in seen.page.text
        assert "forged <b>" in seen.page.text
    assert workspace.store.state.sessions[session.id].message_count == 0


@table(
    "headers",
    [
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@table("token_required", [True, False])
async def test_a_form_from_another_page_does_nothing(
    start_server: StartServer,
    http: aiohttp.ClientSession,
    session: Session,
    workspace: Workspace,
    headers: dict[str, str],
    token_required: bool,
) -> None:
    browser = Browser(await start_server(token_required=token_required), http)
    if token_required:
        await browser.sign_in()
    form = (await browser.get_page(f"/lite/sessions/{session.id}")).form("messages")
    seen = await browser.request(
        "POST", form.action, {**form.fields, "message": "forged"}, **headers
    )
    assert seen.status in (401, 403)
    assert "forged" in seen.page.text
    assert workspace.store.state.sessions[session.id].message_count == 0


async def test_a_foreign_page_cannot_sign_in(browser: Browser) -> None:
    fields = {"token": TOKEN}
    seen = await browser.request("POST", "/lite/sign-in", fields, Origin="http://evil.test")
    assert (seen.status, browser.cookies) == (403, {})


@pytest.mark.parametrize(
    "to", ["//evil.test", "https://evil.test", "/", "/lite/../x", "/lite\r\nX: y", "/lite/sign-in"]
)
async def test_signing_in_redirects_only_within_lite(browser: Browser, to: str) -> None:
    assert (await browser.sign_in(to=to)).location == "/lite"


async def test_without_a_required_token_no_sign_in_is_needed(
    start_server: StartServer, http: aiohttp.ClientSession, session: Session
) -> None:
    browser = Browser(await start_server(token_required=False), http)
    page = await browser.get_page(f"/lite/sessions/{session.id}")
    assert not page.has_form("sign-out")
    assert (await browser.submit(page, "messages", message="hello")).status == 303
    without = await browser.submit(page, "messages", message="hello", form_value="")
    assert without.status == 403


@table("host", ["evil.test:{}", "localhost.evil.test", "0.0.0.0:{}"])
async def test_a_host_that_is_not_loopback_is_refused(
    start_server: StartServer, http: aiohttp.ClientSession, host: str
) -> None:
    server = await start_server(token_required=False)
    host = host.format(server.status()["port"])
    seen = await Browser(server, http).request("GET", "/lite", Host=host)
    assert seen.status == 401
    assert "Sessions" not in seen.page.text


@pytest.mark.parametrize(
    "lines", [[b"Host: a b"], [b"Host: \xff"], [b"Host: localhost", b"Host: evil.test"]]
)
async def test_a_malformed_host_is_refused_with_the_cookie_too(
    browser: Browser, server: Server, lines: list[bytes]
) -> None:
    await browser.sign_in()
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    request = [b"GET /lite HTTP/1.1", f"Cookie: {cookie}".encode(), *lines]
    assert (await raw_request(server, *request))[0] in (400, 401)


async def test_no_other_page_may_read_frame_or_script_it(browser: Browser) -> None:
    await browser.sign_in()
    for path in ("/lite", "/lite/nothing"):
        headers = (await browser.request("GET", path, Origin="http://evil.test")).headers
        assert headers["Content-Security-Policy"] == (
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'"
        )
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        # With `no-referrer`, browsers would post forms from the origin `null`.
        assert headers["Referrer-Policy"] == "same-origin"


async def test_text_submitted_before_signing_in_is_shown_again(
    browser: Browser, session: Session
) -> None:
    path = f"/lite/sessions/{session.id}/messages"
    seen = await browser.request("POST", path, {"message": "long & thought <over>"})
    assert seen.status == 401
    assert "long & thought <over>" in seen.page.text
    assert (await browser.submit(seen.page, "sign-in", token=TOKEN)).location == (
        f"/lite/sessions/{session.id}"
    )


async def test_refusals_are_logged_without_the_given_token(
    browser: Browser, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        await browser.sign_in("a-wrong-token-of-mine")
    refusals = [
        record.getMessage() for record in caplog.records if "refused" in record.getMessage()
    ]
    assert len(refusals) == 1
    await browser.sign_in()
    assert "a-wrong-token-of-mine" not in caplog.text
    assert TOKEN not in caplog.text
    assert not any(value in caplog.text for value in browser.cookies.values())


@table(
    ("body", "content_type", "status"),
    [
        (b"a" * 2_000_000, "application/x-www-form-urlencoded", 413),
        (b"{}", "application/json", 400),
        (b"&".join(b"a=1" for _ in range(1000)), "application/x-www-form-urlencoded", 400),
        (b"token=%ff%fe%00", "application/x-www-form-urlencoded", 401),
    ],
)
async def test_an_invalid_form_is_refused_with_a_page(
    browser: Browser, body: bytes, content_type: str, status: int
) -> None:
    seen = await browser.request("POST", "/lite/sign-in", body, Content_Type=content_type)
    assert seen.status == status
    assert seen.page.has_form("sign-in")


async def test_the_page_with_javascript_links_to_lite(
    server: Server, http: aiohttp.ClientSession
) -> None:
    shell = await (await http.get(base_url(server) + "/")).text()
    assert '<a href="/lite">' in shell
