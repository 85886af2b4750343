"""The server view: access from other devices, and the code that signs them in."""

import segno
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.program import Serving
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
    await page.get_by_role("button", name="Show the code").click()
    await expect(page.get_by_role("img", name="QR code")).to_be_visible()
    code = await client.call("get_connection_qr")
    assert code["url"].endswith(f"/#token={server.token}")
    matrix = segno.make_qr(code["url"], error="l", boost_error=False).matrix
    assert code["rows"] == ["".join(map(str, row)) for row in matrix]
    await client.call("update_preferences", changes={"http_server_localhost_only": True})
