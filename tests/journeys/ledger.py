"""What the driven clients typed and decided, held against what a Spinney made of it.

Every text that is typed carries a mark of its own (`k17k`), and so does what the demo agent makes
of it. So each can be found again, on a screen or in a conversation, and told from all others.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.journeys.served import Client

MARK = re.compile(r"k\d+k")
_DRAWN = re.compile(r"[\s\u2500-\u259f]+")
"""Blanks and lines, which a screen puts between the characters of a text."""
COUNTED = (
    "session-created", "session-archived", "session-deleted",
    "worktree:creating", "worktree:archived", "worktree:deleted", "project:removed",
)  # fmt: skip
"""Events of which each is asked for by a person, by one key press or one call."""
MODE_CHANGED, STOPPED = "session-updated: mode", "message-completed: stopped"
"""What is not an event of its own, and is asked for likewise."""
KINDS = {
    "approved": "plan", "answered": "question", "allowed": "permission", "denied": "permission",
}  # fmt: skip
"""Which kind of request an outcome decides, by its first word."""
_REPEATED = re.compile(r"^You asked: .*$|\AThe plan is approved\. (?s:.*)", re.MULTILINE)
"""Where the agent that asked is gone, Spinney repeats the question before the answer to it, and
the plan that is approved."""


class FoundError(AssertionError):
    """Something that must hold did not; `steps` lead there."""

    steps: list[tuple[str, dict[str, Any]]]


@dataclass
class Conversation:
    """A session as the second client reads it."""

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
        """What it waits for, if it does."""
        request: dict[str, Any] | None = self.session["request"]
        return request if self.status == "waiting" else None

    @property
    def needs_somebody(self) -> bool:
        """Whether the terminal counts it among those that need somebody."""
        return self.status in ("waiting", "failed") or (
            self.status == "idle" and bool(self.session["unread"])
        )

    @property
    def is_long(self) -> bool:
        """Whether it rests and is more than a screen."""
        return self.status == "idle" and not self.queued and len(self.messages) > 8

    @property
    def is_archived(self) -> bool:
        return self.session.get("archived_at") is not None

    @property
    def marks(self) -> set[str]:
        """All that stand in it."""
        return set(MARK.findall(" ".join(strings([self.messages, self.queued]))))

    @property
    def tail(self) -> str:
        """The last word that is drawn as text: it stands at the end of the conversation."""
        for message in reversed(self.messages):
            for block in reversed(message["content"]):
                if block["type"] in ("text", "plan") and (
                    words := re.findall(r"\w+", block["text"])
                ):
                    return str(words[-1])
        return ""

    def decided(self) -> Iterator[tuple[str, str]]:
        """The requests that were decided, by the message in which they were made, and how."""
        for message in self.messages:
            for block in message["content"]:
                outcome = _outcome(block)
                if outcome:
                    yield message["id"], outcome


@dataclass
class World:
    """All conversations at one moment, by their sessions' ids."""

    conversations: dict[str, Conversation]

    @classmethod
    def read(cls, client: Client) -> "World":
        found = {}
        for project in client.call("list_projects"):
            wanted = {"projectId": project["id"], "includeArchived": True}
            for worktree in client.call("list_worktrees", **wanted):
                wanted = {"worktreeId": worktree["id"], "includeArchived": True}
                for session in client.call("list_sessions", **wanted):
                    named = {"sessionId": session["id"]}
                    # In this order: one that leaves the queue meanwhile is read twice.
                    queued = client.call("list_queued_messages", **named)
                    messages = client.call("get_messages", **named, limit=500)["messages"]
                    said = {message["id"] for message in messages}
                    queued = [message for message in queued if message["id"] not in said]
                    found[session["id"]] = Conversation(session, messages, queued)
        return cls(found)

    def named(self, name: str) -> Conversation | None:
        """The session of this name, which no other has."""
        named = (made for made in self.conversations.values() if made.name == name)
        return next(named, None)

    def at(self, number: int) -> Conversation:
        """One of all, counted in the order in which they were made."""
        made = list(self.conversations.values())
        made.sort(key=lambda conversation: conversation.session["created_at"])
        return made[number % len(made)]

    @property
    def open(self) -> list[Conversation]:
        """Those that are not archived."""
        return [made for made in self.conversations.values() if not made.is_archived]

    @property
    def texts(self) -> Iterator[str]:
        """All that was said or is to be said."""
        for conversation in self.conversations.values():
            yield from strings([conversation.messages, conversation.queued])


@dataclass
class Ledger:
    """The account of one journey."""

    typed: dict[str, str] = field(default_factory=dict)
    """Texts by their marks."""
    homes: dict[str, set[str]] = field(default_factory=dict)
    """The sessions in which each may be drawn."""
    sends: Counter[str] = field(default_factory=Counter)
    """How often each may have become a message."""
    acts: dict[str, set[str]] = field(default_factory=dict)
    """What a person chose deliberately, by the message of the request."""
    words: dict[str, list[str]] = field(default_factory=dict)
    """What was sent to each session: an answer in words, where it waited."""
    wanted: Counter[str] = field(default_factory=Counter)
    """How often each kind of event was asked for; see `COUNTED`."""
    happened: Counter[str] = field(default_factory=Counter)
    """How often each of them came."""
    requests: set[tuple[str, str]] = field(default_factory=set)
    """All requests that were made of a person: the message of each, and its kind."""
    accepted: set[str] = field(default_factory=set)
    """The ids of messages that were acknowledged."""
    counted: tuple[str, ...] = COUNTED
    """What may happen no more often than it was asked for."""
    _modes: dict[str, str] = field(default_factory=dict)
    """The last mode of each session."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def mark(self) -> str:
        """A mark that no other text has."""
        return f"k{next(self._numbers)}k"

    def type(self, text: str, *session_ids: str) -> None:
        """A text with a mark is typed where it may come to these sessions."""
        for mark in MARK.findall(text):
            self.typed[mark] = text
            self.homes.setdefault(mark, set()).update(session_ids)

    def send(self, text: str, session_id: str) -> None:
        """One key press sends this to a session."""
        self.sends.update(set(MARK.findall(text)))
        self.words.setdefault(session_id, []).append(text)

    def take_back(self, text: str) -> None:
        """What was sent is not said yet, and is taken back."""
        self.sends.subtract(set(MARK.findall(text)))

    def act(self, message_id: str, *outcomes: str) -> None:
        """A person chooses one of these outcomes for the request that was made in a message."""
        self.acts.setdefault(message_id, set()).update(outcomes)
        if any(outcome.startswith("approved") for outcome in outcomes):
            self.want(MODE_CHANGED)

    def want(self, event: str) -> None:
        """One key press, or one call, asks for this event."""
        self.wanted[event] += 1

    def lost(self, places: Iterable[str]) -> list[str]:
        """The typed texts that stand in none of these."""
        kept = "\n".join(_bare(place) for place in places)
        return [text for text in self.typed.values() if _bare(text) not in kept]

    def observe(self, events: Iterable[dict[str, Any]]) -> None:
        """Note what was asked and what was acknowledged."""
        for frame in events:
            body = frame.get("payload") or frame.get("data") or {}
            self.happened[frame["event"]] += 1
            match frame["event"]:
                case "session-waiting" if body["request"] is not None:
                    self.requests.add((body["request"]["message_id"], body["request"]["kind"]))
                case "session-created":
                    self._modes[body["session"]["id"]] = body["session"]["execution_mode"]
                case "session-updated" if "execution_mode" in body["updates"]:
                    mode = body["updates"]["execution_mode"]
                    if self._modes.get(body["session_id"], mode) != mode:
                        self.happened[MODE_CHANGED] += 1
                    self._modes[body["session_id"]] = mode
                case "message-completed" if body["stop_reason"] == "stopped":
                    self.happened[STOPPED] += 1
                case "message-queued":
                    self.accepted.add(body["message"]["id"])
                case "message-removed":
                    self.accepted.discard(body["message_id"])

    def forgive(self, events: Iterable[dict[str, Any]]) -> None:
        """Expect nothing that was taken back while the world was read."""
        for frame in events:
            if frame["event"] == "message-removed":
                self.accepted.discard((frame.get("payload") or frame["data"])["message_id"])

    def complaints(self, world: World) -> Iterator[str]:
        """What nobody asked for: decisions, messages that were sent twice or are gone."""
        sent: Counter[str] = Counter()
        known = set()
        for session_id, conversation in world.conversations.items():
            said = {_lines_of(words) for words in self.words.get(session_id, ())}
            for message_id, outcome in conversation.decided():
                meant = self.acts.get(message_id, set())
                in_words = outcome == "denied" or _lines_of(outcome.partition(" ")[2]) in said
                is_asked = (message_id, KINDS[outcome.partition(" ")[0]]) in self.requests
                if is_asked and outcome not in meant and not (said and in_words):
                    yield f"“{outcome}” was decided by nobody in {conversation.name}"
            for message in [*conversation.messages, *conversation.queued]:
                known.add(message["id"])
                if message["role"] == "user":
                    words = "\n".join(block.get("text", "") for block in message["content"])
                    sent.update(set(MARK.findall(_REPEATED.sub("", words))))
        for mark, times in sent.items():
            if times > self.sends[mark]:
                yield f"{mark} was sent {times} times, and should have been {self.sends[mark]}"
        for message_id in self.accepted - known:
            yield f"the message {message_id} was accepted and is gone"
        for event in self.counted:
            if self.happened[event] > self.wanted[event]:
                times, wanted = self.happened[event], self.wanted[event]
                yield f"{event} came {times} times, and was asked for {wanted} times"


def _bare(text: str) -> str:
    return _DRAWN.sub("", text)


def _lines_of(text: str) -> frozenset[str]:
    """In any order: a hand that goes back to the box writes on behind the line that it touched."""
    return frozenset(map(_bare, text.split("\n")))


def strings(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            yield from strings(list(value.values()))


def _outcome(block: dict[str, Any]) -> str:
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
