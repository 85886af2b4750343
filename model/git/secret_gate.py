"""Keeps keys, tokens and passwords out of commits, pushes and what is written to pull requests.

Whatever commits or publishes takes a `SecretGate` and asks it, so no command can forget to. What
looks like a secret refuses the act, unless its fingerprint is allowed in the project, or given with
the act by a person who has seen it.
"""

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, NewType

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.domain.projects import Project
from model.domain.secret_findings import Publishing, SecretFinding, SecretReport
from model.git.added_lines import (
    AddedLines,
    Additions,
    read_staged_additions,
    read_unpublished_additions,
    read_unpublished_messages,
)
from model.git.merging import find_other_side
from model.secrets.scanner import find_secrets, mask_secrets
from model.state import State

_MAX_FINDINGS: Final = 100
_SHOWN: Final = 5
"""Findings that the refusal names."""
_EXCERPT: Final = 4
_ACTS: Final[dict[Publishing, str]] = {
    "commit": "The commit would contain",
    "push": "The push would publish",
    "pull_request": "The pull request would publish",
    "text": "The text would publish",
}

SearchedText = NewType("SearchedText", str)
"""A text that a `SecretGate` has let pass: the only one that may be sent to a hosting service."""


class SecretGate:
    """Searches what would be committed or published, and refuses what looks like a secret.

    Args:
        project: Its allowed secrets pass.
        is_on: Whether anything is searched.
        allowed: Fingerprints that pass this time, as a person has seen them.
    """

    def __init__(self, project: Project, *, is_on: bool, allowed: Collection[str] = ()) -> None:
        self._project = project
        self.is_on = is_on
        self._allowed = allowed

    async def check_commit(
        self, root: Path, message: str, *, stage_all: bool, additions: Additions | None = None
    ) -> str:
        """Raise `conflict` for secrets in what would be committed, or in the message.

        `additions` is what would be committed, if it was read already. Returns the id of the tree
        that was searched; empty if there is none.
        """
        if not self.is_on:
            return ""
        report, tree = await search_commit(
            self._project, root, message, stage_all=stage_all, additions=additions
        )
        refuse_secrets(report, "commit", self._allowed)
        return tree

    async def check_push(self, root: Path, remote: str, ref: str, name: str) -> None:
        """Raise `conflict` for secrets in the commits of a ref that a remote does not have yet.

        `name` is that of the branch there, which is published as well.
        """
        if self.is_on:
            report = await search_push(self._project, root, remote, ref, name)
            refuse_secrets(report, "push", self._allowed)

    def check_text(self, name: str, text: str, act: Publishing = "text") -> SearchedText:
        """Return a text as one that was searched; raises `conflict` if it has secrets."""
        if self.is_on:
            refuse_secrets(search_texts(self._project, {name: text}), act, self._allowed)
        return SearchedText(text)

    def mask_text(self, text: str) -> SearchedText:
        """Return a text with its secrets masked; for one that no person has seen."""
        return SearchedText(mask_secrets(text) if self.is_on else text)


def make_gate(state: State, project: Project, allowed: Collection[str] | None = None) -> SecretGate:
    """Return the gate of a project, as the preferences have it."""
    return SecretGate(project, is_on=state.preferences.secret_check, allowed=allowed or ())


async def search_commit(
    project: Project,
    root: Path,
    message: str,
    *,
    stage_all: bool,
    additions: Additions | None = None,
) -> tuple[SecretReport, str]:
    """Search what a commit would add, and its message; returns the id of the searched tree, too.

    While a merge, rebase, cherry-pick or revert is completed, what its other side has is not new.
    """
    if additions is None:
        additions = await read_staged_additions(root, stage_all=stage_all)
    report = await asyncio.to_thread(_search_additions, project, additions)
    other = await find_other_side(root) if report.findings else None
    if other is not None:
        added = await read_staged_additions(root, stage_all=stage_all, against=other)
        also = await asyncio.to_thread(_search_additions, project, added)
        new = {(found.path, found.fingerprint) for found in also.findings}
        findings = [one for one in report.findings if (one.path, one.fingerprint) in new]
        report = report.model_copy(update={"findings": findings})
    texts = search_texts(project, {"message": message})
    findings = [*texts.findings, *report.findings]
    return report.model_copy(update={"findings": findings}), additions.tree


async def search_push(
    project: Project, root: Path, remote: str, ref: str, name: str
) -> SecretReport:
    """Search the commits of a ref that a remote does not have yet, their messages, and a name."""
    additions = await read_unpublished_additions(root, remote, ref)
    report = await asyncio.to_thread(_search_additions, project, additions)
    messages = await read_unpublished_messages(root, remote, ref)
    named = AddedLines("branch name", 1, name)
    texts = await asyncio.to_thread(_search, project, [named, *messages])
    return report.model_copy(update={"findings": [*texts, *report.findings][:_MAX_FINDINGS]})


def search_texts(project: Project, texts: Mapping[str, str]) -> SecretReport:
    """Search texts; the keys are what they are called."""
    lines = (AddedLines(name, 1, text) for name, text in texts.items())
    return SecretReport(findings=_search(project, lines))


def refuse_secrets(report: SecretReport, act: Publishing, allowed: Collection[str]) -> None:
    """Raise `conflict`, naming them, if there are secrets whose fingerprints are not `allowed`."""
    refused = [found for found in report.findings if found.fingerprint not in allowed]
    if not refused:
        return
    shown = ", ".join(f"{found.label} in {_place(found)}" for found in refused[:_SHOWN])
    more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    raise SpinneyError(
        f"{_ACTS[act]} {count(len(refused), 'possible secret')}: {shown}{more}. Take "
        f"{'it' if len(refused) == 1 else 'them'} out, or allow what is no secret in the project.",
        "conflict",
    )


def fingerprint(project_id: str, secret: str) -> str:
    """Identify a secret in a project without revealing it; 16 hexadecimal digits."""
    data = f"{project_id}\0{secret}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def _place(found: SecretFinding) -> str:
    place = found.path if found.line is None else f"{found.path}:{found.line}"
    return f"{place} ({found.commit})" if found.commit else place


def _search_additions(project: Project, additions: Additions) -> SecretReport:
    findings = _search(project, additions.lines())
    return SecretReport(findings=findings, is_whole=additions.is_whole)


def _search(project: Project, added: Iterable[AddedLines]) -> list[SecretFinding]:
    findings: dict[tuple[str, str], SecretFinding] = {}
    for lines in added:
        for found in find_secrets(lines.text):
            secret = lines.text[found.start : found.end]
            digest = fingerprint(project.id, secret)
            if digest in project.allowed_secrets:
                continue
            findings.setdefault(
                (lines.path, digest),
                SecretFinding(
                    path=lines.path,
                    line=lines.first + lines.text.count("\n", 0, found.start),
                    commit=lines.commit,
                    label=found.label,
                    excerpt=clean_line(secret.lstrip("-")[:_EXCERPT]) + "…",
                    fingerprint=digest,
                ),
            )
            if len(findings) >= _MAX_FINDINGS:
                return list(findings.values())
    return list(findings.values())
