"""The address of the page in notices."""

from typing import Any

from model.preferences.schema import Preferences
from model.runtime.page_address import find_page_address


class FakeServer:
    """A server that answers at an address, or does not run."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def status(self) -> dict[str, Any]:
        return {"running": bool(self.base_url), "base_url": self.base_url}

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None: ...

    async def stop(self) -> None: ...


def test_the_address_is_that_of_notify_link_or_one_that_others_can_reach() -> None:
    nothing, chosen = Preferences(), Preferences(notify_link="https://x.example")
    network = FakeServer("http://10.0.0.2:3456")
    assert find_page_address(nothing, None) == ""
    assert find_page_address(nothing, FakeServer("")) == ""
    assert find_page_address(nothing, FakeServer("http://127.0.0.1:3456")) == ""
    assert find_page_address(nothing, network) == "http://10.0.0.2:3456"
    assert find_page_address(chosen, network) == "https://x.example"
