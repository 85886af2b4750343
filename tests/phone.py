"""A phone with ntfy's app: a server on this machine that keeps what is published, with buttons."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.patience import PATIENCE
from tests.program import until


@dataclass
class Phone:
    """What the phone has received, and a finger."""

    topic: str = ""
    """The address to publish to."""
    ledger: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """Every request in order: `POST` or `DELETE`, the notification's id, and its content."""

    @property
    def titles(self) -> list[str]:
        """The titles of all notifications in the order in which they came."""
        return [body["title"] for method, _, body in self.ledger if method == "POST"]

    @property
    def standing(self) -> list[str]:
        """The titles of the notifications that were not taken back."""
        shown: dict[str, str] = {}
        for method, key, body in self.ledger:
            shown.pop(key, None)
            if method == "POST":
                shown[key] = body["title"]
        return list(shown.values())

    def wait_for(self, title: str) -> dict[str, Any]:
        """Wait for a notification and return its content."""
        until(lambda: title in self.titles, f"the phone shows '{title}', it has {self.titles}")
        return next(body for _, _, body in reversed(self.ledger) if body.get("title") == title)

    def press(self, title: str, label: str) -> dict[str, Any]:
        """Press a button of a notification as ntfy's app does; return the reply."""
        buttons = {each["label"]: each for each in self.wait_for(title)["actions"]}
        button = buttons[label]
        assert button["action"] == "http", button
        request = urllib.request.Request(button["url"], method=button["method"])
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            answer: dict[str, Any] = json.load(reply)
        return answer


@contextmanager
def open_phone() -> Iterator[Phone]:
    """Receive notifications on a free port until the block exits."""
    phone = Phone()

    class Ntfy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._keep(body["sequence_id"], body)

        def do_DELETE(self) -> None:
            self._keep(self.path.rpartition("/")[2], {})

        def _keep(self, key: str, body: dict[str, Any]) -> None:
            phone.ledger.append((self.command, key, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Ntfy) as server:
        phone.topic = f"http://127.0.0.1:{server.server_port}/a-night"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield phone
        finally:
            server.shutdown()
            thread.join()
