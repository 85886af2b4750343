"""The form of a reviewing agent's answer: its description, and its check."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.domain.code_reviews import Severity
from model.reviewing.material import ReviewedFile

MAX_FINDINGS: Final = 100
"""Findings of one answer; more of them would not be read."""
_MAX_TEXT: Final = 4_000
"""Characters of an explanation or a suggestion."""
_MAX_SUMMARY: Final = 1_000
_MAX_ERRORS: Final = 8
"""Errors that are sent to the agent."""
_NEAR: Final = 6
"""Lines in which a line beside those of a finding is searched."""
_MAX_ANCHOR: Final = 40
"""Lines of a finding by which its place is found again."""

FORM: Final = f"""\
Between the tags write JSON and nothing else: an object with "summary" (one or two sentences about \
the whole) and "findings", an array that may be empty and has at most {MAX_FINDINGS} objects with \
exactly these fields:
- "path": the file, as it stands after === in the changes
- "first_line", "last_line": the lines that the finding is about, by the numbers in front of the \
lines; both are the same for one line
- "severity": "critical" (loses data, opens a hole, breaks the program), "major" (wrong in a case \
that will occur), "minor" (wrong in a rare case, or hard to maintain), or "note"
- "explanation": what is wrong and what follows from it, as plain text in one to four sentences
- "suggestion": the lines that should stand in place of these lines, or an empty text\
"""
"""The part of the prompt that describes the form of the answer."""


class InvalidReviewError(SpinneyError):
    """An answer is not in the required form; the message says why, for the agent."""


@dataclass(frozen=True, slots=True)
class FoundProblem:
    """A finding as the agent reported it."""

    path: str
    name: str
    """The path as `os` accepts it."""
    first_line: int
    last_line: int
    severity: Severity
    explanation: str
    suggestion: str
    anchor: tuple[str, ...]
    """The text of its lines."""
    before: str
    """The nearest line above them that is not blank; empty if it is not known. `after` likewise."""
    after: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer."""

    summary: str
    problems: list[FoundProblem]
    unknown_files: int
    """Findings that were left out, because they are about files that the agent did not read."""


_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Finding(BaseModel):
    path: _Text
    first_line: int = Field(ge=1)
    last_line: int = Field(ge=1)
    severity: Severity
    explanation: _Text
    suggestion: str | None = ""


class _Answer(BaseModel):
    summary: str = ""
    findings: list[_Finding] = Field(max_length=MAX_FINDINGS)


def parse_answer(text: str, files: Mapping[str, ReviewedFile], *, is_last: bool = False) -> Answer:
    """Check an answer, and return it.

    The `is_last` one may name unknown files, whose findings are left out. Raises
    `InvalidReviewError` with what is wrong, for the agent to correct.
    """
    try:
        given = _Answer.model_validate(json.loads(_strip_fence(text), strict=False))
    except ValidationError as error:
        raise InvalidReviewError(_describe(error)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidReviewError(f"it is not JSON ({clean_line(str(error))[:200]})") from None
    unknown = [one.path for one in given.findings if one.path not in files]
    if unknown and not is_last:
        named = ", ".join(repr(clean_line(path)[:200]) for path in unknown[:_MAX_ERRORS])
        raise InvalidReviewError(f"these paths are not among the files of the changes: {named}")
    return Answer(
        make_visible(given.summary).strip()[:_MAX_SUMMARY],
        [*_list_problems(given.findings, files)],
        len(unknown),
    )


def _list_problems(
    findings: list[_Finding], files: Mapping[str, ReviewedFile]
) -> Iterator[FoundProblem]:
    for one in findings:
        if (file := files.get(one.path)) is None:
            continue
        first, last = _fit_lines(one, file)
        yield FoundProblem(
            path=one.path,
            name=file.name,
            first_line=first,
            last_line=last,
            severity=one.severity,
            explanation=make_visible(one.explanation)[:_MAX_TEXT],
            suggestion=make_visible((one.suggestion or "").strip("\n"))[:_MAX_TEXT],
            anchor=tuple(_read(file, range(first, last + 1)))[:_MAX_ANCHOR],
            before=next(_read(file, range(first - 1, first - _NEAR, -1), blank=False), ""),
            after=next(_read(file, range(last + 1, last + _NEAR), blank=False), ""),
        )


def _read(file: ReviewedFile, numbers: range, *, blank: bool = True) -> Iterator[str]:
    """Yield the lines with these numbers that the agent has read."""
    lines = (file.lines[number] for number in numbers if number in file.lines)
    return (line for line in lines if blank or line.strip())


def _fit_lines(finding: _Finding, file: ReviewedFile) -> tuple[int, int]:
    """Return the lines of a finding as far as the agent has read them; at least one."""
    first, last = sorted((finding.first_line, finding.last_line))
    known = [at for at in file.lines if first <= at <= last]
    if known:
        return known[0], known[-1]
    nearest = min(file.lines, key=lambda at: abs(at - first), default=1)
    return nearest, nearest


def _strip_fence(text: str) -> str:
    """Return a text without the code block that it may stand in."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        return text.partition("\n")[2][:-3]
    return text


def _describe(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {clean_line(one['msg'])[:200]}"
        for one in error.errors(include_url=False, include_input=False)[:_MAX_ERRORS]
    ]
    return "; ".join(problems)
