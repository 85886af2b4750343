"""The address under which other devices reach the page."""

from model.notices.links import is_loopback
from model.preferences.schema import Preferences
from model.runtime.http_server import HttpServer


def find_page_address(preferences: Preferences, server: HttpServer | None) -> str:
    """Return the address of the preferences or else the server's own.

    Empty if there is none, or if only this machine can reach it.
    """
    if preferences.notify_link:
        return preferences.notify_link
    status = server.status() if server is not None else {}
    base = str(status["base_url"]) if status.get("running") else ""
    return "" if is_loopback(base) else base
