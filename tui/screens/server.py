"""The server that lets browsers and other terminals in: its address, its token, who reaches it."""

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
_TOLD: Final = ("http_server", None)
HIGHEST_PORT: Final = 65535
LONGEST_MOVE: Final = 10.0
"""Seconds until a server that moves must have said how it went."""


class ServerScreen(Dialog[None]):
    """What the server is now, and the keys that change it."""

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
        self._shows_token = False
        self._moving = ""
        """What the server is about to do, while it does."""
        self._heard = asyncio.Event()
        """Set when the server has done, or refused, what the settings say."""
        self._problem = ""

    def body(self) -> list[Widget]:
        """What it is, an objection, keys."""
        return [
            VerticalScroll(Static(id="state", markup=False), classes="page"),
            Static(classes="problem", markup=False),
            Static(classes="keys", markup=False),
        ]

    def on_mount(self) -> None:
        """Follow what any client does to the server."""
        self._desk.host.server_changed.subscribe(self, self.follow)
        self._desk.host.preferences_changed.subscribe(self, lambda _: self._show())
        self._told_here.add(_TOLD)
        self._show()

    def on_unmount(self) -> None:
        """What goes wrong is told where it is seen again."""
        self._told_here.discard(_TOLD)

    @property
    def _told_here(self) -> set[tuple[str, str | None]]:
        return self._desk.pending.reported

    async def follow(self, told: tuple[dict[str, Any], str]) -> None:
        """Show what it is now, and why it is not as somebody wanted it."""
        self.status, self._problem = told
        self._token = await token_of(self._desk)
        self._heard.set()
        self._show()
        if self._problem:
            self._object(self._problem)

    # What is shown ------------------------------------------------------------------------------

    def _show(self) -> None:
        runs = bool(self.status.get("running"))
        local = bool(self.status.get("localhost_only", True))
        parts = self._told_running() if runs else self._told_stopped()
        self.query_one("#state", Static).update(Content.assemble(*parts))
        first = [("s", "stop" if runs else "start")]
        first += [("l", "let this network in" if local else "this machine only"), ("p", "port")]
        second = [("t", "hide the token" if self._shows_token else "show the token")]
        second = second if self._token else []
        second += [("g", "new token")]
        second += [("r", "ask for no token" if self._requires_token else "ask for the token")]
        third = [("c", "copy the address"), ("q", "QR code")] if runs else []
        third += [("a", "start by hand" if self._starts_with_spinney else "start with Spinney")]
        lines = (first, second, [*third, ("esc", "close")])
        keys = Content("\n").join([keys_line(*line) for line in lines])
        self.query_one(".keys", Static).update(keys)

    def _told_stopped(self) -> list[Part]:
        return [
            ("○ The server is stopped.", "bold"),
            f"  It would take port {self.status.get('port')}, reachable from {self._reach}."
            f"{self._start_told}\n\n",
            "While it runs, a browser or another Spinney can join: they see and do what you "
            "see and do here.",
        ]

    def _told_running(self) -> list[Part]:
        clients = int(self.status.get("clients", 0))
        others = "" if not clients else f" {clients} connected."
        parts: list[Part] = [
            *([("◐ ", "$accent")] if self._moving else [("● ", "$success")]),
            (self._moving or "The server runs", "bold"),
            "" if self._moving else f", reachable from {self._reach}.",
            f"{others}{self._start_told}\n\n",
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
    def _starts_with_spinney(self) -> bool:
        return self._desk.state.preferences.http_server_auto_start

    @property
    def _start_told(self) -> str:
        return " It starts with Spinney." if self._starts_with_spinney else ""

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
        self._desk.show_server(await self._desk.client.call(command))

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
            Confirm("Let this network in", sentence, "let it in")
        ):
            return
        where = "this network" if local else "this machine only"
        await self._change({"http_server_localhost_only": not local}, f"Moving to {where} …")

    async def _change(self, changes: dict[str, Any], moving: str) -> None:
        """Save settings that a running server follows; what it cannot follow is taken back."""
        call, preferences = self._desk.client.call, self._desk.state.preferences
        before = {key: getattr(preferences, key) for key in changes}
        if changes == before:
            self._object("That is set already: stop the server and start it again.")
            return
        self._moving = moving if self.status.get("running") else ""
        self._problem = ""
        self._heard.clear()
        self._show()
        try:
            await call(update_preferences, changes=changes)
            if self._moving:
                async with asyncio.timeout(LONGEST_MOVE):
                    await self._heard.wait()
            if self._problem:
                await call(update_preferences, changes=before)
        except TimeoutError:
            self._object("The server has not said yet whether it moved; look again in a moment.")
        finally:
            self._moving = ""
        status = await call(commands.get_http_server_status)
        self._desk.show_server(status, self._problem)

    def action_port(self) -> None:
        """Another port, asked for."""
        self._try(self._change_port)

    async def _change_port(self) -> None:
        present, problem = str(self.status.get("port") or ""), ""
        while True:
            sentence = problem or "A number up to 65535; 0 takes any that is free."
            if self._desk.host.remote_address:
                sentence += " Attach by the new one next time: this terminal knows the one of now."
            given = await self.app.push_screen_wait(
                AskText("Port of the server", present, sentence=sentence)
            )
            if given is None or given == str(self.status.get("port")):
                return
            if given.isascii() and given.isdigit() and int(given) <= HIGHEST_PORT:
                break
            present, problem = given, f"'{given}' is no port: a number from 0 to {HIGHEST_PORT}."
        await self._change({"http_server_port": int(given)}, f"Moving to port {given} …")

    def action_require_token(self) -> None:
        """Whether the token is asked for; asked first before it is not."""
        self._try(self._change_token_required)

    async def _change_token_required(self) -> None:
        required = self._requires_token
        sentence = "Every program and every user of this machine could run agents as you then."
        if required and not await self.app.push_screen_wait(
            Confirm("Ask for no token", sentence, "ask for none")
        ):
            return
        words = "Taking the token away …" if required else "Asking for the token …"
        await self._change({"http_server_token_required": not required}, words)

    def action_start_with_spinney(self) -> None:
        """Whether the server starts whenever Spinney does."""
        self._try(self._change_start)

    async def _change_start(self) -> None:
        changes = {"http_server_auto_start": not self._starts_with_spinney}
        await self._desk.client.call(update_preferences, changes=changes)

    def action_token(self) -> None:
        """Show the token, or hide it again."""
        self._shows_token = not self._shows_token and bool(self._token)
        self._show()

    def action_regenerate(self) -> None:
        """Make a new token, asked first."""
        self._try(self._regenerate)

    async def _regenerate(self) -> None:
        sentence = "Make a new token? Whoever is connected with the old one has to sign in again."
        if await self.app.push_screen_wait(Confirm("New token", sentence, "make a new one")):
            await self.follow((await self._desk.client.call(commands.regenerate_http_token), ""))

    def action_copy(self) -> None:
        """Copy the address with the token."""
        if self.status.get("running"):
            self._desk.host.copy(self.link)

    def action_qr_code(self) -> None:
        """The address with the token as a picture."""
        if not self.status.get("running"):
            return
        if self.status.get("localhost_only", True):
            self._object(
                f"A phone cannot open {self.status.get('base_url')}: only this machine can. "
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


async def token_of(desk: Desk) -> str:
    """The token; empty where this client may not know it."""
    try:
        return await desk.client.call(commands.get_http_server_token)
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
