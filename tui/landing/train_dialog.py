"""The dialog with a train: how far each worktree is, why it stopped, and what can be done."""

from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.text import clean_line, make_visible
from model.domain.events.landing import TrainUpdated
from tui.draw.line_parts import fit, truncate_start
from tui.landing.train_words import (
    CAR_SIGNS,
    count_ready,
    describe_car,
    describe_train,
    find_stopper,
)
from tui.screens.dialog import Dialog
from tui.terminal import screen_reader
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.landing import Train, TrainCar
    from tui.desk import Desk
    from tui.store.mirror import Change

Chosen = tuple[str, int]
"""The key of what to do, and the index of the car under the cursor."""

_MAX_NAME: Final = 28
_MAX_PATH: Final = 64
_MAX_FILES: Final = 8
"""Files in conflict that are named."""


class TrainProgress(Dialog[Chosen]):
    """The cars of a train, followed while it runs; the keys close the dialog with what to do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"choose('{key}')", show=False) for key in ("l", "x", "r", "f", "delete")
    ]

    def __init__(self, desk: "Desk", train: "Train", at: int | None = None) -> None:
        super().__init__("Train")
        self._desk = desk
        self.train = train
        self._first = at
        """The car under the cursor at first; the one that stopped the train if not given."""

    def body(self) -> list[Widget]:
        """Where it is, the cars, what is known of one, and the keys."""
        return [
            Static(id="train-state", markup=False, classes="words"),
            OptionList(markup=False, compact=True),
            VerticalScroll(Static(id="train-car", markup=False), classes="page", can_focus=False),
            Static(id="train-keys", classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show the train and follow it."""
        self._desk.mirror.followers.append(self._follow)
        at = self._first
        if at is None:
            stopper = find_stopper(self.train)
            at = self.train.cars.index(stopper) if stopper is not None else 0
        self._fill(at)
        self.query_one(OptionList).focus()

    def on_unmount(self) -> None:
        """Stop following."""
        self._desk.mirror.followers.remove(self._follow)

    def _follow(self, change: "Change") -> None:
        if self not in self.app.screen_stack:
            return
        for event in change.events:
            if isinstance(event, TrainUpdated) and event.project_id == self.train.project_id:
                if event.train is None:
                    self.dismiss(None)
                    return
                was_running, self.train = self.train.status == "running", event.train
                stopper = find_stopper(self.train) if was_running else None
                self._fill(self._at if stopper is None else self.train.cars.index(stopper))

    @property
    def _at(self) -> int:
        return self.query_one(OptionList).highlighted or 0

    def _fill(self, at: int) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._draw(car)) for car in self.train.cars])
        options.highlighted = min(at, len(self.train.cars) - 1) if self.train.cars else None
        self._show()

    def _draw(self, car: "TrainCar") -> Content:
        sign, tone = CAR_SIGNS[car.status]
        if screen_reader.is_enabled():
            sign = ""
        return Content.assemble(
            (f"{sign} " if sign else "", tone),
            f"{fit(clean_line(car.branch), _MAX_NAME)}  ",
            (describe_car(car), "$text-muted" if tone == "$text-muted" else ""),
        )

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._show()

    def _show(self) -> None:
        state = Content.styled(describe_train(self.train), "bold")
        if self.train.error:
            state += Content.styled(f"\n{make_visible(self.train.error)}", "$error")
        self.query_one("#train-state", Static).update(state)
        self.query_one("#train-car", Static).update(self._about_car())
        self.query_one("#train-keys", Static).update(self._keys())

    def _about_car(self) -> Content:
        if not self.train.cars:
            return Content("")
        car = self.train.cars[min(self._at, len(self.train.cars) - 1)]
        if car.status == "conflict":
            shown = [
                f"  {truncate_start(clean_line(path), _MAX_PATH)}"
                for path in car.conflicts[:_MAX_FILES]
            ]
            more = len(car.conflicts) - len(shown)
            files = "\n".join([*shown, *([f"  and {more} more"] if more else [])])
            if car.siblings:
                return Content(f"\n{make_visible(car.error)}\n{files}")
            return Content(f"\nIn conflict with {clean_line(self.train.base)}:\n{files}")
        if car.error:
            return Content.styled(f"\n{make_visible(car.error)}", "$error")
        return Content("")

    def _offers(self) -> list[tuple[str, str]]:
        """The keys that do something now, with their labels, those of the car first."""
        train, car = self.train, self.train.cars[self._at] if self.train.cars else None
        keys: list[tuple[str, str]] = []
        if car is not None and car.check != "none":
            keys.append(("enter", "output of the check"))
        if train.status in ("ready", "stopped") and (ready := count_ready(train)):
            number = len(train.cars)
            keys.append(("l", "land it" if ready == number else f"land {ready} of {number}"))
        if car is not None and car.status in ("conflict", "failed") and not car.siblings:
            keys.append(("f", "send to its session"))
        if train.status == "running":
            keys.append(("x", "stop"))
        elif train.status != "landed":
            keys.append(("r", "run again"))
        return [*keys, ("del", "discard")]

    def _keys(self) -> Content:
        keys = [*self._offers(), ("esc", "close")]
        rows = [keys[:3], keys[3:]] if len(keys) > 4 else [keys]
        return Content("\n").join(keys_line(*row) for row in rows)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("enter")

    def action_choose(self, key: str) -> None:
        """Close with what to do, if the key is among those that are shown."""
        shown = "del" if key == "delete" else key
        if any(shown == known for known, _ in self._offers()):
            self.dismiss((key, self._at))
