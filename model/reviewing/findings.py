"""The findings of a review, and what becomes of them in the next one and as lines change."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pydantic import Field

from model.domain.code_reviews import Finding, Severity
from model.domain.resource import Resource
from model.reviewing.answer import FoundProblem

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "major", "minor", "note")
_SAME_WORDS: Final = 0.4
"""Of all words of two explanations, the part that both have if they are about the same."""
_MAX_MOVED: Final = 2_000
"""Lines by which those of a finding may have moved."""
_NEAR: Final = 5
"""Lines in which a line beside a finding is searched."""
_MAX_FORGOTTEN: Final = 300
"""Dismissed findings that are remembered, although the newest review does not have them."""


class FindingRecord(Resource):
    """A finding, and what it takes to find its lines again."""

    finding: Finding
    name: str
    """The path's bytes as Latin-1."""
    anchor: list[str] = Field(default_factory=list)
    """The text of its lines."""
    before: str = ""
    """The nearest line above them that is not blank; `after` likewise."""
    after: str = ""


def merge_findings(
    problems: Sequence[FoundProblem], before: Sequence[FindingRecord], make_id: Iterable[str]
) -> tuple[list[FindingRecord], list[FindingRecord]]:
    """Return the findings of a new review, and dismissed ones that it does not have.

    What the review before had is not new, and stays dismissed if it was.
    """
    rest = list(before)
    merged = []
    for problem, key in zip(problems, make_id, strict=False):
        same = next((one for one in rest if _is_same(problem, one)), None)
        if same is not None:
            rest.remove(same)
        is_dismissed = same is not None and same.finding.state == "dismissed"
        finding = Finding(
            id=same.finding.id if same is not None else key,
            path=problem.path,
            first_line=problem.first_line,
            last_line=problem.last_line,
            severity=problem.severity,
            explanation=problem.explanation,
            suggestion=problem.suggestion,
            state="dismissed" if is_dismissed else "open",
            is_new=same is None,
        )
        name = problem.name.encode("utf-8", "surrogateescape").decode("latin-1")
        merged.append(
            FindingRecord(
                finding=finding,
                name=name,
                anchor=[*problem.anchor],
                before=problem.before,
                after=problem.after,
            )
        )
    dismissed = [one for one in rest if one.finding.state == "dismissed"]
    return sort_findings(merged), dismissed[-_MAX_FORGOTTEN:]


def sort_findings(records: Iterable[FindingRecord]) -> list[FindingRecord]:
    """Sort by severity, then by file and line."""
    return sorted(
        records,
        key=lambda one: (
            SEVERITIES.index(one.finding.severity),
            one.finding.path,
            one.finding.first_line,
        ),
    )


def follow_lines(record: FindingRecord, lines: Sequence[str]) -> Finding:
    """Return a finding with the present numbers of its lines, or as outdated."""
    finding, anchor = record.finding, record.anchor
    if not anchor:
        return finding
    at = _find(record, lines)
    if at is None:
        return finding.model_copy(update={"is_outdated": True})
    moved = at + 1 - finding.first_line
    return finding.model_copy(
        update={
            "first_line": finding.first_line + moved,
            "last_line": finding.last_line + moved,
            "is_outdated": False,
        }
    )


def decode_name(record: FindingRecord) -> str:
    """Return the path of a finding's file, as `os` accepts it."""
    return record.name.encode("latin-1").decode("utf-8", "surrogateescape")


def follow_all(
    records: Iterable[FindingRecord], texts: Mapping[str, Sequence[str]]
) -> list[Finding]:
    """Return findings with the present numbers of their lines; `texts` by encoded names."""
    return [follow_lines(record, texts.get(record.name, ())) for record in records]


def _find(record: FindingRecord, lines: Sequence[str]) -> int | None:
    """Return where the lines of a finding are: at their place, or nearest to it."""
    anchor, expected = record.anchor, record.finding.first_line - 1
    count = len(anchor)
    if list(lines[expected : expected + count]) == anchor:
        return expected
    first = max(0, expected - _MAX_MOVED)
    last = min(len(lines) - count, expected + _MAX_MOVED)
    matches = (
        at
        for at in range(first, last + 1)
        if lines[at] == anchor[0]
        and list(lines[at : at + count]) == anchor
        and _has_neighbor(record, lines, at)
    )
    return min(matches, key=lambda at: abs(at - expected), default=None)


def _has_neighbor(record: FindingRecord, lines: Sequence[str], at: int) -> bool:
    """Whether a line beside a place is one that was beside the finding: the same text may be
    in several places.
    """
    end = at + len(record.anchor)
    above = next((line for line in reversed(lines[max(0, at - _NEAR) : at]) if line.strip()), "")
    below = next((line for line in lines[end : end + _NEAR] if line.strip()), "")
    known = [(record.before, above), (record.after, below)]
    return any(was == now for was, now in known if was) or not (record.before or record.after)


def _is_same(problem: FoundProblem, record: FindingRecord) -> bool:
    """Whether a new finding is one that the review before had: same lines, same subject."""
    finding = record.finding
    if problem.path != finding.path:
        return False
    shares_text = bool(set(problem.anchor) & set(record.anchor) - {""})
    near = problem.first_line <= finding.last_line and finding.first_line <= problem.last_line
    if not (shares_text or near):
        return False
    ours, theirs = (
        set(text.lower().split()) for text in (problem.explanation, finding.explanation)
    )
    return len(ours & theirs) >= _SAME_WORDS * len(ours | theirs)
