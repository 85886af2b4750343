"""What a train and its cars are called on the screen."""

from typing import TYPE_CHECKING, Final

from model.base.plural import count
from model.base.text import clean_line
from tui.draw.line_parts import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.domain.landing import Train, TrainCar

_MAX_NAME: Final = 30
CAR_SIGNS: "Final[Mapping[str, tuple[str, str]]]" = {
    "waiting": ("·", "$text-muted"),
    "merging": ("●", "bold"),
    "checking": ("●", "bold"),
    "ready": ("✓", "bold"),
    "conflict": ("✗", "bold"),
    "failed": ("✗", "bold"),
    "left_out": ("·", "$text-muted"),
}
_CAR_WORDS: "Final[Mapping[str, str]]" = {
    "merging": "is being merged",
    "checking": "is being checked",
    "left_out": "left out",
}


def count_ready(train: "Train") -> int:
    """How many worktrees can land together."""
    return sum(car.status == "ready" for car in train.cars)


def find_stopper(train: "Train") -> "TrainCar | None":
    """The car that stopped it."""
    return next((car for car in train.cars if car.status in ("conflict", "failed")), None)


def describe_train(train: "Train") -> str:
    """Where the train is, in a sentence."""
    cars, ready = len(train.cars), count_ready(train)
    name = f"Train of {cars}:"
    match train.status:
        case "running":
            for at, car in enumerate(train.cars, 1):
                if car.status in ("merging", "checking"):
                    doing = f"{_quote(car)} {_CAR_WORDS[car.status]}"
                    return f"{name} {doing} ({at} of {cars})."
            return f"{name} {ready} ready, it goes on."
        case "ready":
            left = cars - ready
            return f"{name} {ready} can land, {left} left out." if left else f"{name} all can land."
        case "stopped":
            stopper = find_stopper(train)
            why = f"by {_quote(stopper)}" if stopper is not None else "by you"
            return f"{name} stopped {why}; {ready} can land."
        case "landed":
            return f"{name} {count(ready, 'worktree')} landed."
        case "outdated":
            return f"{name} outdated, as branches have moved since."
        case _:
            return f"{name} failed."


def _quote(car: "TrainCar") -> str:
    return f"'{one_line(clean_line(car.branch), _MAX_NAME)}'"


def describe_car(car: "TrainCar") -> str:
    """Where a car of a train is."""
    match car.status:
        case "ready":
            return "ready, and the check passed" if car.check == "passed" else "ready"
        case "conflict":
            return f"in conflict in {count(len(car.conflicts), 'file')}"
        case "failed":
            return "the check failed" if car.check == "failed" else "failed"
        case _:
            return _CAR_WORDS.get(car.status, car.status)
