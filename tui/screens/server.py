"""The server that lets browsers and other terminals in: its address, its token, who reaches it."""

import getpass
import os
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.commands import server as commands
from model.commands.preferences import update_preferences
from model.errors import SpinneyError
from tui.screens.dialog import Confirm, Dialog, keys_line

if TYPE_CHECKING:
    from tui.screens.main import MainScreen

Part = str | tuple[str, str]


class ServerScreen(Dialog[None]):
    """What the server is now, and the keys that change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "start_or_stop", show=False),
        Binding("l", "reach", show=False),
        Binding("t", "token", show=False),
        Binding("g", "regenerate", show=False),
        Binding("c", "copy", show=False),
        Binding("q", "qr_code", show=False),
    ]
    CSS = """
    ServerScreen .dialog .problem { display: none; margin: 1 0 0 0; }
    ServerScreen.objected .dialog .problem { display: block; }
    """

    def __init__(self, main: "MainScreen", status: dict[str, Any], token: str) -> None:
        super().__init__("Server")
        self._main = main
        self.status = status
        self._token = token
        self._shows_token = False

    def body(self) -> list[Widget]:
        """What it is, an objection, keys."""
        return [
            Static(id="state", markup=False),
            Static(classes="problem", markup=False),
            Static(classes="keys", markup=False),
        ]

    def on_mount(self) -> None:
        """Follow what any client does to the server."""
        self._main.spinney.server_changed.subscribe(self, self.follow)
        self._show()

    async def follow(self, status: dict[str, Any]) -> None:
        """Show what it is now."""
        self.status = status
        self._token = await token_of(self._main)
        self._show()

    # What is shown ------------------------------------------------------------------------------

    def _show(self) -> None:
        runs = bool(self.status.get("running"))
        local = bool(self.status.get("localhost_only", True))
        parts = self._told_running() if runs else self._told_stopped()
        self.query_one("#state", Static).update(Content.assemble(*parts))
        first = [("s", "stop" if runs else "start")]
        first += [("l", "let this network in" if local else "this machine only")]
        first += [("q", "QR code"), ("esc", "close")] if runs else [("esc", "close")]
        more = [("c", "copy the address")] if runs else []
        if self._token:
            more += [("t", "hide the token" if self._shows_token else "show the token")]
        more += [("g", "new token")]
        keys = Content.assemble(keys_line(*first), "\n", keys_line(*more))
        self.query_one(".keys", Static).update(keys)

    def _told_stopped(self) -> list[Part]:
        return [
            ("○ The server is stopped.", "bold"),
            f"  It would take port {self.status.get('port')}, reachable from {self._reach}.\n\n",
            "While it runs, a browser or another Spinney can join: they see and do what you "
            "see and do here.",
        ]

    def _told_running(self) -> list[Part]:
        clients = int(self.status.get("clients", 0))
        others = "" if not clients else f" {clients} connected."
        parts: list[Part] = [
            ("● ", "$success"),
            ("The server runs", "bold"),
            f", reachable from {self._reach}.{others}\n\n",
            ("Address  ", "$text-muted"),
            (f"{self.status.get('base_url')}\n", "bold $accent"),
            ("Token    ", "$text-muted"),
            *self._token_line(),
        ]
        if self.status.get("localhost_only", True):
            port = self.status.get("port")
            parts += [
                "\n\nFrom another machine, this carries it over and keeps it closed to others:\n",
                (f"ssh -L {port}:127.0.0.1:{port} {_this_machine()}", "bold"),
                "\nOpen the address there then.",
            ]
        else:
            parts.append("\n\nOn a phone: q draws the address as a QR code that signs it in.")
        if self._requires_token:
            parts.append("\nWhoever has address and token can do all that you can do here.")
        return parts

    def _token_line(self) -> list[Part]:
        if not self._requires_token:
            return [("none is asked for", "$warning")]
        if not self._token:
            return [("only the machine that it runs on shows it", "$text-muted")]
        return [self._token if self._shows_token else "••••••••"]

    @property
    def _requires_token(self) -> bool:
        return bool(self.status.get("token_required", True))

    @property
    def _reach(self) -> str:
        return "this machine only" if self.status.get("localhost_only", True) else "this network"

    # What is done -------------------------------------------------------------------------------

    def _try(self, work: Callable[[], Awaitable[None]]) -> None:
        async def tried() -> None:
            self._object("")
            try:
                await work()
            except SpinneyError as error:
                self._object(error.message)

        self.run_worker(tried(), exclusive=True)

    def _object(self, sentence: str) -> None:
        self.set_class(bool(sentence), "objected")
        self.query_one(".problem", Static).update(sentence)

    def action_start_or_stop(self) -> None:
        """Let others in, or nobody any more."""
        self._try(self._start_or_stop)

    async def _start_or_stop(self) -> None:
        running = self.status.get("running")
        command = commands.stop_http_server if running else commands.start_http_server
        self._main.show_server(await self._main.client.call(command))

    def action_reach(self) -> None:
        """Between this machine and this network."""
        self._try(self._change_reach)

    async def _change_reach(self) -> None:
        local = bool(self.status.get("localhost_only", True))
        sentence = (
            "Everybody on this network could reach the server then; the token keeps them out. "
            "What is sent is not encrypted."
        )
        if local and not await self.app.push_screen_wait(
            Confirm("Let this network in", sentence, "let it in", enter=False)
        ):
            return
        changes = {"http_server_localhost_only": not local}
        await self._main.client.call(update_preferences, changes=changes)
        self._main.show_server(await self._main.client.call(commands.get_http_server_status))

    def action_token(self) -> None:
        """Show the token, or hide it again."""
        self._shows_token = not self._shows_token and bool(self._token)
        self._show()

    def action_regenerate(self) -> None:
        """Make a new token, asked first."""
        self._try(self._regenerate)

    async def _regenerate(self) -> None:
        sentence = "Make a new token? Whoever is connected with the old one has to sign in again."
        if await self.app.push_screen_wait(
            Confirm("New token", sentence, "make a new one", enter=False)
        ):
            await self.follow(await self._main.client.call(commands.regenerate_http_token))

    def action_copy(self) -> None:
        """Copy the address with the token."""
        if self.status.get("running"):
            self._main.spinney.copy(self.link)

    def action_qr_code(self) -> None:
        """The address with the token as a picture."""
        if not self.status.get("running"):
            return
        if self.status.get("localhost_only", True):
            self._object(
                f"No phone reaches {self.status.get('base_url')}: it means the phone itself there. "
                "Press l to let this network in."
            )
            return
        from tui.screens.server_qr import QrScreen

        self.app.push_screen(QrScreen(self.link))

    @property
    def link(self) -> str:
        """The address that opens the page signed in: the token never reaches a server's log."""
        base = str(self.status.get("base_url", "")).rstrip("/")
        return (
            f"{base}/#token={self._token}" if self._token and self._requires_token else f"{base}/"
        )


async def token_of(main: "MainScreen") -> str:
    """The token; empty where this client may not know it."""
    try:
        return await main.client.call(commands.get_http_server_token)
    except SpinneyError:
        return ""


def _this_machine() -> str:
    """`user@host`, as one reached it over SSH, or else by its name."""
    reached = os.environ.get("SSH_CONNECTION", "").split()
    host = reached[2] if len(reached) > 2 else socket.gethostname()
    try:
        return f"{getpass.getuser()}@{host}"
    except (KeyError, OSError):
        return host
