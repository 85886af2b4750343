"""What guests may do: each command and path with the role that it needs. All others are refused.

A test compares these tables with all commands and paths, so that one that is added is decided on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from model.access.shapes import PICTURES
from model.base.errors import SpinneyError
from model.domain.guests import GuestRole, GuestTerms

_MAX_COMPARED: Final = 60_000
"""Characters of the two texts of a comparison: some two seconds of a processor at worst."""

Arguments = Mapping[str, Any]
"""The parsed arguments of a command, by their names in Python."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a command needs."""

    role: GuestRole
    acts: bool = False
    """Whether it changes something: then it runs in the workspace, else in the guest's world."""
    check: Callable[[GuestTerms, Arguments], None] = lambda terms, arguments: None
    """Raises `forbidden` for arguments that the guest may not use."""
    describe: Callable[[Arguments], str] = lambda arguments: ""
    """What it does, for the log of actions."""


def _check_approval(terms: GuestTerms, arguments: Arguments) -> None:
    _check_mode(terms, arguments["mode"])
    if arguments.get("fresh"):
        raise _forbidden("A guest cannot carry out a plan in a new session.")
    if arguments.get("plan") is not None and not terms.includes("driver"):
        raise _forbidden("Only a driver can change the plan.")


def _check_permission(terms: GuestTerms, arguments: Arguments) -> None:
    if arguments["decision"] == "allow_session" and not terms.includes("driver"):
        raise _forbidden("Only a driver can allow something for the whole session.")


def _check_settings(terms: GuestTerms, arguments: Arguments) -> None:
    if arguments.get("execution_mode"):
        _check_mode(terms, arguments["execution_mode"])
    for name in ("name", "model", "backend"):
        if arguments.get(name) is not None:
            raise _forbidden(f"A guest cannot change the {name} of a session.")


def _check_message(_: GuestTerms, arguments: Arguments) -> None:
    """Files of the owner's machine cannot be attached, only what was uploaded to the session."""
    folder = f"{PICTURES}{arguments['session_id']}/"
    for path in (*(arguments.get("files") or ()), *(arguments.get("images") or ())):
        if not path.startswith(folder) or "/" in path[len(folder) :]:
            raise _forbidden("A guest can attach uploaded files only.")


def _check_size(_: GuestTerms, arguments: Arguments) -> None:
    """The texts are the guest's own, and comparing them takes longer the longer they are."""
    if len(arguments["old"]) + len(arguments["new"]) > _MAX_COMPARED:
        raise _forbidden(f"A guest can compare texts of {_MAX_COMPARED:,} characters at most.")


def _check_mode(terms: GuestTerms, mode: str) -> None:
    order: tuple[str, ...] = ("plan", "build", "yolo")
    if order.index(mode) > order.index(terms.max_mode):
        raise _forbidden(f"The owner allows guests the {terms.max_mode} mode at most.")


def _forbidden(message: str) -> SpinneyError:
    return SpinneyError(message, "forbidden")


def _quote(text: object) -> str:
    line = " ".join(str(text).split())
    return f"“{line if len(line) <= 80 else line[:79] + '…'}”"


_READ: Final = Rule("viewer")

COMMANDS: Final[Mapping[str, Rule]] = {
    "get_edit_rows": Rule("viewer", check=_check_size),
    "get_message_blocks": _READ,
    "get_messages": _READ,
    "get_session": _READ,
    "get_worktree": _READ,
    "list_agents": _READ,
    "list_projects": _READ,
    "list_queued_messages": _READ,
    "list_sessions": _READ,
    "list_turns": _READ,
    "list_worktrees": _READ,
    "answer_permission": Rule(
        "approver",
        acts=True,
        check=_check_permission,
        describe=lambda given: {
            "allow": "allowed a request once",
            "allow_session": "allowed a request for the session",
            "deny": "denied a request",
        }[given["decision"]],
    ),
    "answer_question": Rule(
        "approver",
        acts=True,
        describe=lambda given: f"answered {_quote(_join_answers(given['answer']))}",
    ),
    "approve_plan": Rule(
        "approver",
        acts=True,
        check=_check_approval,
        describe=lambda given: (
            f"approved the plan in {given['mode']} mode"
            + (", with changes" if given.get("plan") is not None else "")
        ),
    ),
    "add_image": Rule("driver", acts=True, describe=lambda _: "uploaded a picture"),
    "remove_queued_message": Rule(
        "driver", acts=True, describe=lambda _: "removed a queued message"
    ),
    "send_chat_message": Rule(
        "driver",
        acts=True,
        check=_check_message,
        describe=lambda given: f"sent {_quote(given['message'])}",
    ),
    "send_queued_messages": Rule(
        "driver", acts=True, describe=lambda _: "sent the queued messages"
    ),
    "resume_session": Rule("driver", acts=True, describe=lambda _: "resumed the session"),
    "steer_queued_message": Rule(
        "driver", acts=True, describe=lambda _: "sent a queued message into the running turn"
    ),
    "stop_generation": Rule("driver", acts=True, describe=lambda _: "stopped the run"),
    "update_session": Rule(
        "driver",
        acts=True,
        check=_check_settings,
        describe=lambda given: (
            "set "
            + ", ".join(
                f"{name.replace('_', ' ')} to {given[name]}"
                for name in ("execution_mode", "thinking_level")
                if given.get(name)
            )
        ),
    ),
}

PATHS: Final[Mapping[tuple[str, str], GuestRole]] = {
    ("GET", "/api/init"): "viewer",
    ("GET", "/ws"): "viewer",
    ("GET", "/api/sessions/{session_id}/attachments/{name}"): "viewer",
    ("POST", "/api/sessions/{session_id}/attachments"): "driver",
}
"""Paths that need authentication and are open to guests, besides those that stand for a command."""


def require_role(terms: GuestTerms, role: GuestRole | None) -> None:
    """Raise `forbidden` unless the guest may do what this role may; `None` is for owners only."""
    if role is None:
        raise _forbidden("This is for the owner of this Spinney. You are a guest.")
    if not terms.includes(role):
        article = "an" if role == "approver" else "a"
        raise _forbidden(f"Only {article} {role} can do this. You are a guest as {terms.role}.")


def _join_answers(answer: object) -> str:
    return ", ".join(answer.values()) if isinstance(answer, dict) else str(answer)
