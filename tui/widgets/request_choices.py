"""The choices that a plan or a permission leaves a person, with a cursor on one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from textual.content import Content
from textual.style import Style

if TYPE_CHECKING:
    from model.domain.resources import Request

Choice = Literal["build", "fresh", "yolo", "edit", "allow", "allow_session", "deny"]

_YOLO_AGAIN: Final = "again to confirm: the agent will run everything without asking"


@dataclass(frozen=True, slots=True)
class Row:
    """One choice: its letter while the panel has the focus, its name, and what it does."""

    key: str
    choice: Choice
    name: str
    effect: str = ""


_PLAN: Final = (
    Row("b", "build", "Build", "carry it out, ask before commands"),
    Row("y", "yolo", "Yolo", "carry it out, ask for nothing"),
    Row("e", "edit", "Edit the plan first"),
    Row("f", "fresh", "Build in a fresh session", "its agent knows the plan alone"),
)


def choices_of(request: "Request") -> "ChoiceList":
    """The choices for a plan or a permission; the one that does least for good comes first."""
    return ChoiceList(_PLAN if request.kind == "plan" else _permission(request))


def _permission(request: "Request") -> Sequence[Row]:
    return (
        Row("a", "allow", "Allow once"),
        Row("s", "allow_session", "Allow for this session", request.session_scope),
        Row("d", "deny", "Deny"),
    )


class ChoiceList:
    """A list to choose one row from. Yolo is taken only when it is confirmed."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._cursor = 0
        self.is_confirming = False
        """Whether yolo was taken once; only taking it again lets the agent do everything."""

    def move(self, step: int) -> bool:
        """Move the cursor; whether there is anything to move over."""
        self.is_confirming = False
        self._cursor = (self._cursor + step) % len(self._rows)
        return True

    def pick(self, key: str) -> bool:
        """Put the cursor on the row with this letter; whether there is one."""
        place = next((at for at, row in enumerate(self._rows) if row.key == key), None)
        if place is None:
            return False
        self.is_confirming &= place == self._cursor
        self._cursor = place
        return True

    def take(self) -> Choice | None:
        """The choice under the cursor; `None` where it has to be confirmed first."""
        choice = self._rows[self._cursor].choice
        if choice == "yolo" and not self.is_confirming:
            self.is_confirming = True
            return None
        return choice

    def rows(self, *, is_armed: bool, with_keys: bool) -> Iterator[Content]:
        """The rows as they are drawn; a click on one takes it."""
        for at, row in enumerate(self._rows):
            here = at == self._cursor
            effect = _YOLO_AGAIN if here and self.is_confirming else row.effect
            yield choice_row(
                *(row.key, row.name, effect),
                here=here,
                is_armed=is_armed,
                with_key=with_keys,
                is_warning=here and self.is_confirming,
            )


def choice_row(
    key: str,
    name: str,
    effect: str = "",
    *,
    here: bool,
    is_armed: bool,
    with_key: bool,
    is_warning: bool = False,
) -> Content:
    """A row with the cursor, its key where keys act, its name and what it does."""
    return Content.assemble(
        ("❯ " if here else "  ", "$accent" if is_armed else "$text-disabled"),
        (f" {key} " if with_key else "", "$on-accent on $accent"),
        " " if with_key else "",
        (name, "bold" if here else ""),
        (f"  {effect}" if effect else "", "bold $warning" if is_warning else "$text-muted"),
    ).stylize(Style.from_meta({"row": key}))
