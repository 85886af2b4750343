"""Where notices lead: the page's address, and one-time addresses that answer a request."""

import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from model.access.actions import ActionDecision
from model.base.errors import SpinneyError
from model.notices.outgoing import Outgoing

CreateAction = Callable[[str, str, ActionDecision, str], Awaitable[str]]
"""Makes a one-time token from the ids of a session and its request, a decision and an answer.

Raises `SpinneyError` if the request is no longer pending.
"""

_DECISIONS: Final[Mapping[str, tuple[tuple[ActionDecision, str], ...]]] = {
    "plan": (("approve", "Approve"),),
    "permission": (("allow", "Allow once"), ("deny", "Deny")),
}
"""The decisions that a notice of this reason offers, with their labels."""

_MAX_ANSWERS: Final = 2
"""Options of a question that become buttons; phones show three, and one opens the session."""


@dataclass(frozen=True, slots=True)
class ActionLink:
    """A button of a notice: a POST to its address decides."""

    label: str
    url: str
    path: str
    """The address without the server's."""


class Links:
    """Makes the addresses in notices.

    Args:
        read_base: Returns the address under which other devices reach the page; empty if none.
        create_action: Makes the tokens of buttons.
    """

    def __init__(self, read_base: Callable[[], str], create_action: CreateAction) -> None:
        self._read_base = read_base
        self._create_action = create_action

    def page(self, message: Outgoing) -> str:
        """Return the address that opens what the message is about; empty if there is none."""
        base = self._read_base().rstrip("/")
        return f"{base}{message.path}" if base else ""

    async def make_actions(self, message: Outgoing) -> list[ActionLink]:
        """Return the buttons of the message, each with a new token; none if it was answered."""
        base, notice = self._read_base().rstrip("/"), message.notice
        if notice is None or notice.session_id is None or notice.request_id is None:
            return []
        wanted = [(decision, label, "") for decision, label in _DECISIONS.get(notice.reason, ())]
        wanted += [("answer", label, label) for label in message.answers[:_MAX_ANSWERS]]
        links = []
        for decision, label, answer in wanted:
            try:
                token = await self._create_action(
                    notice.session_id, notice.request_id, decision, answer
                )
            except SpinneyError:
                return []
            path = f"/act/{token}"
            links.append(ActionLink(label, f"{base}{path}", path))
        return links


def is_loopback(url: str) -> bool:
    """Whether an address means the machine itself, and is of no use on a phone."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
