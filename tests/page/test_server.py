"""The server view: access from other devices, and the code that signs them in."""

from pathlib import Path

import pytest
import segno
from playwright.async_api import Browser, expect

from tests.certificates import make_certificate
from tests.page.browser import PageErrors
from tests.page.conftest import OpenPage
from tests.program import Program, Serving
from tests.server.conftest import Socket


async def test_another_device_signs_in_by_a_code_once_it_may_connect(
    open_page: OpenPage, client: Socket, server: Serving
) -> None:
    page = await open_page("/server")
    await expect(page.get_by_text("Only this machine can connect.")).to_be_visible()
    await client.send({"id": "code", "command": "get_connection_qr"})
    refused = await client.answer("code")
    assert "Allow connections from the network first." in refused["error"]
    await page.get_by_role("checkbox", name="Other devices can connect").click()
    await page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    await page.get_by_role("button", name="Show the code").first.click()
    await expect(page.get_by_role("img", name="QR code")).to_be_visible()
    [address, *_] = await client.call("list_server_addresses")
    code = await client.call("get_connection_qr", url=address["url"])
    assert code["url"].endswith(f"/#token={server.token}")
    matrix = segno.make_qr(code["url"], error="l", boost_error=False).matrix
    assert code["rows"] == ["".join(map(str, row)) for row in matrix]
    await client.call("update_preferences", changes={"http_server_localhost_only": True})


@pytest.mark.own_program
async def test_spinney_is_restarted_from_the_page_which_reconnects(
    open_page: OpenPage, page_errors: PageErrors
) -> None:
    page = await open_page("/server")
    page_errors.allow("WebSocket connection", "ERR_CONNECTION_REFUSED")
    await page.get_by_role("button", name="Restart").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restart").click()
    await expect(page.get_by_text("Spinney was restarted. Nothing is lost.")).to_be_visible()
    await expect(page.locator("#link")).to_have_text("connected")


@pytest.mark.own_program
async def test_a_page_whose_token_was_replaced_asks_for_the_new_one(
    open_page: OpenPage, client: Socket, page_errors: PageErrors
) -> None:
    page = await open_page("/server")
    page_errors.allow("401 (Unauthorized)")
    await client.call("regenerate_http_token")
    await expect(page.get_by_text("The token changed. Enter the new one.")).to_be_visible()
    await expect(page.get_by_role("textbox", name="Token")).to_be_focused()


async def test_the_page_is_opened_over_https(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    files = make_certificate(tmp_path / "tls")
    options = ("--certificate", str(files.certificate), "--key", str(files.key))
    with program.serving("--demo", *options) as served:
        assert served.base_url.startswith("https://127.0.0.1:")
        context = await browser.new_context(ignore_https_errors=True)
        page = await context.new_page()
        await page.goto(f"{served.base_url}/#token={served.token}")
        await expect(page.locator("#link")).to_have_text("connected")
        assert await page.evaluate("isSecureContext")
        await page.goto(f"{served.base_url}/lite")
        await page.get_by_label("Token").fill(served.token)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        [cookie] = await context.cookies()
        assert cookie["secure"] is True
        await context.close()
        program.call("list_projects")  # through the local endpoint, without the certificate
