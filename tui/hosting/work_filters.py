"""The dialog with what is listed of a kind of work: state, labels, assignee."""

from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from model.domain.hosting import ItemState
from tui.hosting.work_source import Tab, WorkFilters
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Pick
from tui.screens.pick_field import LABEL_WIDTH, PickField
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

_STATES: "Final[dict[ItemState, str]]" = {
    "open": "not done yet", "closed": "done, or given up", "all": "both",
}  # fmt: skip
_RUN_STATES: "Final[dict[ItemState, str]]" = {"open": "failed", "all": "all"}


class ChooseFilters(Dialog[WorkFilters]):
    """The fields that the list has; enter lists with them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+u", "clear", show=False, priority=True),
    ]

    def __init__(self, tab: Tab, present: WorkFilters) -> None:
        super().__init__(f"List: {tab.title.lower()}")
        self._tab = tab
        self._present = present
        if tab.id == "workflow_run":
            self._states = [Choice(value, label) for value, label in _RUN_STATES.items()]
        else:
            self._states = [Choice(value, value, what) for value, what in _STATES.items()]

    def body(self) -> list[Widget]:
        """The fields and the keys."""
        present = self._present
        state = next((s for s in self._states if s.value == present.state), self._states[0])
        fields: list[Widget] = [
            PickField("State", state, self._pick_state, steps=self._states, id="state")
        ]
        if self._tab.has_people:
            labels, who = ", ".join(present.labels), present.assignee
            fields += [
                _text_field("Labels", labels, "labels", "all of these, separated by commas"),
                _text_field("Assignee", who, "assignee", "a login, or @me"),
            ]
        keys = (("enter", "list"), ("tab", "field"), ("^u", "reset"), ("esc", "cancel"))
        return [*fields, Static(keys_line(*keys), classes="keys")]

    def on_mount(self) -> None:
        """Focus the state."""
        self.query_one("#state").focus()

    def _pick_state(self, present: str, typed: str) -> Pick:
        return Pick("State", self._states, present, typed=typed)

    def _text(self, field: str) -> str:
        return next((each.value.strip() for each in self.query(f"#{field}").results(Input)), "")

    @on(Input.Submitted)
    @on(PickField.Submitted)
    def _submitted(self, event: Input.Submitted | PickField.Submitted) -> None:
        event.stop()
        value = self.query_one("#state", PickField).choice.value
        state: ItemState = next((each for each in _STATES if each == value), "open")
        labels = tuple(filter(None, map(str.strip, self._text("labels").split(","))))
        if not self._tab.has_people:
            kept = self._present
            self.dismiss(WorkFilters(state, kept.labels, kept.assignee))
        else:
            self.dismiss(WorkFilters(state, labels, self._text("assignee")))

    def action_clear(self) -> None:
        """List what is open, without other conditions."""
        self.dismiss(WorkFilters())


def _text_field(label: str, value: str, id: str, placeholder: str) -> Horizontal:
    field = TextField(value, id=id, placeholder=placeholder, select_on_focus=False, compact=True)
    return Horizontal(Label(label.ljust(LABEL_WIDTH)), field, classes="field")
