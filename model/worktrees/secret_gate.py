"""Keeps keys, tokens and passwords out of commits, pushes and pull requests.

What looks like a secret refuses the act, unless its fingerprint is allowed in the project, or
given with the act by a person who has seen it.
"""

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

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
)
from model.secrets.scanner import find_secrets

_MAX_FINDINGS: Final = 100
_SHOWN: Final = 5
"""Findings that the refusal names."""
_EXCERPT: Final = 4
_ACTS: Final[dict[Publishing, str]] = {
    "commit": "The commit would contain",
    "push": "The push would publish",
    "pull_request": "The pull request would publish",
}


async def search_commit(
    project: Project, root: Path, *, stage_all: bool
) -> tuple[SecretReport, str]:
    """Search what a commit would add; returns the id of the tree that was searched, too."""
    additions = await read_staged_additions(root, stage_all=stage_all)
    return await asyncio.to_thread(_search_additions, project, additions), additions.tree


async def search_push(project: Project, root: Path, remote: str) -> SecretReport:
    """Search the commits that a remote does not have yet."""
    additions = await read_unpublished_additions(root, remote)
    return await asyncio.to_thread(_search_additions, project, additions)


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
