"""How an agent works: its permissions, and how long it thinks."""

from typing import Final, Literal, get_args

ExecutionMode = Literal["plan", "build", "yolo"]

WorkingMode = Literal["build", "yolo"]  # in which a plan is executed

ThinkingLevel = Literal["off", "think", "megathink", "ultrathink"]

Effort = Literal["low", "medium", "high", "xhigh", "max"]

EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)
