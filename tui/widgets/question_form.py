"""The questions of a request: the current one, and the answers given so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from textual.content import Content

from tui.widgets.request_choices import choice_row

if TYPE_CHECKING:
    from model.domain.requests import Question

DONE_KEY: Final = "done"
"""The key of the last row of a multiple-choice question, which sends the checked options."""

_PREVIEW_ROWS: Final = 12
_PREVIEW_COLUMNS: Final = 200
"""Limits of an option's preview; the conversation shows all of it."""


@dataclass
class _Answer:
    """The answer to a question, or its selection so far."""

    cursor: int = 0
    """The selected row."""
    ticked: set[int] = field(default_factory=set)
    answer: str = ""
    is_written: bool = False
    """Whether the answer was written by the user."""


class QuestionForm:
    """Asks one question after the other; nothing is sent before all are answered."""

    def __init__(self, questions: "Sequence[Question]") -> None:
        self._questions = questions
        self._answers = [_Answer() for _ in questions]
        self._position = 0

    @property
    def question(self) -> "Question | None":
        """The current question; `None` when all are answered."""
        return self._questions[self._position] if self._position < len(self._questions) else None

    @property
    def answers(self) -> dict[str, str]:
        """The answers by question, in the format of the request's answer."""
        answered = zip(self._questions, self._answers, strict=True)
        return {question.question: answer.answer for question, answer in answered}

    @property
    def written(self) -> list[str]:
        """The answers so far that were written by the user."""
        return [answer.answer for answer in self._answers if answer.is_written]

    def answer(self, text: str, *, is_written: bool = False) -> None:
        """Answer the current question, and continue with the next one."""
        self._current.answer, self._current.is_written = text, is_written
        self._position += 1

    def reopen(self) -> None:
        """Ask the last question again, because its answer was not accepted."""
        self._position = min(self._position, len(self._questions) - 1)
        for answer in self._answers:
            answer.is_written = False

    @property
    def has_rows(self) -> bool:
        """Whether the current question has options."""
        return self._row_count > 0

    @property
    def has_one_before(self) -> bool:
        """Whether there is a previous question."""
        return self._position > 0

    # The cursor ---------------------------------------------------------------------------------

    def move(self, step: int) -> bool:
        """Move the cursor; whether there are rows."""
        if not (rows := self._row_count):
            return False
        self._current.cursor = (self._current.cursor + step) % rows
        return True

    def pick(self, key: str) -> bool:
        """Move the cursor to the option with this number; whether it exists."""
        if (question := self.question) is None:
            return False
        if key == DONE_KEY and question.multi_select and question.options:
            self._current.cursor = len(question.options)
            return True
        if not (key.isascii() and key.isdigit() and 0 < int(key) <= len(question.options)):
            return False
        self._current.cursor = int(key) - 1
        return True

    def back(self) -> bool:
        """Go to the previous question; whether there is one."""
        self._position, before = max(0, self._position - 1), self._position
        return self._position != before

    def take(self) -> bool:
        """Accept the row under the cursor; whether there was one.

        For a multiple-choice question this toggles an option; the last row sends the checked ones.
        """
        question = self.question
        if question is None or not question.options:
            return False
        if not question.multi_select:
            self.answer(question.options[self._current.cursor].label)
        elif self._current.cursor < len(question.options):
            self._current.ticked ^= {self._current.cursor}
        elif self._current.ticked:
            ticked = sorted(self._current.ticked)
            self.answer(", ".join(question.options[number].label for number in ticked))
        return True

    @property
    def _current(self) -> _Answer:
        return self._answers[self._position]

    @property
    def _row_count(self) -> int:
        if (question := self.question) is None or not question.options:
            return 0
        return len(question.options) + question.multi_select

    # Rendering ----------------------------------------------------------------------------------

    def rows(self, *, is_armed: bool = True, with_keys: bool = False) -> list[Content]:
        """Render the current question and its options, which can be clicked."""
        if (question := self.question) is None:
            return [Content.styled("Answered.", "$text-muted")]
        several = len(self._questions) > 1
        counter = f"{self._position + 1} of {len(self._questions)}  " if several else ""
        head = Content.assemble(
            (counter, "$text-muted"),
            (f"{question.header}  " if question.header else "", "bold $accent"),
            (question.question, "bold"),
        )
        return [head, *self._options(question, is_armed=is_armed, with_keys=with_keys)]

    def height_above_cursor(self, width: int) -> int:
        """The number of lines above the option under the cursor, wrapped at `width` cells."""
        above = self.rows()[: 1 + self._current.cursor] if self.question is not None else []
        return sum(len(row.wrap(width)) for row in above)

    def _options(
        self, question: "Question", *, is_armed: bool, with_keys: bool
    ) -> Iterator[Content]:
        current = self._current
        for at, option in enumerate(question.options):
            box = "[x] " if at in current.ticked else "[ ] "
            yield choice_row(
                str(at + 1),
                f"{box if question.multi_select else ''}{option.label}",
                option.description if option.description != option.label else "",
                is_current=at == current.cursor,
                is_armed=is_armed,
                with_key=with_keys,
            )
            if at == current.cursor:
                yield from _preview(option.preview)
        if question.multi_select and question.options:
            count = len(current.ticked)
            yield choice_row(
                DONE_KEY,
                "Done",
                f"send the {count} selected" if count else "nothing is selected yet",
                is_current=current.cursor == len(question.options),
                is_armed=is_armed,
                with_key=False,
            )


def _preview(text: str) -> Iterator[Content]:
    """Render the preview of an option."""
    lines = text.rstrip().split("\n") if text.strip() else []
    for line in lines[:_PREVIEW_ROWS]:
        yield Content.styled(f"    │ {line[:_PREVIEW_COLUMNS]}", "$text-muted")
    if (more := len(lines) - _PREVIEW_ROWS) > 0:
        yield Content.styled(f"    │ … {more} more lines in the conversation", "$text-muted")
