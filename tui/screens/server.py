"""The server dialog: status, address, token and network access of the HTTP server."""

import asyncio
import getpass
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.api import server as commands
from model.api.preferences import update_preferences
from model.base.errors import SpinneyError
from tui.desk import Desk
from tui.screens.dialog import AskText, Confirm, Dialog
from tui.widgets.key_line import keys_line

Part = str | tuple[str, str]
_SERVER_TASK: Final = ("http_server", None)
MAX_PORT: Final = 65535
RESTART_TIMEOUT: Final = 10.0
"""Seconds to wait for a server that changes its address."""


class ServerScreen(Dialog[None]):
    """The server's status, and the keys that change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "start_or_stop", show=False),
        Binding("l", "reach", show=False),
        Binding("t", "token", show=False),
        Binding("g", "regenerate", show=False),
        Binding("p", "port", show=False),
        Binding("r", "require_token", show=False),
        Binding("a", "start_with_spinney", show=False),
        Binding("c", "copy", show=False),
        Binding("q", "qr_code", show=False),
    ]
    CSS = """
    ServerScreen .dialog .problem { display: none; margin: 1 0 0 0; }
    ServerScreen.objected .dialog .problem { display: block; }
    ServerScreen.-low .dialog .page { max-height: 50vh; }
    ServerScreen.-low.objected .dialog .page { max-height: 4; }
    ServerScreen.-low .dialog .keys, ServerScreen.-low .dialog .problem { margin: 0; }
    """

    def __init__(self, desk: Desk, status: dict[str, Any], token: str) -> None:
        super().__init__("Server")
        self._desk = desk
        self.status = status
        self._token = token
        self._addresses: list[commands.ServerAddress] = []
        self._shows_token = False
        self._moving = ""
        """The change in progress, as text; '' if there is none."""
        self._updated = asyncio.Event()
        """Set when the server has applied or refused the settings."""
        self._problem = ""

    def body(self) -> list[Widget]:
        """Status, error and keys."""
        return [
            VerticalScroll(Static(id="state", markup=False), classes="page"),
            Static(classes="problem", markup=False),
            Static(classes="keys", markup=False),
        ]

    def on_mount(self) -> None:
        """Follow changes to the server by any client."""
        self._desk.host.server_changed.subscribe(self, self.follow)
        self._desk.host.preferences_changed.subscribe(self, lambda _: self._show())
        self._reported.add(_SERVER_TASK)
        self._show()
        self.run_worker(self._list_addresses())

    def on_unmount(self) -> None:
        """Let errors appear as notifications again."""
        self._reported.discard(_SERVER_TASK)

    @property
    def _reported(self) -> set[tuple[str, str | None]]:
        return self._desk.pending.reported

    async def follow(self, update: tuple[dict[str, Any], str]) -> None:
        """Show a new status, and why it is not as requested."""
        self.status, self._problem = update
        self._token = await token_of(self._desk)
        self._updated.set()
        self._show()
        if self._problem:
            self._show_error(self._problem)
        await self._list_addresses()

    async def _list_addresses(self) -> None:
        self._addresses = await self._desk.client.call(commands.list_server_addresses)
        self._show()

    # Display ------------------------------------------------------------------------------------

    def _show(self) -> None:
        runs = bool(self.status.get("running"))
        local = bool(self.status.get("localhost_only", True))
        parts = self._running_text() if runs else self._stopped_text()
        self.query_one("#state", Static).update(Content.assemble(*parts))
        first = [("s", "stop" if runs else "start")]
        first += [("l", "allow network" if local else "this machine only"), ("p", "port")]
        second = [("t", "hide token" if self._shows_token else "show token")]
        second = second if self._token else []
        second += [("g", "new token")]
        second += [("r", "don't require token" if self._requires_token else "require token")]
        third = [("c", "copy URL"), ("q", "QR code")] if runs else []
        third += [("a", "start manually" if self._starts_with_spinney else "start with Spinney")]
        lines = (first, second, [*third, ("esc", "close")])
        keys = Content("\n").join([keys_line(*line) for line in lines])
        self.query_one(".keys", Static).update(keys)

    def _stopped_text(self) -> list[Part]:
        return [
            ("○ The server is stopped.", "bold"),
            f"  It will use port {self.status.get('port')}, reachable from {self._reach}."
            f"{self._start_text}\n\n",
            "While it runs, a browser or another Spinney can connect. They can see and do "
            "everything that you can.",
        ]

    def _running_text(self) -> list[Part]:
        clients = int(self.status.get("clients", 0))
        others = "" if not clients else f" {clients} connected."
        parts: list[Part] = [
            *([("◐ ", "$accent")] if self._moving else [("● ", "$success")]),
            (self._moving or "The server is running", "bold"),
            "" if self._moving else f", reachable from {self._reach}.",
            f"{others}{self._start_text}\n\n",
            ("Address  ", "$text-muted"),
            (f"{self.status.get('base_url')}\n", "bold $accent"),
            ("Token    ", "$text-muted"),
            *self._token_line(),
            *self._other_addresses(),
        ]
        if self.status.get("warning"):
            parts += ["\n\n", (str(self.status["warning"]), "$warning")]
        if self.status.get("localhost_only", True):
            port = self.status.get("port")
            parts += [
                "\n\nTo connect from another machine, forward the port over SSH:\n",
                (f"ssh -L {port}:127.0.0.1:{port} {_this_machine()}", "bold"),
                "\nThen open the address there.",
            ]
        else:
            parts.append("\n\nTo connect a phone, press q for a QR code that signs it in.")
        if self._requires_token:
            parts.append("\nAnyone with the address and the token has full access.")
        return parts

    def _other_addresses(self) -> list[Part]:
        others = [each for each in self._addresses if each.url != self.status.get("base_url")]
        return [
            part
            for each in others
            for part in (("\nAlso     ", "$text-muted"), f"{each.url}  ({each.label})")
        ]

    def _token_line(self) -> list[Part]:
        if not self._requires_token:
            return [("not required", "$warning")]
        if not self._token:
            return [("shown only on the server's machine", "$text-muted")]
        return [self._token if self._shows_token else "••••••••"]

    @property
    def _requires_token(self) -> bool:
        return bool(self.status.get("token_required", True))

    @property
    def _is_encrypted(self) -> bool:
        preferences = self._desk.state.preferences
        return bool(preferences.http_server_certificate and preferences.http_server_key)

    @property
    def _starts_with_spinney(self) -> bool:
        return self._desk.state.preferences.http_server_auto_start

    @property
    def _start_text(self) -> str:
        return " It starts with Spinney." if self._starts_with_spinney else ""

    @property
    def _reach(self) -> str:
        if self.status.get("localhost_only", True):
            return "this machine only"
        host = self.status.get("host", "0.0.0.0")
        return "this network" if host == "0.0.0.0" else f"{host} only"

    # Actions ------------------------------------------------------------------------------------

    def _try(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            self._show_error("")
            try:
                await work()
            except SpinneyError as error:
                self._show_error(error.message)

        self.run_worker(run(), exclusive=True)

    def _show_error(self, sentence: str) -> None:
        self.set_class(bool(sentence), "objected")
        self.query_one(".problem", Static).update(sentence)

    def action_start_or_stop(self) -> None:
        """Start or stop the server."""
        self._try(self._start_or_stop)

    async def _start_or_stop(self) -> None:
        running = self.status.get("running")
        command = commands.stop_http_server if running else commands.start_http_server
        self._desk.show_server(await self._desk.client.call(command))

    def action_reach(self) -> None:
        """Switch between local and network access."""
        self._try(self._change_reach)

    async def _change_reach(self) -> None:
        local = bool(self.status.get("localhost_only", True))
        sentence = (
            "Anyone on this network will be able to reach the server; only the token keeps them "
            f"out. {'' if self._is_encrypted else 'Traffic is not encrypted.'}".rstrip()
        )
        if local and not await self.app.push_screen_wait(
            Confirm("Allow network access", sentence, "allow")
        ):
            return
        where = "this network" if local else "this machine only"
        await self._change({"http_server_localhost_only": not local}, f"Restarting for {where} …")

    async def _change(self, changes: dict[str, Any], moving: str) -> None:
        """Save settings, wait for a running server to apply them, and revert them if it cannot."""
        call, preferences = self._desk.client.call, self._desk.state.preferences
        before = {key: getattr(preferences, key) for key in changes}
        if changes == before:
            self._show_error("This is already set. Stop and start the server to apply it.")
            return
        self._moving = moving if self.status.get("running") else ""
        self._problem = ""
        self._updated.clear()
        self._show()
        try:
            await call(update_preferences, changes=changes)
            if self._moving:
                async with asyncio.timeout(RESTART_TIMEOUT):
                    await self._updated.wait()
            if self._problem:
                await call(update_preferences, changes=before)
        except TimeoutError:
            self._show_error("The server has not restarted yet. Check again in a moment.")
        finally:
            self._moving = ""
        status = await call(commands.get_http_server_status)
        self._desk.show_server(status, self._problem)

    def action_port(self) -> None:
        """Ask for another port, and use it."""
        self._try(self._change_port)

    async def _change_port(self) -> None:
        present, problem = str(self.status.get("port") or ""), ""
        while True:
            sentence = problem or "A number up to 65535; 0 selects any free port."
            if self._desk.host.remote_address:
                sentence += (
                    " This terminal keeps using the present port; attach to the new one next time."
                )
            given = await self.app.push_screen_wait(
                AskText("Port of the server", present, sentence=sentence)
            )
            if given is None or given == str(self.status.get("port")):
                return
            if given.isascii() and given.isdigit() and int(given) <= MAX_PORT:
                break
            present, problem = (
                given,
                f"'{given}' is not a port. Enter a number from 0 to {MAX_PORT}.",
            )
        await self._change({"http_server_port": int(given)}, f"Moving to port {given} …")

    def action_require_token(self) -> None:
        """Turn the token requirement on, or off after confirmation."""
        self._try(self._change_token_required)

    async def _change_token_required(self) -> None:
        required = self._requires_token
        sentence = "Every program and user on this machine will be able to run agents as you."
        if required and not await self.app.push_screen_wait(
            Confirm("Don't require token", sentence, "don't require")
        ):
            return
        message = "Removing the token requirement …" if required else "Requiring the token …"
        await self._change({"http_server_token_required": not required}, message)

    def action_start_with_spinney(self) -> None:
        """Switch whether the server starts with Spinney."""
        self._try(self._change_start)

    async def _change_start(self) -> None:
        changes = {"http_server_auto_start": not self._starts_with_spinney}
        await self._desk.client.call(update_preferences, changes=changes)

    def action_token(self) -> None:
        """Show or hide the token."""
        self._shows_token = not self._shows_token and bool(self._token)
        self._show()

    def action_regenerate(self) -> None:
        """Generate a new token, after confirmation."""
        self._try(self._regenerate)

    async def _regenerate(self) -> None:
        sentence = "Generate a new token? All connected clients have to sign in again."
        if await self.app.push_screen_wait(Confirm("New token", sentence, "generate")):
            await self.follow((await self._desk.client.call(commands.regenerate_http_token), ""))
            self._desk.say("The token was replaced. Agents keep working.")

    def action_copy(self) -> None:
        """Copy the address with the token."""
        if self.status.get("running"):
            self._desk.host.copy(self.link)

    def action_qr_code(self) -> None:
        """Show the address with the token as a QR code."""
        if not self.status.get("running"):
            return
        if self.status.get("localhost_only", True):
            self._show_error(
                f"A phone cannot open {self.status.get('base_url')}, which is local to this "
                "machine. Press l to allow network access."
            )
            return
        from tui.screens.server_qr import QrScreen

        urls = [each.url for each in self._addresses if each.kind != "machine"]
        base_url = str(self.status.get("base_url"))
        codes = {
            f"{url}, with the token. Keep it private.": self._sign_in_link(url)
            for url in (*urls, base_url)
        }
        self.app.push_screen(QrScreen(codes))

    @property
    def link(self) -> str:
        """The address that opens the page signed in."""
        return self._sign_in_link(str(self.status.get("base_url", "")))

    def _sign_in_link(self, url: str) -> str:
        """`url` with the token, which the fragment keeps out of logs."""
        base = url.rstrip("/")
        return (
            f"{base}/#token={self._token}" if self._token and self._requires_token else f"{base}/"
        )


async def token_of(desk: Desk) -> str:
    """Return the token; '' if this client may not know it."""
    try:
        return await desk.client.call(commands.get_http_server_token)
    except SpinneyError:
        return ""


def _this_machine() -> str:
    """Return `user@host` with the address used over SSH, or else the host name."""
    reached = os.environ.get("SSH_CONNECTION", "").split()
    host = reached[2] if len(reached) > 2 else socket.gethostname()
    try:
        return f"{getpass.getuser()}@{host}"
    except (KeyError, OSError):
        return host
