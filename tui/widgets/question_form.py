"""The questions of one request: which one is asked, what was given to the others, and the keys."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

if TYPE_CHECKING:
    from model.resources import Question


@dataclass
class _Given:
    """What one question was answered with, or is about to be."""

    cursor: int = 0
    """The option that enter takes."""
    ticked: set[int] = field(default_factory=set)
    answer: str = ""


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

    def answer(self, text: str) -> None:
        """Answer what is asked, and go on to the next one."""
        self._given[self._position].answer = text
        self._position += 1

    def press(self, key: str) -> bool:
        """Take a key; whether it was one of the form's."""
        if (question := self.question) is None:
            return False
        count = len(question.options)
        match key:
            case "left" if self._position:
                self._position -= 1
            case "up" | "down" if count:
                step = -1 if key == "up" else 1
                self._now.cursor = (self._now.cursor + step) % count
            case " " if question.multi_select and count:
                self._now.ticked ^= {self._now.cursor}
            case "enter" if count:
                self._take(question)
            case _ if key.isascii() and key.isdigit() and 0 < int(key) <= count:
                self._now.cursor = int(key) - 1
                if question.multi_select:
                    self._now.ticked ^= {self._now.cursor}
                else:
                    self._take(question)
            case _:
                return False
        return True

    @property
    def _now(self) -> _Given:
        return self._given[self._position]

    def _take(self, question: "Question") -> None:
        if not question.multi_select:
            self.answer(question.options[self._now.cursor].label)
        elif self._now.ticked:
            ticked = sorted(self._now.ticked)
            self.answer(", ".join(question.options[number].label for number in ticked))
        else:
            # Nothing would be an answer that nobody meant; the next press takes this one.
            self._now.ticked = {self._now.cursor}

    # What is drawn ------------------------------------------------------------------------------

    def rows(self) -> list[Content]:
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
        return [head, *self._options(question)]

    def height_above_cursor(self, width: int) -> int:
        """Lines that stand over the option under the cursor, where they are `width` cells wide."""
        above = self.rows()[: 1 + self._now.cursor] if self.question is not None else []
        return sum(len(row.wrap(width)) for row in above)

    def _options(self, question: "Question") -> Iterator[Content]:
        for number, option in enumerate(question.options):
            here, key = number == self._now.cursor, str(number + 1)
            box = "[x] " if number in self._now.ticked else "[ ] "
            tick = box if question.multi_select else ""
            told = option.description if option.description != option.label else ""
            yield Content.assemble(
                ("❯ " if here else "  ", "$accent"),
                (f" {key} ", "$on-accent on $accent"),
                (f" {tick}{option.label}", "bold" if here else ""),
                (f"  {told}" if told else "", "$text-muted"),
            ).stylize(Style.from_meta({"key": key}))

    def offered_keys(self) -> list[tuple[str, str]]:
        """The keys that answer, as people know them, each with what it does."""
        if (question := self.question) is None:
            return []
        back = [("←", "the question before")] if self._position else []
        if not question.options:
            return back
        if question.multi_select:
            return [("↑ ↓", "move"), ("space", "tick"), ("enter", "done"), *back]
        return [("↑ ↓", "move"), ("enter", "choose"), *back]
