"""A guest of one project, who may answer requests there and knows of nothing else."""

import json
import urllib.request
from typing import Final

from tests.journeys.client import Client, RefusedError
from tests.journeys.ledger import Conversation, InvariantError, World
from tests.journeys.second_client import SecondClient
from tests.patience import PATIENCE

PROJECT: Final = "alpha"
"""The name of the project that is shared."""


class Guest:
    """An approver with a guest link to the first project.

    Args:
        owner: Makes the link.
        base_url: The address of the server.
    """

    def __init__(self, owner: Client, base_url: str) -> None:
        self._base_url = base_url
        projects = {each["name"]: each["id"] for each in owner.call("list_projects")}
        self._project_id = projects[PROJECT]
        terms = {"projectId": self._project_id, "role": "approver", "name": "Bo"}
        link = owner.call("create_guest_link", **terms)["url"].partition("#guest=")[2]
        body = json.dumps({"link": link}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{base_url}/api/guest", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            self._token = json.load(reply)["token"]
        self.connect(owner)

    def connect(self, owner: Client) -> None:
        """Connect to the server, again after it was restarted; `owner` is its owner's client."""
        self._owner = owner
        self.client = Client(self._base_url, self._token)
        self._read = 0
        """The number of events that were searched."""

    def decide(self, second: SecondClient, world: World, number: int) -> None:
        """Decide on a session's request as the guest.

        Raises `InvariantError` if the guest learns of another project, or may do more.
        """
        arguments = {"projectId": self._project_id, "includeArchived": True}
        shared = {each["id"] for each in self._owner.call("list_worktrees", **arguments)}
        foreign = {
            each.id
            for each in world.conversations.values()
            if each.session["worktree_id"] not in shared
        }
        self._search_events(foreign)
        wanted = world.nth(number)
        if wanted.id in foreign:
            self._expect_refusal(wanted, "get_session")
        else:
            self._expect_refusal(wanted, "archive_session")
            second.perform("decide", self.client, world, number)

    def _search_events(self, foreign: set[str]) -> None:
        events = self.client.events[self._read :]
        self._read += len(events)
        for event in events:
            if any(session_id in json.dumps(event) for session_id in foreign):
                raise InvariantError(f"a guest received {event['event']} of another project")

    def _expect_refusal(self, conversation: Conversation, command: str) -> None:
        try:
            self.client.call(command, sessionId=conversation.id)
        except RefusedError:
            return
        raise InvariantError(f"a guest could {command} {conversation.name}")
