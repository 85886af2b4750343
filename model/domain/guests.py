"""Guest links as clients see them, and the log of what guests did."""

from typing import Final, Literal, get_args

from model.domain.modes import ExecutionMode
from model.domain.resource import Resource

GuestRole = Literal["viewer", "approver", "driver"]
"""A viewer reads, an approver also answers requests, a driver also sends, stops, sets the mode."""

ROLES: Final[tuple[GuestRole, ...]] = get_args(GuestRole)
"""Each role may do what those before it may."""


class GuestTerms(Resource):
    """What a guest may do, and for how long."""

    role: GuestRole
    session_id: str | None = None
    """The only session that is shared; `None` if a project is."""
    project_id: str | None = None
    """The project of which all worktrees and sessions are shared."""
    max_mode: ExecutionMode = "build"
    """The mode that a guest can set, or approve a plan in, at most."""
    expires_at: float

    def includes(self, role: GuestRole) -> bool:
        """Whether the guest may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


class GuestLink(GuestTerms):
    """A link that the owner has given to others."""

    id: str
    name: str
    """Whom it is for, as the owner wrote it."""
    scope_name: str = ""
    """The name of the session or project when the link was made."""
    created_at: float
    max_devices: int = 1
    devices: int = 0
    """How many devices have opened it."""
    last_used: float | None = None


class GuestAction(Resource):
    """One thing that a guest did."""

    at: float
    link_id: str
    name: str
    """That of the link."""
    device: int
    """From 1, in the order in which the devices opened the link."""
    session_id: str | None = None
    action: str
    """A few words, such as `approved the plan in build mode`."""
    ok: bool = True
    """Whether it succeeded."""
