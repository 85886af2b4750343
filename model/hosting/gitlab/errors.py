"""Errors of GitLab and of `glab`, as sentences with the next step."""

import json
from typing import Any, Final

from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line
from model.hosting.gitlab.answers import Answer, Project
from model.hosting.program import Output

_MAX_MESSAGE: Final = 500
_MAX_BODY: Final = 50_000
"""Characters; what is longer is no message."""
_MAX_DEPTH: Final = 5
_UNTRUSTED: Final = ("x509", "certificate")
_UNREACHABLE: Final = (
    "dial tcp", "no such host", "i/o timeout", "tls handshake", "network is unreach",
    "connection re", "deadline exceeded", "eof", "proxyconnect",
)  # fmt: skip


def to_error(project: Project, answer: Answer, missing: str = "") -> SpinneyError:
    """Return the error for an answer with an error status."""
    host, said = project.host, get_message(answer)
    if "moved project" in said:
        return SpinneyError(
            f"The project has moved to another address on {host}. Change the remote with "
            "'git remote set-url', then try again.",
            "conflict",
        )
    match answer.status:
        case 401:
            return signed_out_error(host)
        case 403 if "insufficient_scope" in answer.body or "insufficient_scope" in said:
            return SpinneyError(
                f"The token that glab uses for {host} lacks the scope 'api'. Sign in again with "
                f"'glab auth login --hostname {host}', then try again.",
                "forbidden",
            )
        case 403:
            return SpinneyError(
                "The account that glab is signed in with does not have permission to do that in "
                f"'{project.path}'. Check the account with 'glab auth status'.",
                "forbidden",
            )
        case 404 if missing and "Project" not in said:
            return SpinneyError(missing, "not_found")
        case 404:
            return SpinneyError(
                f"There is no project '{project.path}' on {host}, or the account that glab is "
                "signed in with cannot see it. Check the account with 'glab auth status'.",
                "not_found",
            )
        case 429:
            return SpinneyError(
                "GitLab's rate limit for this account is exceeded. Try again later.",
                "rate_limit_error",
                retry_after=_read_seconds(answer.headers.get("retry-after")),
            )
        case status if status >= 500:
            hint = " (see https://status.gitlab.com)" if host == "gitlab.com" else ""
            return SpinneyError(
                f"GitLab at {host} has a problem at the moment{hint}. Try again in a few minutes.",
                "backend_unavailable",
            )
        case status:
            kind: ErrorType = "invalid_request" if status == 400 else "conflict"
            if answer.body.strip():
                return SpinneyError(f"GitLab refused: {said or f'HTTP {status}'}", kind)
            # glab 1.53 drops a body whose message is a list, or texts by field.
            return SpinneyError(
                f"GitLab refused (HTTP {status}), and this version of glab does not show the "
                "reason. Update glab, then try again.",
                kind,
            )


def to_failure(project: Project, found: Output) -> SpinneyError:
    """Return the error for a run of the program without an answer."""
    said = clean_line((found.err.strip() or found.out.strip())[:_MAX_MESSAGE])
    if "failed to read configuration" in said:
        return SpinneyError(f"glab cannot be used: {said}", "backend_unavailable")
    # What is before it is a URL, in which any word may be.
    lowered = said.lower().rpartition('": ')[2]
    if any(word in lowered for word in _UNTRUSTED):
        return SpinneyError(
            f"The certificate of {project.host} is not trusted. Name the file of its authority "
            f"with 'glab config set ca_cert FILE --host {project.host}', then try again.",
            "backend_unavailable",
        )
    if any(word in lowered for word in _UNREACHABLE):
        return SpinneyError(
            f"GitLab at {project.host} cannot be reached. Check the network connection, then try "
            "again.",
            "backend_unavailable",
        )
    if "login" in lowered or "authenticat" in lowered:
        return signed_out_error(project.host)
    return SpinneyError(said or f"glab failed (exit code {found.code}).", "backend_error")


def signed_out_error(host: str) -> SpinneyError:
    """Return the error for a host that `glab` has no valid account at."""
    return SpinneyError(
        f"glab is not signed in to {host}, or its token has expired. Run "
        f"'glab auth login --hostname {host}' in a terminal, then try again.",
        "backend_unavailable",
    )


def get_message(answer: Answer) -> str:
    """Return GitLab's own message in an answer, as one line."""
    try:
        found = json.loads(answer.body) if len(answer.body) <= _MAX_BODY else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    return describe(found.get("message") or found.get("error_description") or found.get("error"))


def describe(message: Any, depth: int = 0) -> str:
    """Flatten a message: a text, texts by field, or a list of them."""
    if depth > _MAX_DEPTH:
        return ""
    match message:
        case str():
            text = message
        case {"message": str() as text}:
            pass
        case dict():
            text = "; ".join(
                said if name == "base" else f"{name} {said}"
                for name, value in list(message.items())[:10]
                if (said := describe(value, depth + 1))
            )
        case list():
            text = "; ".join(filter(None, (describe(part, depth + 1) for part in message[:10])))
        case _:
            return ""
    return clean_line(text[:_MAX_MESSAGE])


def _read_seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() and len(text) < 7 else None
