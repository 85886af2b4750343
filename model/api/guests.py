"""Guest links: sharing a session or a project with other people and devices."""

from typing import Annotated, Final

from pydantic import Field

from model.api.command import command
from model.domain.guests import GuestAction, GuestLink, GuestRole
from model.domain.modes import ExecutionMode
from model.domain.resource import Resource

MAX_HOURS: Final = 30 * 24
MAX_NAME: Final = 100
MAX_ACTIONS: Final = 1000


class NewGuestLink(Resource):
    """The result of `create_guest_link`; the address is in no other result, as it has the token."""

    link: GuestLink
    url: str
    """Opens the page as this guest."""
    rows: list[str]
    """The rows of its QR code, without a margin: a `1` is dark."""
    hint: str = ""
    """Why the link does not work everywhere, in a sentence."""


@command
async def create_guest_link(
    session_id: str | None = None,
    project_id: str | None = None,
    role: GuestRole = "viewer",
    name: str = "",
    hours: Annotated[float, Field(gt=0, le=MAX_HOURS)] = 24,
    max_devices: Annotated[int, Field(ge=1, le=100)] = 1,
    max_mode: ExecutionMode = "build",
) -> NewGuestLink:
    """Make a link that shares one session, or all sessions of one project, with a guest.

    A `viewer` reads; an `approver` also answers permissions, questions and plans; a `driver` also
    sends messages, stops runs and sets the mode, up to `maxMode`. The link ends after `hours` (at
    most 720), and can be opened on `maxDevices` devices. Secrets are masked for guests. Fails with
    `conflict` while the server is not running.
    """


@command
async def list_guest_links() -> list[GuestLink]:
    """List the guest links, newest first; expired ones for a week. Without their addresses."""


@command
async def revoke_guest_link(link_id: str) -> None:
    """End a guest link; its open connections are closed at once."""


@command
async def list_guest_actions(
    link_id: str | None = None, limit: Annotated[int, Field(ge=1, le=MAX_ACTIONS)] = 100
) -> list[GuestAction]:
    """List what guests did, newest first: of one link, or of all, also of revoked ones."""
