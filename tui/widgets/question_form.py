"""The questions of one request: which one is asked, and what was given to the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from textual.content import Content

from tui.widgets.request_choices import choice_row

if TYPE_CHECKING:
    from model.domain.resources import Question

DONE: Final = "done"
"""The key of the last row of several choices, which sends those that are ticked."""

_PREVIEW_ROWS: Final = 12
_PREVIEW_COLUMNS: Final = 200
"""What is shown of an option's preview; the conversation shows it whole."""


@dataclass
class _Given:
    """What one question was answered with, or is about to be."""

    cursor: int = 0
    """The row that enter takes."""
    ticked: set[int] = field(default_factory=set)
    answer: str = ""
    is_written: bool = False
    """Whether the answer is a person's own words."""


class QuestionForm:
    """Asks one question after the other; nothing is sent before the last one has its answer."""

    def __init__(self, questions: "Sequence[Question]") -> None:
        self._questions = questions
        self._given = [_Given() for _ in questions]
        self._position = 0

    @property
    def question(self) -> "Question | None":
        """The question that is asked; `None` when each has its answer."""
        return self._questions[self._position] if self._position < len(self._questions) else None

    @property
    def answers(self) -> dict[str, str]:
        """What was given, by question, as a request is answered."""
        given = zip(self._questions, self._given, strict=True)
        return {question.question: each.answer for question, each in given}

    @property
    def written(self) -> list[str]:
        """The answers so far that are a person's own words."""
        return [each.answer for each in self._given if each.is_written]

    def answer(self, text: str, *, is_written: bool = False) -> None:
        """Answer what is asked, and go on to the next one."""
        self._now.answer, self._now.is_written = text, is_written
        self._position += 1

    def reopen(self) -> None:
        """Ask the last question again: its answer did not arrive."""
        self._position = min(self._position, len(self._questions) - 1)
        for each in self._given:
            each.is_written = False

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to choose from."""
        return self._row_count > 0

    @property
    def has_one_before(self) -> bool:
        """Whether an earlier question can be answered again."""
        return self._position > 0

    # The cursor ---------------------------------------------------------------------------------

    def move(self, step: int) -> bool:
        """Move the cursor; whether there is anything to move over."""
        if not (rows := self._row_count):
            return False
        self._now.cursor = (self._now.cursor + step) % rows
        return True

    def pick(self, key: str) -> bool:
        """Put the cursor on the option with this number; whether there is one."""
        if (question := self.question) is None:
            return False
        if key == DONE and question.multi_select and question.options:
            self._now.cursor = len(question.options)
            return True
        if not (key.isascii() and key.isdigit() and 0 < int(key) <= len(question.options)):
            return False
        self._now.cursor = int(key) - 1
        return True

    def back(self) -> bool:
        """Go to the question before; whether there is one."""
        self._position, before = max(0, self._position - 1), self._position
        return self._position != before

    def take(self) -> bool:
        """Take the row under the cursor; whether there was any.

        Of several choices an option is ticked or not, and the last row sends what is ticked.
        """
        question = self.question
        if question is None or not question.options:
            return False
        if not question.multi_select:
            self.answer(question.options[self._now.cursor].label)
        elif self._now.cursor < len(question.options):
            self._now.ticked ^= {self._now.cursor}
        elif self._now.ticked:
            ticked = sorted(self._now.ticked)
            self.answer(", ".join(question.options[number].label for number in ticked))
        return True

    @property
    def _now(self) -> _Given:
        return self._given[self._position]

    @property
    def _row_count(self) -> int:
        if (question := self.question) is None or not question.options:
            return 0
        return len(question.options) + question.multi_select

    # What is drawn ------------------------------------------------------------------------------

    def rows(self, *, is_armed: bool = True, with_keys: bool = False) -> list[Content]:
        """The question that is asked and each of its options, which a click takes."""
        if (question := self.question) is None:
            return [Content.styled("Answered.", "$text-muted")]
        several = len(self._questions) > 1
        place = f"{self._position + 1} of {len(self._questions)}  " if several else ""
        head = Content.assemble(
            (place, "$text-muted"),
            (f"{question.header}  " if question.header else "", "bold $accent"),
            (question.question, "bold"),
        )
        return [head, *self._options(question, is_armed=is_armed, with_keys=with_keys)]

    def height_above_cursor(self, width: int) -> int:
        """Lines that stand over the option under the cursor, where they are `width` cells wide."""
        above = self.rows()[: 1 + self._now.cursor] if self.question is not None else []
        return sum(len(row.wrap(width)) for row in above)

    def _options(
        self, question: "Question", *, is_armed: bool, with_keys: bool
    ) -> Iterator[Content]:
        now = self._now
        for at, option in enumerate(question.options):
            box = "[x] " if at in now.ticked else "[ ] "
            yield choice_row(
                str(at + 1),
                f"{box if question.multi_select else ''}{option.label}",
                option.description if option.description != option.label else "",
                here=at == now.cursor,
                is_armed=is_armed,
                with_key=with_keys,
            )
            if at == now.cursor:
                yield from _preview(option.preview)
        if question.multi_select and question.options:
            count = len(now.ticked)
            yield choice_row(
                DONE,
                "Done",
                f"send the {count} ticked" if count else "nothing is ticked yet",
                here=now.cursor == len(question.options),
                is_armed=is_armed,
                with_key=False,
            )


def _preview(text: str) -> Iterator[Content]:
    """What an option would look like, below it."""
    lines = text.rstrip().split("\n") if text.strip() else []
    for line in lines[:_PREVIEW_ROWS]:
        yield Content.styled(f"    │ {line[:_PREVIEW_COLUMNS]}", "$text-muted")
    if (more := len(lines) - _PREVIEW_ROWS) > 0:
        yield Content.styled(f"    │ … {more} more lines in the conversation", "$text-muted")
