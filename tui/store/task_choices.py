"""What was chosen for the last new task of a project."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TaskChoices:
    """Agent, model and mode; '' is the default."""

    backend: str = ""
    model: str = ""
    mode: Literal["plan", "build", "yolo"] = "plan"
