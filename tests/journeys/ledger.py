"""Records what the clients typed and decided, and compares it with the server's conversations.

Each typed text contains a unique mark (`k17k`), which the demo agent repeats in its output. So each
text can be found on a screen or in a conversation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.journeys.client import Client

MARK = re.compile(r"k\d+k")
_DRAWN = re.compile(r"[\s\u2500-\u259f]+")
"""Whitespace and box-drawing characters, which a screen adds between the characters of a text."""
COUNTED = (
    "session-created", "session-archived", "session-deleted",
    "worktree:creating", "worktree:archived", "worktree:deleted", "project:removed",
)  # fmt: skip
"""Events that occur only on request: one for each key press or command."""
MODE_CHANGED, STOPPED = "session-updated: mode", "message-completed: stopped"
"""Names for changes that have no event of their own and occur only on request."""
KINDS = {
    "approved": "plan", "answered": "question", "allowed": "permission", "denied": "permission",
}  # fmt: skip
"""The kind of request for the first word of each outcome."""
_REPEATED = re.compile(r"^You asked: .*$|\AThe plan is approved\. (?s:.*)", re.MULTILINE)
"""Text that Spinney adds to a message when the agent has exited meanwhile: the question before the
answer to it, and the approved plan."""


class InvariantError(AssertionError):
    """An invariant does not hold after these `steps`."""

    steps: list[tuple[str, dict[str, Any]]]


@dataclass
class Conversation:
    """A session with its messages, as read by the second client."""

    session: dict[str, Any]
    messages: list[dict[str, Any]]
    queued: list[dict[str, Any]]

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.session["id"])

    @property
    def name(self) -> str:
        """The session's name."""
        return str(self.session["name"])

    @property
    def status(self) -> str:
        return str(self.session["status"])

    @property
    def request(self) -> dict[str, Any] | None:
        """The request that the session is waiting for, if any."""
        request: dict[str, Any] | None = self.session["request"]
        return request if self.status == "waiting" else None

    @property
    def needs_user(self) -> bool:
        """Whether the terminal counts it among the sessions that need the user."""
        return self.status in ("waiting", "failed") or (
            self.status == "idle" and bool(self.session["unread"])
        )

    @property
    def is_long(self) -> bool:
        """Whether it is idle and longer than a screen."""
        return self.status == "idle" and not self.queued and len(self.messages) > 8

    @property
    def is_archived(self) -> bool:
        return self.session.get("archived_at") is not None

    @property
    def marks(self) -> set[str]:
        """All marks in the conversation."""
        return set(MARK.findall(" ".join(strings([self.messages, self.queued]))))

    @property
    def kept_messages(self) -> list[dict[str, Any]]:
        """The messages that are not rewound; a screen folds the others into one line."""
        return [message for message in self.messages if not message.get("rewound")]

    @property
    def last_word(self) -> str:
        """The last word that is drawn as text, at the end of the conversation."""
        for message in reversed(self.kept_messages):
            for block in reversed(message["content"]):
                if block["type"] in ("text", "plan") and (
                    words := re.findall(r"\w+", block["text"])
                ):
                    return str(words[-1])
        return ""

    def find_decisions(self) -> Iterator[tuple[str, str]]:
        """Yield the message id and outcome of each request that was decided."""
        for message in self.messages:
            for block in message["content"]:
                outcome = _read_outcome(block)
                if outcome:
                    yield message["id"], outcome


@dataclass
class World:
    """All conversations at one moment, by session id."""

    conversations: dict[str, Conversation]

    @classmethod
    def read(cls, client: Client) -> "World":
        conversations = {}
        for project in client.call("list_projects"):
            arguments = {"projectId": project["id"], "includeArchived": True}
            for worktree in client.call("list_worktrees", **arguments):
                arguments = {"worktreeId": worktree["id"], "includeArchived": True}
                for session in client.call("list_sessions", **arguments):
                    session_id = session["id"]
                    # In this order: a message that leaves the queue meanwhile is not missed.
                    queued = client.call("list_queued_messages", sessionId=session_id)
                    page = client.call("get_messages", sessionId=session_id, limit=500)
                    messages = page["messages"]
                    sent = {message["id"] for message in messages}
                    queued = [message for message in queued if message["id"] not in sent]
                    conversations[session_id] = Conversation(session, messages, queued)
        return cls(conversations)

    def find_by_name(self, name: str) -> Conversation | None:
        """The session with this name; names are unique here."""
        return next((each for each in self.conversations.values() if each.name == name), None)

    def nth(self, number: int) -> Conversation:
        """The session with this number by age, modulo their count."""
        by_age = list(self.conversations.values())
        by_age.sort(key=lambda conversation: conversation.session["created_at"])
        return by_age[number % len(by_age)]

    @property
    def open_sessions(self) -> list[Conversation]:
        """The conversations that are not archived."""
        return [each for each in self.conversations.values() if not each.is_archived]

    @property
    def texts(self) -> Iterator[str]:
        """All texts in messages and queues."""
        for conversation in self.conversations.values():
            yield from strings([conversation.messages, conversation.queued])


@dataclass
class Ledger:
    """What was typed, sent, decided and requested in one journey."""

    typed: dict[str, str] = field(default_factory=dict)
    """The typed texts by mark."""
    allowed_sessions: dict[str, set[str]] = field(default_factory=dict)
    """The sessions in which each mark may be drawn."""
    send_counts: Counter[str] = field(default_factory=Counter)
    """How many messages may contain each mark."""
    decisions: dict[str, set[str]] = field(default_factory=dict)
    """The outcomes that were chosen, by the message of the request."""
    sent_texts: dict[str, list[str]] = field(default_factory=dict)
    """The texts sent to each session; each may answer a request."""
    expected: Counter[str] = field(default_factory=Counter)
    """How many events of each kind were requested; see `COUNTED`."""
    received: Counter[str] = field(default_factory=Counter)
    """How many of them were received."""
    requests: set[tuple[str, str]] = field(default_factory=set)
    """The message id and kind of every request to the user."""
    accepted: set[str] = field(default_factory=set)
    """The ids of messages that the server acknowledged."""
    counted: tuple[str, ...] = COUNTED
    """The kinds of events that may not occur more often than requested."""
    _modes: dict[str, str] = field(default_factory=dict)
    """The last mode of each session."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def new_mark(self) -> str:
        """Return an unused mark."""
        return f"k{next(self._numbers)}k"

    def record_typed(self, text: str, *session_ids: str) -> None:
        """Record a typed text, and the sessions in which it may be drawn."""
        for mark in MARK.findall(text):
            self.typed[mark] = text
            self.allowed_sessions.setdefault(mark, set()).update(session_ids)

    def record_sent(self, text: str, session_id: str) -> None:
        """Record that a text is sent to a session once."""
        self.send_counts.update(set(MARK.findall(text)))
        self.sent_texts.setdefault(session_id, []).append(text)

    def record_copied(self, text: str) -> None:
        """Record that a message is copied to a second session."""
        self.send_counts.update(set(MARK.findall(text)))

    def record_removed(self, text: str) -> None:
        """Record that a queued message is removed before the agent received it."""
        self.send_counts.subtract(set(MARK.findall(text)))

    def record_decision(self, message_id: str, *outcomes: str) -> None:
        """Record that one of these outcomes is chosen for the request in a message."""
        self.decisions.setdefault(message_id, set()).update(outcomes)
        if any(outcome.startswith("approved") for outcome in outcomes):
            self.expect(MODE_CHANGED)

    def expect(self, event: str) -> None:
        """Expect one more event of this kind."""
        self.expected[event] += 1

    def find_lost(self, texts: Iterable[str]) -> list[str]:
        """Return the typed texts that none of these strings contains."""
        present = "\n".join(_strip_drawing(text) for text in texts)
        return [text for text in self.typed.values() if _strip_drawing(text) not in present]

    def record_events(self, events: Iterable[dict[str, Any]]) -> None:
        """Record requests, acknowledged messages and counted events."""
        for frame in events:
            body = frame.get("payload") or frame.get("data") or {}
            self.received[frame["event"]] += 1
            match frame["event"]:
                case "session-waiting" if body["request"] is not None:
                    self.requests.add((body["request"]["message_id"], body["request"]["kind"]))
                case "session-created":
                    self._modes[body["session"]["id"]] = body["session"]["execution_mode"]
                case "session-updated" if "execution_mode" in body["updates"]:
                    mode = body["updates"]["execution_mode"]
                    if self._modes.get(body["session_id"], mode) != mode:
                        self.received[MODE_CHANGED] += 1
                    self._modes[body["session_id"]] = mode
                case "message-completed" if body["stop_reason"] == "stopped":
                    self.received[STOPPED] += 1
                case "message-queued":
                    self.accepted.add(body["message"]["id"])
                case "message-removed":
                    self.accepted.discard(body["message_id"])

    def ignore_removed(self, events: Iterable[dict[str, Any]]) -> None:
        """Stop expecting messages that were removed while the conversations were being read."""
        for frame in events:
            if frame["event"] == "message-removed":
                self.accepted.discard((frame.get("payload") or frame["data"])["message_id"])

    def find_violations(self, world: World) -> Iterator[str]:
        """Yield decisions and events that were not requested, and duplicate or lost messages."""
        sent: Counter[str] = Counter()
        known = set()
        for session_id, conversation in world.conversations.items():
            said = {_split_lines(words) for words in self.sent_texts.get(session_id, ())}
            for message_id, outcome in conversation.find_decisions():
                chosen = self.decisions.get(message_id, set())
                is_in_words = outcome == "denied" or _split_lines(outcome.partition(" ")[2]) in said
                is_asked = (message_id, KINDS[outcome.partition(" ")[0]]) in self.requests
                if is_asked and outcome not in chosen and not (said and is_in_words):
                    yield f"“{outcome}” was not requested in {conversation.name}"
            for message in [*conversation.messages, *conversation.queued]:
                known.add(message["id"])
                if message["role"] == "user":
                    words = "\n".join(block.get("text", "") for block in message["content"])
                    sent.update(set(MARK.findall(_REPEATED.sub("", words))))
        for mark, times in sent.items():
            if times > self.send_counts[mark]:
                yield f"{mark} was sent {times} times, expected {self.send_counts[mark]}"
        for message_id in self.accepted - known:
            yield f"message {message_id} was accepted and is missing"
        for event in self.counted:
            if self.received[event] > self.expected[event]:
                times, wanted = self.received[event], self.expected[event]
                yield f"{event} was received {times} times and requested {wanted} times"


def _strip_drawing(text: str) -> str:
    return _DRAWN.sub("", text)


def _split_lines(text: str) -> frozenset[str]:
    """The lines in any order, since typing may continue behind any line that was clicked."""
    return frozenset(map(_strip_drawing, text.split("\n")))


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            yield from strings(list(value.values()))


def _read_outcome(block: dict[str, Any]) -> str:
    match block:
        case {"type": "plan", "approved": str(mode)}:
            return f"approved {mode}"
        case {"type": "question", "answer": str(answer)}:
            return f"answered {answer}"
        case {"type": "question", "answer": dict(answers)}:
            return "answered " + " ".join(answers.values())
        case {"type": "tool_result", "content": str(content)}:
            if content.startswith("You denied"):
                return "denied"
            return "allowed" if content.startswith("allowed") else ""
    return ""
