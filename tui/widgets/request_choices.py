"""The choices for a plan or a permission request, with a cursor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from textual.content import Content
from textual.style import Style

if TYPE_CHECKING:
    from model.domain.requests import Request

Choice = Literal["build", "fresh", "yolo", "edit", "allow", "allow_session", "deny"]

_CONFIRM_YOLO: Final = "enter confirms: the agent will run everything without asking"


@dataclass(frozen=True, slots=True)
class Row:
    """A choice: its key while the panel has focus, its name, and its effect."""

    key: str
    choice: Choice
    name: str
    effect: str = ""


_PLAN_ROWS: Final = (
    Row("b", "build", "Build", "carry it out, ask before most commands"),
    Row("y", "yolo", "Yolo", "carry it out without asking"),
    Row("e", "edit", "Edit the plan first"),
    Row("f", "fresh", "Build in a new session", "its agent knows only the plan"),
)


def make_choices(request: "Request") -> "ChoiceList":
    """The choices for a plan or a permission; the least permanent one comes first."""
    return ChoiceList(_PLAN_ROWS if request.kind == "plan" else _permission_rows(request))


def _permission_rows(request: "Request") -> Sequence[Row]:
    return (
        Row("a", "allow", "Allow once"),
        Row("s", "allow_session", "Allow for this session", request.session_scope),
        Row("d", "deny", "Deny"),
    )


class ChoiceList:
    """A list of choices. Yolo is accepted only after its warning: moving to it shows that."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._cursor = 0
        self.is_confirming = False
        """Whether the warning about yolo is shown, and waits for confirmation."""

    def move(self, step: int) -> bool:
        """Move the cursor; always true."""
        self._cursor = (self._cursor + step) % len(self._rows)
        self.is_confirming = self._rows[self._cursor].choice == "yolo"
        return True

    def pick(self, key: str) -> bool:
        """Move the cursor to the row with this key; whether it exists."""
        index = next((at for at, row in enumerate(self._rows) if row.key == key), None)
        if index is None:
            return False
        self.is_confirming &= index == self._cursor
        self._cursor = index
        return True

    def take(self) -> Choice | None:
        """Accept the choice under the cursor; `None` if it must be confirmed first."""
        choice = self._rows[self._cursor].choice
        if choice == "yolo" and not self.is_confirming:
            self.is_confirming = True
            return None
        return choice

    def rows(self, *, is_armed: bool, with_keys: bool) -> Iterator[Content]:
        """Render the rows, which can be clicked."""
        for at, row in enumerate(self._rows):
            is_current = at == self._cursor
            effect = _CONFIRM_YOLO if is_current and self.is_confirming else row.effect
            yield choice_row(
                *(row.key, row.name, effect),
                is_current=is_current,
                is_armed=is_armed,
                with_key=with_keys,
                is_warning=is_current and self.is_confirming,
            )


def choice_row(
    key: str,
    name: str,
    effect: str = "",
    *,
    is_current: bool,
    is_armed: bool,
    with_key: bool,
    is_warning: bool = False,
) -> Content:
    """Render a row: cursor, key (if keys are active), name and effect."""
    return Content.assemble(
        ("❯ " if is_current else "  ", "$accent" if is_armed else "$text-disabled"),
        (f" {key} " if with_key else "", "$on-accent on $accent"),
        " " if with_key else "",
        (name, "bold" if is_current else ""),
        (f"  {effect}" if effect else "", "bold $warning" if is_warning else "$text-muted"),
    ).stylize(Style.from_meta({"row": key}))
