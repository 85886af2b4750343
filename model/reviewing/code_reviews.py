"""Reviews of worktrees by an agent: they run in the background, and their findings are kept."""

import asyncio
import itertools
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, find_backup_path, write_atomically
from model.base.plural import count
from model.base.text import clean_line, make_visible
from model.domain.code_reviews import CodeReview, Finding
from model.domain.events.landing import ReviewUpdated
from model.domain.events.program import TaskCompleted
from model.domain.resource import Resource
from model.domain.worktrees import Worktree
from model.reviewing.answer import FORM, Answer, FoundProblem, InvalidReviewError, parse_answer
from model.reviewing.findings import (
    FindingRecord,
    decode_name,
    follow_all,
    merge_findings,
    sort_findings,
)
from model.reviewing.material import ReviewPart, collect_material, read_text
from model.store.store import Store
from model.worktrees import refuse_while_archived, require_project, require_worktree
from model.writing.writer import InvalidAnswerError, Writer

TIMEOUT: Final = 900.0
"""Seconds for one part of a review."""
_FILE: Final = "code-review.json"
_TAG: Final = "review"
_INTERRUPTED: Final = "Spinney exited while the review was running. Run it again."

_log = logging.getLogger(__name__)


class ReviewFile(Resource):
    """What is saved of the newest review of a worktree."""

    review: CodeReview
    """Without its findings."""
    findings: list[FindingRecord] = Field(default_factory=list)
    dismissed: list[FindingRecord] = Field(default_factory=list)
    """Dismissed findings of earlier reviews, which stay dismissed if they are found again."""
    before: CodeReview | None = None
    """What to return to when a running review is stopped."""


class CodeReviews:
    """Runs reviews, one for each worktree at a time. Belongs to the core's event loop.

    Args:
        store: The store to read worktrees from and publish changes in.
        folder: A folder for each worktree.
        writer: Asks the agent of the prompt `code_review`.
        label_of: Returns the name of the agent that reviews a worktree.
    """

    def __init__(
        self, store: Store, folder: Path, writer: Writer, label_of: Callable[[Worktree], str]
    ) -> None:
        self._store = store
        self._folder = folder
        self._writer = writer
        self._label_of = label_of
        self._running: dict[str, asyncio.Task[None]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        """Held while the file of a worktree changes."""

    async def close(self) -> None:
        """Stop all reviews; the next start reports them as failed."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def get(self, worktree_id: str) -> CodeReview:
        """Return the newest review with the present lines of its findings."""
        worktree = require_worktree(self._store.state, worktree_id)
        file = await self._load(worktree_id)
        names = {record.name: decode_name(record) for record in file.findings}
        root = Path(worktree.path)
        texts = {key: await read_text(root, name) for key, name in names.items()}
        findings = await asyncio.to_thread(follow_all, file.findings, texts)
        return file.review.model_copy(update={"findings": findings})

    async def start(self, worktree_id: str) -> CodeReview:
        """Begin a review. Raises `conflict` if one is running already."""
        worktree = require_worktree(self._store.state, worktree_id)
        refuse_while_archived(worktree)
        if not await self._writer.is_available("code_review", worktree):
            raise SpinneyError(
                f"{self._label_of(worktree)} is not installed or not signed in. Choose another "
                "agent for the prompt 'code_review' in the preferences.",
                "backend_unavailable",
            )
        async with self._lock(worktree_id):
            if worktree_id in self._running:
                raise SpinneyError("A review of this worktree is running already.", "conflict")
            file = await self._load(worktree_id)
            review = CodeReview(
                worktree_id=worktree_id,
                status="running",
                agent=self._label_of(worktree),
                started_at=time.time(),
            )
            before = file.review if file.review.status != "none" else None
            await self._save(file.model_copy(update={"review": review, "before": before}))
            self._running[worktree_id] = asyncio.create_task(self._run(worktree))
        return await self.get(worktree_id)

    async def stop(self, worktree_id: str) -> CodeReview:
        """Stop a running review; what was found before it stays."""
        require_worktree(self._store.state, worktree_id)
        async with self._lock(worktree_id):
            task = self._running.get(worktree_id)
            if task is None:
                raise SpinneyError("No review of this worktree is running.", "conflict")
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            file = await self._load(worktree_id)
            before = file.before or CodeReview(worktree_id=worktree_id, status="none")
            await self._write(file.model_copy(update={"review": before, "before": None}))
            del self._running[worktree_id]
            self._store.record(ReviewUpdated(worktree_id=worktree_id))
        return await self.get(worktree_id)

    async def update(
        self, worktree_id: str, finding_id: str, changes: Mapping[str, object]
    ) -> Finding:
        """Change fields of a finding. Raises `not_found`."""
        require_worktree(self._store.state, worktree_id)
        await self._change_findings(worktree_id, [finding_id], changes)
        return await self._require_finding(worktree_id, finding_id)

    async def find(self, worktree_id: str, finding_ids: Sequence[str]) -> list[Finding]:
        """Return findings in the given order. Raises `not_found` if one is missing."""
        review = await self.get(worktree_id)
        known = {finding.id: finding for finding in review.findings}
        if any(key not in known for key in finding_ids):
            raise SpinneyError("This finding is gone: the review ran again.", "not_found")
        return [known[key] for key in dict.fromkeys(finding_ids)]

    async def note_sent(self, worktree_id: str, finding_ids: Sequence[str]) -> None:
        """Note that a session got these findings."""
        await self._change_findings(worktree_id, finding_ids, {"state": "sent"})

    async def _require_finding(self, worktree_id: str, finding_id: str) -> Finding:
        (found,) = await self.find(worktree_id, [finding_id])
        return found

    async def _change_findings(
        self, worktree_id: str, finding_ids: Sequence[str], changes: Mapping[str, object]
    ) -> None:
        async with self._lock(worktree_id):
            file = await self._load(worktree_id)
            if not any(one.finding.id in finding_ids for one in file.findings):
                raise SpinneyError("This finding is gone: the review ran again.", "not_found")
            changed = [
                one.model_copy(update={"finding": one.finding.model_copy(update=changes)})
                if one.finding.id in finding_ids
                else one
                for one in file.findings
            ]
            await self._save(file.model_copy(update={"findings": sort_findings(changed)}))

    def _lock(self, worktree_id: str) -> asyncio.Lock:
        return self._locks.setdefault(worktree_id, asyncio.Lock())

    # A review ----------------------------------------------------------------------------------

    async def _run(self, worktree: Worktree) -> None:
        """Review the worktree, and save the result or why there is none."""
        started = time.perf_counter()
        try:
            summary, problems = await self._review(worktree)
        except SpinneyError as error:
            await self._finish(worktree.id, "", None, error.message)
        except Exception:
            _log.exception("a review failed")
            error_text = "The review failed. See Spinney's log for details."
            await self._finish(worktree.id, "", None, error_text)
        else:
            await self._finish(worktree.id, summary, problems, "")
        _log.debug("reviewed %s in %.1f s", worktree.id, time.perf_counter() - started)

    async def _review(self, worktree: Worktree) -> tuple[str, list[FoundProblem]]:
        """Return the summary and what was found in all parts of the changes."""
        project = require_project(self._store.state, worktree.project_id)
        base = worktree.base_branch or project.default_branch
        material = await collect_material(Path(worktree.path), base)
        answers = [await self._ask(worktree, part) for part in material.parts]
        unknown = sum(answer.unknown_files for answer in answers)
        sentences = [*(answer.summary for answer in answers), material.left_out]
        if unknown:
            sentences.append(f"Left out: {unknown} about files that have not changed.")
        return (
            " ".join(sentence for sentence in sentences if sentence),
            [problem for answer in answers for problem in answer.problems],
        )

    async def _ask(self, worktree: Worktree, part: ReviewPart) -> Answer:
        """Let the agent review a part, and once more if its answer is not valid."""
        material = {"changes": part.text, "form": FORM}
        reason = ""
        for is_last in (False, True):
            if is_last:
                material["mistake"] = (
                    f"Your last answer could not be used: {reason}. Answer again, in the form."
                )
            try:
                written = await self._writer.write(
                    "code_review", worktree, material, (_TAG,), TIMEOUT
                )
                return await asyncio.to_thread(
                    parse_answer, written[_TAG], part.files, is_last=is_last
                )
            except InvalidAnswerError:
                reason = f"the text between <{_TAG}> and </{_TAG}> is missing"
            except InvalidReviewError as error:
                reason = error.message
        raise SpinneyError(
            f"The agent's answer could not be used, also when it was asked again: {reason}. Run "
            "the review again, or choose another model for the prompt 'code_review'.",
            "backend_error",
        )

    async def _finish(
        self, worktree_id: str, summary: str, problems: list[FoundProblem] | None, error: str
    ) -> None:
        """Save the end of a review; a failed one keeps the findings of the one before."""
        async with self._lock(worktree_id):
            file = await self._load(worktree_id)
            review = file.review.model_copy(
                update={
                    "status": "failed" if error else "completed",
                    "summary": summary,
                    "error": make_visible(error),
                    "ended_at": time.time(),
                }
            )
            findings, dismissed = file.findings, file.dismissed
            if problems is not None:
                known = [*findings, *dismissed]
                findings, dismissed = merge_findings(problems, known, _make_ids())
            ended = ReviewFile(review=review, findings=findings, dismissed=dismissed)
            worktree = self._store.state.worktrees.get(worktree_id)
            try:
                if worktree is not None:
                    await self._write(ended)
            except SpinneyError as failure:
                _log.warning("the result of a review was not saved: %s", failure.message)
            # Not before it is saved: a review that is not running must have an end.
            self._running.pop(worktree_id, None)
        self._store.record(ReviewUpdated(worktree_id=worktree_id))
        if worktree is not None:
            detail = _describe_end(worktree, ended)
            self._store.record(
                TaskCompleted(task="review", ok=not error, detail=detail, worktree_id=worktree_id)
            )

    # The file ----------------------------------------------------------------------------------

    async def _load(self, worktree_id: str) -> ReviewFile:
        file = await asyncio.to_thread(_load, self._folder / worktree_id, worktree_id)
        if file.review.status == "running" and worktree_id not in self._running:
            failed = {"status": "failed", "error": _INTERRUPTED}
            return file.model_copy(update={"review": file.review.model_copy(update=failed)})
        return file

    async def _save(self, file: ReviewFile) -> None:
        await self._write(file)
        self._store.record(ReviewUpdated(worktree_id=file.review.worktree_id))

    async def _write(self, file: ReviewFile) -> None:
        await asyncio.to_thread(_write, self._folder / file.review.worktree_id, file)


def _load(folder: Path, worktree_id: str) -> ReviewFile:
    path = folder / _FILE
    none = ReviewFile(review=CodeReview(worktree_id=worktree_id, status="none"))
    try:
        return ReviewFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return none
    except (OSError, ValidationError) as error:
        _log.warning("The review in %s cannot be read: %s", path, type(error).__name__)
        try:
            path.rename(find_backup_path(path))
        except OSError:
            pass
        return none


def _write(folder: Path, file: ReviewFile) -> None:
    create_private_directory(folder.parent)
    create_private_directory(folder)
    write_atomically(folder / _FILE, file.model_dump_json().encode())


def _describe_end(worktree: Worktree, file: ReviewFile) -> str:
    """Return how a review ended, as a sentence for all clients."""
    name = clean_line(worktree.name)
    if file.review.error:
        return f"The review of '{name}' failed: {file.review.error}"
    number = sum(record.finding.state == "open" for record in file.findings)
    found = count(number, "finding") if number else "no findings"
    return f"The review of '{name}' ended with {found}."


def _make_ids() -> Iterator[str]:
    return (str(uuid.uuid4()) for _ in itertools.count())
